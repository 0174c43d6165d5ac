//===- Gguf.h - tensors of .gguf files ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tensor by name, from versions 2 and 3 (ggml's docs/gguf.md). The header is not
// trusted: every count, length, type and offset is checked against the file before a
// byte is used. Shapes are in C order, the reverse of the file's.
//
//   F32, F16, BF16, F64, I8, I32, I64  numbers
//   Q4_K                               u8 [..., 144 * blocks], the blocks as they are
//   MXFP4, NVFP4                       u8 [..., k / 2], two elements a byte, the first
//                                      one low; as "tensor:scales" u8 [..., k / 32]
//                                      (E8M0) or [..., k / 16] (UE4M3)
//
// Other types are refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_GGUF_H
#define BLOCKSCALE_SUPPORT_GGUF_H

#include "blockscale/Facts/GgufTypes.h"
#include "blockscale/Support/Array.h"

#include <functional>

namespace blockscale::rt {

struct GgufTensor {
  std::string_view name; // within the file's bytes
  const facts::GgufType *type = nullptr;
  std::vector<int64_t> shape; // C order, in elements
  std::string_view bytes;     // within the file's bytes
};

/// All tensors, in the file's order.
Result<std::vector<GgufTensor>> indexGguf(std::string_view bytes, std::string_view subject);

/// `member` is a tensor's name, or that of one of FP4 and ":scales".
Result<Array> parseGguf(std::string_view bytes, std::string_view subject, std::string_view member);
Result<Array> readGguf(const std::string &path, std::string_view member);

/// Calls `visit` with the bytes of a file, which stay mapped meanwhile.
Result<bool> visitGguf(const std::string &path, const std::function<void(std::string_view)> &visit);

/// A tensor to be written; `bytes` are those of its blocks.
struct GgufOutput {
  std::string name;
  std::string_view type; // as in kGgufTypes
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// A file of version 3 with these tensors and "general.architecture", which readers want.
std::string formatGguf(const std::vector<GgufOutput> &tensors, std::string_view architecture);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_GGUF_H
