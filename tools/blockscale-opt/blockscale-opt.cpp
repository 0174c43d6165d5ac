//===- blockscale-opt.cpp - drives passes and pipelines -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's driver, but for its input, which is looked at before it is parsed, and
// its output, which may not fit where it goes.
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "blockscale/Pipelines/Source.h"
#include "blockscale/Support/Output.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "blockscale-opt: error: " << message << "\n";
  return 1;
}

static int run(llvm::StringRef inputPath, llvm::StringRef outputPath, DialectRegistry &registry,
               const MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputPath, &error);
  if (!input)
    return fail(error);
  {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
      auto where = cast<FileLineColLoc>(diagnostic.getLocation());
      llvm::errs() << where.getFilename().getValue() << ':' << where.getLine() << ':'
                   << where.getColumn() << ": error: " << diagnostic << '\n';
    });
    if (failed(blockscale::checkNesting(*input, context)))
      return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputPath, &error);
  if (!output)
    return fail(error);
  LogicalResult result = MlirOptMain(output->os(), std::move(input), registry, config);
  if (outputPath != "-" && blockscale::rt::hasLostOutput(output->os()))
    return fail("output: '" + outputPath + "' must be writable, got a write error");
  if (failed(result))
    return 1;
  output->keep();
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  blockscale::rt::watchStandardOutput("blockscale-opt");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllPasses();
  blockscale::registerDialect(registry);
  blockscale::registerPasses();
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "blockscale modular optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) // upstream's to print
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return run(input, output, registry, config);
}
