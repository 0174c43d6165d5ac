//===- WarpEmitter.h - instructions of mma.sync kernels, in few words -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level 4 of these kernels is arith on scalars, and NVVM and LLVM ops for what one
// instruction is; addresses are i32 (shared) and i64 (global).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_WARPEMITTER_H
#define BLOCKSCALE_LIB_CONVERSION_WARPEMITTER_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace blockscale {

class WarpEmitter {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  WarpEmitter(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}
  void setLoc(mlir::Location where) { loc = where; }
  mlir::Location getLoc() const { return loc; }

  mlir::Type i32Type() { return b.getI32Type(); }
  Value i32(int64_t value) { return mlir::arith::ConstantIntOp::create(b, loc, value, 32); }
  Value i64(int64_t value) { return mlir::arith::ConstantIntOp::create(b, loc, value, 64); }
  Value f32(float value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }

  // Integers of either width; a constant takes the width of the value.
  Value add(Value x, Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, same(x, y)) : x; }
  Value sub(Value x, Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::MulIOp::create(b, loc, x, same(x, y)).getResult();
  }
  Value divu(Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::DivUIOp::create(b, loc, x, same(x, y)).getResult();
  }
  Value narrow(Value x) { return mlir::arith::TruncIOp::create(b, loc, b.getI32Type(), x); }
  Value i1(bool value) { return mlir::arith::ConstantIntOp::create(b, loc, value, 1); }
  Value wide(Value x) { return mlir::arith::ExtUIOp::create(b, loc, b.getI64Type(), x); }
  /// 32 x 32 bits to 64.
  Value mulWide(Value x, int64_t y) { return mul(wide(x), y); }
  Value shl(Value x, int64_t y) { return mlir::arith::ShLIOp::create(b, loc, x, same(x, y)); }
  Value shr(Value x, int64_t y) { return mlir::arith::ShRUIOp::create(b, loc, x, same(x, y)); }
  Value ashr(Value x, int64_t y) { return mlir::arith::ShRSIOp::create(b, loc, x, same(x, y)); }
  Value andi(Value x, int64_t y) { return mlir::arith::AndIOp::create(b, loc, x, same(x, y)); }
  Value ori(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value xori(Value x, Value y) { return mlir::arith::XOrIOp::create(b, loc, x, y); }
  Value xori(Value x, int64_t y) { return y ? xori(x, same(x, y)) : x; }
  Value maxu(Value x, Value y) { return mlir::arith::MaxUIOp::create(b, loc, x, y); }
  Value minu(Value x, Value y) { return mlir::arith::MinUIOp::create(b, loc, x, y); }
  Value below(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult, x, y);
  }
  Value below(Value x, int64_t y) { return below(x, same(x, y)); }
  Value notZero(Value x) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne, x, same(x, 0));
  }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }

  // f32. Products and sums round by themselves unless they are written as an fma.
  Value mulf(Value x, Value y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value divf(Value x, Value y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value subf(Value x, Value y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value addf(Value x, Value y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value absf(Value x) { return mlir::LLVM::FAbsOp::create(b, loc, x); }
  /// NaN where one of the two is.
  Value maxf(Value x, Value y) { return mlir::arith::MaximumFOp::create(b, loc, x, y); }
  Value isZero(Value x) {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OEQ, x, f32(0));
  }
  Value negf(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value fma(Value x, Value y, Value z) { return FmaRnOp::create(b, loc, x, y, z); }
  Value asF32(Value x) { return mlir::arith::BitcastOp::create(b, loc, b.getF32Type(), x); }
  Value asI32(Value x) { return mlir::arith::BitcastOp::create(b, loc, b.getI32Type(), x); }
  Value signedToF32(Value x) { return mlir::arith::SIToFPOp::create(b, loc, b.getF32Type(), x); }
  Value unsignedToF32(Value x) { return mlir::arith::UIToFPOp::create(b, loc, b.getF32Type(), x); }
  /// The f16 in the low half of a word.
  Value halfToF32(Value word);

  /// The lesser number, whatever the other is.
  Value minNumber(Value x, Value y) { return mlir::arith::MinNumFOp::create(b, loc, x, y); }
  /// The lesser magnitude, positive where the signs are equal (min.xorsign.abs).
  Value minMagnitude(Value x, Value y);
  /// rcp.approx.ftz.
  Value reciprocal(Value x);

  // Narrow floats.
  /// cvt.rp.satfinite.ue8m0x2: the byte, and 0 above it.
  Value toUe8m0(Value x);
  /// The byte as f32, by bf16.
  Value fromUe8m0(Value byte);
  /// cvt.rn.satfinite of two to FP8, in the low half of a word; `low` in its low byte.
  Value toF8(facts::Format element, Value high, Value low);
  /// The same to FP8, FP6 or FP4: two bytes, or one byte of two FP4.
  Value toNarrow(facts::Format element, Value high, Value low);
  /// cvt.rn.satfinite.ue5m3x2: the byte, and 0 above it; and back.
  Value toUe5m3(Value x);
  Value fromUe5m3(Value byte);
  /// The byte of e4m3 as f32, by f16.
  Value fromE4m3(Value byte);
  /// Four values over the scale that a byte of ue8m0 is (cvt.scaled::n1), first in the low
  /// byte, or of FP4 in the low bits of 16.
  Value convertScaled(facts::Format element, mlir::ArrayRef<Value> values, Value byte);

  // Between the lanes of a warp, all of which must be there.
  /// The largest of all, unsigned.
  Value maxOfWarp(Value x);
  /// What lane ^ mask has.
  Value shuffleXor(Value x, int64_t mask);
  /// What lane `from` of the `width` lanes around this one has.
  Value shuffleFrom(Value x, int64_t from, int64_t width);

  // Bytes of words.
  /// prmt: each nibble of the selector is a byte of low (0..3) or of high (4..7).
  Value permute(Value low, Value high, int64_t selector);
  /// dp4a: sum of the four signed bytes, added to another.
  Value addBytes(Value bytes, Value sum);

  // Memory. Vectors are of 1, 2 or 4 words.
  Values loadShared(Value address, int64_t words);
  void storeShared(Value address, mlir::ArrayRef<Value> words);
  /// From that address in the CTA of a rank of the cluster.
  Values loadCluster(Value address, int64_t rank, int64_t words);
  /// What no kernel writes while this one runs (ld.global.nc).
  Values loadGlobal(Value address, int64_t words);
  void storeGlobal(Value address, mlir::ArrayRef<Value> words);
  /// The low 1 or 2 bytes of a word.
  void storeGlobalNarrow(Value address, Value word, int64_t bytes);
  /// Raises a word to the larger of the two, unsigned, among all of the device.
  void raiseGlobal(Value address, Value word);
  /// 16 bytes by cp.async.cg, 4 or 8 by cp.async.ca; complete after waitCopies.
  void copyAsync(Value shared, Value global, uint32_t bytes = 16);
  void commitCopies();
  /// Waits until at most `pending` groups of copies are under way; for none it commits first.
  void waitCopies(uint32_t pending = 0);
  /// cp.async.bulk into shared memory by one thread, counted by an mbarrier.
  void copyBulk(Value shared, Value global, int64_t bytes, Value barrier);
  /// Until the phase of that parity is over.
  void waitBarrier(Value barrier, Value parity);

  // Tensor core.
  /// 8x8 matrices of 16 bits, two or four.
  Values ldmatrix(Value address, int64_t matrices = 4);
  /// mma.sync.m16n8k32.s32.s8.s8.s32.
  Values mma(mlir::ArrayRef<Value> a, mlir::ArrayRef<Value> bWords, mlir::ArrayRef<Value> c);

  /// mma.sync.m16n8k16 of bf16 (4 and 2 words), or m16n8k8 (2 and 1), in f32.
  Values mmaBf16(mlir::ArrayRef<Value> a, mlir::ArrayRef<Value> bWords, mlir::ArrayRef<Value> c);

  /// All threads of the cluster that have not left meet; what they wrote is seen.
  void clusterBarrier();

  void ifThen(Value condition, llvm::function_ref<void()> body);

private:
  Value same(Value like, int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, loc, like.getType(), value);
  }
  Value pointer(Value address, unsigned space);
  Values unpack(Value vector, int64_t words);
  Value pack(mlir::ArrayRef<Value> words);
  /// Fields of a structure of i32.
  Values fields(Value structure, int64_t count);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_WARPEMITTER_H
