//===- InlinePtx.h - instructions that LLVM 22 cannot write ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place with inline PTX. Inline assembly is not convergent in LLVM IR;
// the PTX emitter marks every call so (lib/Target/PTX).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_INLINEPTX_H
#define BLOCKSCALE_LIB_CONVERSION_INLINEPTX_H

#include "blockscale/Facts/Format.h"
#include "blockscale/Facts/MmaKind.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace blockscale::inline_ptx {

/// tcgen05.alloc with .exclusive, of one CTA or of a pair: the plain form refuses more than
/// 512 columns.
void allocExclusive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value target, int columns,
                    bool pair);

/// tcgen05.dealloc with .exclusive; `address` is an i32 register.
void deallocExclusive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                      int columns, bool pair);

/// tcgen05.mma.block_scale with .collector::b, which LLVM 22 lacks. Operands are D, A and B's
/// descriptors, the instruction's, scales of A and B, and whether D is added to, as i32.
void mmaKeepingB(mlir::OpBuilder &builder, mlir::Location loc, facts::MmaKind kind, int block,
                 bool pair, llvm::StringRef use, mlir::ValueRange operands);

/// wgmma.mma_async.m64nNk16.f32.f16.f16 with A in registers, which NVVM's op lacks: adds
/// to `sums`, N / 2 of f32, and returns what they are called afterwards.
llvm::SmallVector<mlir::Value> wgmma(mlir::OpBuilder &builder, mlir::Location loc,
                                     mlir::ValueRange a, mlir::Value b, mlir::ValueRange sums);

/// Nothing: reads of the results stay behind what stands before it.
llvm::SmallVector<mlir::Value> settle(mlir::OpBuilder &builder, mlir::Location loc,
                                      mlir::ValueRange values);

/// cvt.rn.satfinite.ue5m3x2 of one f32, 0 above it; and a byte's value as bf16 in the low half.
mlir::Value toUe5m3(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
mlir::Value fromUe5m3(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value byte);

/// cvt.rn.satfinite.scaled::n1::ue8m0 of four f32, first in the low byte, or of FP4 in the low
/// bits of 16; `scale` is a byte in an i32.
mlir::Value convertScaled(mlir::OpBuilder &builder, mlir::Location loc, facts::Format element,
                          mlir::ValueRange values, mlir::Value scale);

/// ex2.approx.ftz.f32.
mlir::Value exp2(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

/// `.pragma`, which ptxas applies to the whole function.
void pragma(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef word);

} // namespace blockscale::inline_ptx

#endif // BLOCKSCALE_LIB_CONVERSION_INLINEPTX_H
