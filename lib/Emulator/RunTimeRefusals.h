//===- RunTimeRefusals.h - what operands ask for and is not executed ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A form says nothing of the words in its descriptors and tensor maps; what those ask
// for that is not executed is refused when it runs. The messages are here, so that the
// coverage page lists what the handlers say.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUNTIMEREFUSALS_H
#define BLOCKSCALE_LIB_EMULATOR_RUNTIMEREFUSALS_H

#include <string>
#include <string_view>

namespace blockscale::emu {

struct RunTimeRefusal {
  std::string_view instruction, asks; // and what its operand asks for
  std::string_view message;           // after the line; what follows in it depends on the operand
  std::string_view why;
  operator std::string() const { return std::string(message); }
};

namespace refusals {
inline constexpr RunTimeRefusal kSparse{"tcgen05.mma",
                                        "the sparse bit of the instruction descriptor",
                                        "mma_form: sparse operands are not executed",
                                        "how the metadata lies is published in figures only"};
inline constexpr RunTimeRefusal kLanes128{
    "tcgen05.mma", "the 128-lane layout of A's scales, in the instruction descriptor",
    "mma_form: the 128-lane scale layout is not executed", "it is published in figures only"};
inline constexpr RunTimeRefusal kUnequalCopies{
    "tcgen05.mma", "A of 64 rows for a CTA in tensor memory, whose two copies differ",
    "a_copies: A of 64 rows in tensor memory must be the same in lanes",
    "nothing says which copy a chip reads for which columns"};
inline constexpr RunTimeRefusal kInterleave{
    "tensormap.replace.tile.interleave_layout", "a layout other than 0",
    "interleave_layout must be 0 to be executed", "no matrix product reads interleaved maps"};
inline constexpr RunTimeRefusal kPaddedStore{"cp.async.bulk.tensor, cp.reduce.async.bulk.tensor",
                                             "a store or reduction through a map of u4_align16",
                                             "tma_store: u4_align16 must be loaded only",
                                             "the encode call's description has it for loads only"};
} // namespace refusals

/// In the order of the coverage page.
inline constexpr RunTimeRefusal kRunTimeRefusals[] = {
    refusals::kSparse, refusals::kLanes128, refusals::kUnequalCopies, refusals::kInterleave,
    refusals::kPaddedStore};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_RUNTIMEREFUSALS_H
