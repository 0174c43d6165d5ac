//===- FunctionPattern.h - conversions of machine ops that are one function each ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the files that convert ops of level 4; only they include it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_FUNCTIONPATTERN_H
#define BLOCKSCALE_LIB_CONVERSION_FUNCTIONPATTERN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace blockscale::convert {

// Address spaces of NVPTX.
enum AddressSpace : unsigned { kGlobal = 1, kShared = 3, kTensor = 6, kSharedCluster = 7 };

/// A pattern made of one function.
template <typename OpT> class FunctionPattern : public mlir::ConvertOpToLLVMPattern<OpT> {
public:
  using Adaptor = typename OpT::Adaptor;
  using Function = mlir::LogicalResult (*)(OpT, Adaptor, mlir::ConversionPatternRewriter &);
  FunctionPattern(mlir::LLVMTypeConverter &converter, Function function)
      : mlir::ConvertOpToLLVMPattern<OpT>(converter), function(function) {}
  mlir::LogicalResult matchAndRewrite(OpT op, Adaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const override {
    return function(op, adaptor, rewriter);
  }

private:
  Function function;
};

using Rewriter = mlir::ConversionPatternRewriter;

inline mlir::Value constant(mlir::OpBuilder &b, mlir::Location loc, int64_t value,
                            unsigned width = 32) {
  return mlir::LLVM::ConstantOp::create(b, loc, b.getIntegerType(width),
                                        b.getIntegerAttr(b.getIntegerType(width), value));
}
inline mlir::Value pointer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                           AddressSpace space) {
  return mlir::LLVM::IntToPtrOp::create(
      b, loc, mlir::LLVM::LLVMPointerType::get(b.getContext(), space), address);
}
inline mlir::Value element(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer,
                           mlir::Value offset) {
  return mlir::LLVM::GEPOp::create(b, loc, buffer.getType(), b.getI8Type(), buffer,
                                   mlir::ArrayRef<mlir::LLVM::GEPArg>{offset});
}
inline facts::Arch archOf(mlir::Operation *op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getArch();
  auto name =
      op->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::StringAttr>("blockscale.arch");
  return *facts::parseArch(std::string_view(name.getValue()));
}

template <typename To, typename From>
mlir::LogicalResult replaceBare(From op, typename From::Adaptor, Rewriter &b) {
  To::create(b, op.getLoc());
  b.eraseOp(op);
  return mlir::success();
}
template <typename To, typename From>
mlir::LogicalResult replaceRegister(From op, typename From::Adaptor, Rewriter &b) {
  b.replaceOp(op, To::create(b, op.getLoc(), b.getI32Type()).getResult());
  return mlir::success();
}

template <typename... Ops>
void addFunctions(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns) {
  (patterns.add(std::make_unique<FunctionPattern<Ops>>(
       converter,
       [](Ops op, typename Ops::Adaptor adaptor, Rewriter &b) { return lower(op, adaptor, b); })),
   ...);
}
template <typename Op>
void addFunction(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
                 typename FunctionPattern<Op>::Function function) {
  patterns.add(std::make_unique<FunctionPattern<Op>>(converter, function));
}

} // namespace blockscale::convert

#endif // BLOCKSCALE_LIB_CONVERSION_FUNCTIONPATTERN_H
