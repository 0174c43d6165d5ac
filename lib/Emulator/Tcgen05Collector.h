//===- Tcgen05Collector.h - operand buffers of the tensor core ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.10: `fill` keeps an operand in a collector buffer, `use` and
// `lastuse` may take it from there. Reuse is a permission, so an emulator that reads
// the operand again is right as long as both give the same: what would make a
// difference is reported (rule TM14). What ends a fill is not stated; assumed are
// any other fill, a discard, and an instruction of another warp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TCGEN05COLLECTOR_H
#define BLOCKSCALE_LIB_EMULATOR_TCGEN05COLLECTOR_H

#include "Tcgen05.h"

namespace blockscale::emu {

enum class CollectorUse : uint8_t { discard, fill, use, lastUse };

/// Rows of an operand as an instruction reads them: `payload` of every 16 bytes count.
struct CollectorRows {
  const uint8_t *bytes;
  unsigned rows, rowBytes, pitch, payload;
};

/// At issue: does the buffer hold this operand? Empty when it may be used so. `contents`
/// is what landCollector takes.
Fault issueCollector(Collector &collector, const char *name, CollectorUse use, const Warp &w,
                     uint64_t operand, uint32_t line, std::shared_ptr<CollectorContents> &contents);

/// When the instruction lands, with the rows of CTA `v` of the pair: keeps them, or
/// compares them with those of the fill. Empty when they are the same.
std::string landCollector(CollectorContents &contents, CollectorUse use, size_t v,
                          const CollectorRows &rows);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_TCGEN05COLLECTOR_H
