//===- InlinePtx.cpp - instructions that LLVM 22 cannot write -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static void emit(OpBuilder &builder, Location loc, const Twine &text, StringRef constraints,
                 ValueRange operands) {
  LLVM::InlineAsmOp::create(
      builder, loc, /*res=*/TypeRange{}, operands, text.str(), constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

void blockscale::inline_ptx::allocExclusive(OpBuilder &builder, Location loc, Value target,
                                            int columns, bool pair) {
  emit(builder, loc,
       "tcgen05.alloc.cta_group::" + Twine(pair ? 2 : 1) +
           ".exclusive.sync.aligned.shared::cta.b32 [$0], " + Twine(columns) + ";",
       "r,~{memory}", target);
}

void blockscale::inline_ptx::deallocExclusive(OpBuilder &builder, Location loc, Value address,
                                              int columns, bool pair) {
  emit(builder, loc,
       "tcgen05.dealloc.cta_group::" + Twine(pair ? 2 : 1) + ".exclusive.sync.aligned.b32 $0, " +
           Twine(columns) + ";",
       "r,~{memory}", address);
}

void blockscale::inline_ptx::pragma(OpBuilder &builder, Location loc, StringRef word) {
  emit(builder, loc, ".pragma \"" + Twine(word) + "\";", "", {});
}

void blockscale::inline_ptx::mmaKeepingB(OpBuilder &builder, Location loc, facts::MmaKind kind,
                                         int block, bool pair, StringRef use, ValueRange operands) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, $6, 0;\n\ttcgen05.mma.cta_group::"
     << (pair ? 2 : 1) << ".kind::" << StringRef(facts::name(kind)) << ".block_scale";
  if (kind == facts::MmaKind::mxf4nvf4) // the others have one block size
    os << ".block" << block;
  os << ".collector::a::discard.collector::b::" << use
     << " [$0], $1, $2, $3, [$4], [$5], adds;\n\t}";
  emit(builder, loc, text, "r,l,l,r,r,r,r,~{memory}", operands);
}

/// Values that the text reads and writes, one register each, then others that it reads.
static SmallVector<Value> emitTied(OpBuilder &builder, Location loc, const Twine &text,
                                   ValueRange tied, ValueRange others, StringRef otherConstraints) {
  if (tied.empty())
    return {};
  std::string constraints;
  llvm::raw_string_ostream os(constraints);
  for (size_t i = 0; i < tied.size(); ++i)
    os << (i ? ",=f" : "=f");
  for (size_t i = 0; i < tied.size(); ++i)
    os << ',' << i;
  os << otherConstraints << ",~{memory}";
  SmallVector<Value> operands(tied);
  llvm::append_range(operands, others);
  Type type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(ValueRange(tied).getTypes()));
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, type, operands, text.str(), constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> results;
  for (size_t i = 0; i < tied.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, op.getRes(), int64_t(i)));
  return results;
}

SmallVector<Value> blockscale::inline_ptx::wgmma(OpBuilder &builder, Location loc, ValueRange a,
                                                 Value b, ValueRange sums) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto list = [&os](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i)
      os << (i > first ? ", $" : "$") << i;
  };
  // Tied operands have numbers of their own.
  size_t count = sums.size(), first = 2 * count;
  os << "wgmma.mma_async.sync.aligned.m64n" << 2 * count << "k16.f32.f16.f16 {";
  list(0, count);
  os << "}, {";
  list(first, a.size());
  os << "}, $" << first + a.size() << ", 1, 1, 1, 0;";
  SmallVector<Value> others(a);
  others.push_back(b);
  return emitTied(builder, loc, text, sums, others, ",r,r,r,r,l");
}

SmallVector<Value> blockscale::inline_ptx::settle(OpBuilder &builder, Location loc,
                                                  ValueRange values) {
  return emitTied(builder, loc, "", values, {}, "");
}

static Value oneWord(OpBuilder &builder, Location loc, ValueRange operands, StringRef text,
                     StringRef constraints) {
  auto call = LLVM::InlineAsmOp::create(
      builder, loc, builder.getI32Type(), operands, text, constraints,
      /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return call.getResult(0);
}

Value blockscale::inline_ptx::exp2(OpBuilder &builder, Location loc, Value x) {
  auto call = LLVM::InlineAsmOp::create(
      builder, loc, builder.getF32Type(), x, "ex2.approx.ftz.f32 $0, $1;", "=f,f",
      /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return call.getResult(0);
}

Value blockscale::inline_ptx::toUe5m3(OpBuilder &builder, Location loc, Value value) {
  return oneWord(builder, loc, value,
                 "{ .reg .b16 p; cvt.rn.satfinite.ue5m3x2.f32 p, 0f00000000, $1; "
                 "cvt.u32.u16 $0, p; }",
                 "=r,f");
}

Value blockscale::inline_ptx::fromUe5m3(OpBuilder &builder, Location loc, Value byte) {
  return oneWord(builder, loc, byte,
                 "{ .reg .b16 p; cvt.u16.u32 p, $1; cvt.rn.bf16x2.ue5m3x2 $0, p; }", "=r,r");
}

Value blockscale::inline_ptx::convertScaled(OpBuilder &builder, Location loc, facts::Format element,
                                            ValueRange values, Value scale) {
  // Issued in pairs and packed into 32 bits by one mov: ptxas 13.5 stops at a lone one. The
  // first source is the high byte, or nibble.
  bool isFp4 = facts::info(element).bits == 4;
  std::string cvt =
      "cvt.rn.satfinite.scaled::n1::ue8m0." + std::string(facts::name(element)) + "x2.f32 ";
  std::string text = "{ .reg .b8 s; .reg ";
  text.append(isFp4 ? ".b8" : ".b16").append(" lo, hi; cvt.u8.u32 s, $5; ");
  text.append(cvt).append("lo, $2, $1, s; ").append(cvt).append("hi, $4, $3, s; ");
  text += isFp4 ? "{ .reg .b8 no; .reg .b32 zero; mov.b32 zero, 0; cvt.u8.u32 no, zero; "
                  "mov.b32 $0, {lo, hi, no, no}; } }"
                : "mov.b32 $0, {lo, hi}; }";
  SmallVector<Value> operands(values);
  operands.push_back(scale);
  return oneWord(builder, loc, operands, text, "=r,f,f,f,f,r");
}
