//===- TranslateKernels.h - kernels in LLVM dialect to PTX text -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_TRANSLATEKERNELS_H
#define BLOCKSCALE_TARGET_PTX_TRANSLATEKERNELS_H

#include "blockscale/Facts/Arch.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir {
class DialectRegistry;
}

namespace blockscale {

/// Attribute of a kernels module: an array of `[value : i64, "decoded form"]`.
/// Wherever such a value stands as an operand in the PTX, the decoded form
/// follows as a comment.
inline constexpr llvm::StringLiteral kDescriptorNotesAttr = "blockscale.descriptor_notes";

/// Time spent by phase, in seconds of this thread.
struct TranslatePhases {
  double toLLVMIR = 0, optimize = 0, codegen = 0, text = 0;
};

/// Translates a module of `llvm.func`s with `nvvm.kernel` to PTX text for
/// `arch`, optimised and deterministic. LLVM 22 stops at PTX 9.0 and sm_103a, so
/// later chips are generated as sm_103a and the header is written anew. Emits an
/// error on the module and fails for an architecture without tcgen05.
mlir::FailureOr<std::string> translateKernelsToPTX(mlir::ModuleOp kernels, facts::Arch arch,
                                                   TranslatePhases *phases = nullptr);

/// Registers the dialect translations that `translateKernelsToPTX` needs.
void registerPTXTranslations(mlir::DialectRegistry &registry);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_TRANSLATEKERNELS_H
