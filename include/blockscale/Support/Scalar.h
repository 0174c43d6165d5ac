//===- Scalar.h - numbers that a kernel takes by value --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number in a manifest or on a command line: decimal, or its bits as 0x… for what
// decimals cannot say (NaN, infinities).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SCALAR_H
#define BLOCKSCALE_SUPPORT_SCALAR_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::rt {

enum class ScalarType : uint8_t { f32, f64, i32, u32, i64, u64 };
inline constexpr std::array<std::string_view, 6> kScalarTypeNames{"f32", "f64", "i32",
                                                                  "u32", "i64", "u64"};
inline constexpr std::array<unsigned, 6> kScalarTypeBytes{4, 8, 4, 4, 8, 8};

constexpr std::string_view name(ScalarType type) { return kScalarTypeNames[size_t(type)]; }

/// The bits of a scalar of type f32.
uint64_t scalarBits(float value);

/// The bits of the number that `text` says, low bytes first; nothing if it says none
/// that the type holds.
std::optional<uint64_t> parseScalar(std::string_view text, ScalarType type);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_SCALAR_H
