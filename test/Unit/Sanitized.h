//===- Sanitized.h - how much of a long test sanitizers see -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked code is some 15 times as slow, and what it looks for is in every path, not in every
// value: tests that go through very many values take each eighth there. All are in the release
// build's run.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SANITIZED_H
#define BLOCKSCALE_TEST_UNIT_SANITIZED_H

namespace blockscale::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// A count of values or repetitions, or as many as sanitizers see of it.
constexpr int thinned(int count) { return kIsSanitized ? (count + 7) / 8 : count; }

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_SANITIZED_H
