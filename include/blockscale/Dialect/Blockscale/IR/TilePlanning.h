//===- TilePlanning.h - which tile a large product gets ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TILEPLANNING_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TILEPLANNING_H

#include "blockscale/Dialect/Blockscale/IR/Planning.h"

namespace blockscale {

/// Cycles of a whole product on the chip's default product, modelled: of each K tile the longer
/// of its products (`facts::mmaCycles`) with the copies of its scales, and of its bytes from L2
/// when all SMs read; of each tile that or the reading of the accumulator, one behind the
/// other where there is room for one only; and as many tiles one behind the other as SMs leave.
/// Store bandwidth, latencies and DRAM are not in it. `m` is known.
double modelledCycles(ProblemAttr problem, facts::Arch arch, const TileChoice &choice);

/// 128 x 128 by one CTA with the longest of `instKs` where the rows are ? or such tiles leave no
/// SM two of them; else what takes the fewest modelled cycles, the first of those that take as
/// many: one CTA or a pair, each of the columns that a tile may have, two products that share B
/// where the chip has it, and each of `instKs`.
TileChoice chooseTile(ProblemAttr problem, facts::Arch arch, facts::MmaKind mma,
                      llvm::ArrayRef<int64_t> instKs);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TILEPLANNING_H
