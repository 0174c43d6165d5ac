//===- ScheduleRules.h - targets and what a schedule may say --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCHEDULERULES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCHEDULERULES_H

#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/Result.h"

namespace blockscale {

/// The target of that name, if it has block-scaled tcgen05.mma; else a refusal
/// that names the suffix that is missing, or the feature and the chips with it.
facts::Result<facts::Arch> findTarget(llvm::StringRef chip);

/// The target of that name for what `root` holds: products of blocks run on other chips
/// than scaled ones, and a module of both on chips of both.
facts::Result<facts::Arch> findTargetFor(mlir::Operation *root, llvm::StringRef chip);
/// Whether any product runs on a chip of that name: what can be asked before the input
/// is read. Else the refusal of findTarget.
facts::Result<facts::Arch> findAnyTarget(llvm::StringRef chip);

/// schedule_c1 .. schedule_c17 of a problem that is computed with this schedule.
mlir::LogicalResult verifySchedule(ProblemAttr problem, ScheduleAttr schedule, ErrorFn emitError);

/// Whether the bytes behind the rows of a pitched operand are zero.
struct ZeroTails {
  bool a = true, b = true;
};
ZeroTails zeroTailsOf(GemmOp gemm);

/// gemm_c13: whether TMA can fetch A and B as the instruction reads them.
mlir::LogicalResult verifyFetchable(ProblemAttr problem, ScheduleAttr schedule, ErrorFn emitError,
                                    ZeroTails tails = {});

/// The pitches of A and B, in bytes, with which TMA could fetch them; 0 where it can.
std::array<int64_t, 2> pitchesWanted(ProblemAttr problem, ScheduleAttr schedule,
                                     ZeroTails tails = {});

/// gemm_c14: the MMA reads tiled scales only.
mlir::LogicalResult verifyTiledScales(ProblemAttr problem, llvm::StringRef advice,
                                      ErrorFn emitError);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCHEDULERULES_H
