//===- MlirCompile.h - from an MLIR file to host code and PTX -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_MLIRCOMPILE_H
#define BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_MLIRCOMPILE_H

#include "Report.h"

#include "blockscale/Facts/Arch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

namespace blockscale::run {

struct CompileOptions {
  std::string input, entry;
  facts::Arch arch;
  bool check = false;
  std::string pins; // fields of the schedule, see checkSchedulePins
};

/// A function ready to be called.
struct Program {
  std::vector<mlir::Type> argTypes, resultTypes; // as the input says
  std::vector<mlir::Type> argMemrefs;            // as compiled: memrefs and scalars
  std::vector<mlir::Type> resultMemrefs;
  std::map<std::string, std::string> ptx; // by name of the kernels module
  std::map<std::string, KernelPlan> plans;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

/// Makes a context with all that inputs may use.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Errors of the input are printed where they are found, one line each; then the
/// refusal that comes back is empty.
facts::Result<Program> compile(mlir::MLIRContext &context, const CompileOptions &options);

} // namespace blockscale::run

#endif // BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_MLIRCOMPILE_H
