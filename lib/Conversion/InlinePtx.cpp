//===- InlinePtx.cpp - instructions that LLVM 22 cannot write -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"

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
                                            int columns) {
  emit(builder, loc,
       "tcgen05.alloc.cta_group::1.exclusive.sync.aligned.shared::cta.b32 [$0], " + Twine(columns) +
           ";",
       "r,~{memory}", target);
}

void blockscale::inline_ptx::deallocExclusive(OpBuilder &builder, Location loc, Value address,
                                              int columns) {
  emit(builder, loc,
       "tcgen05.dealloc.cta_group::1.exclusive.sync.aligned.b32 $0, " + Twine(columns) + ";",
       "r,~{memory}", address);
}
