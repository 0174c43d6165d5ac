//===- blockscale-translate.cpp - MLIR to PTX, cubin and manifest ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers only the dialects that a problem and its lowering use and links MLIR
// statically, so that a whole process takes tens of milliseconds.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Target/PTX/TranslateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace mlir;
using namespace blockscale;
namespace cl = llvm::cl;

static cl::OptionCategory category("blockscale-translate options");
static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<input .mlir, - for stdin>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string> outputPath("o", cl::desc("Output file (default: stdout)"),
                                       cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<bool> toPTX("mlir-to-ptx", cl::desc("Translate to PTX text"), cl::cat(category));
static cl::opt<std::string> archName("arch", cl::desc("Target architecture, such as sm_107a"),
                                     cl::value_desc("name"), cl::cat(category));
static cl::opt<bool> timePhases("time", cl::desc("Print CPU milliseconds of each phase to stderr"),
                                cl::cat(category));
static cl::opt<unsigned> repeat("repeat",
                                cl::desc("Compile the input this many times in one context"),
                                cl::init(1), cl::cat(category));

static cl::opt<bool> verifyEach("verify-each", cl::desc("Verify the IR after each pass"),
                                cl::init(true), cl::cat(category));

static double cpuMilliseconds() { return 1e3 * double(std::clock()) / CLOCKS_PER_SEC; }

/// The nested module of lowered kernels, or the module itself.
static ModuleOp findKernels(ModuleOp module) {
  for (auto nested : module.getOps<ModuleOp>())
    return nested;
  return module;
}

namespace {
struct Compiler {
  facts::Arch arch;
  TranslatePhases phases;
  double parseMs = 0, passesMs = 0;

  FailureOr<std::string> compile(MLIRContext &context) {
    double start = cpuMilliseconds();
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputPath, &context);
    if (!module)
      return failure();
    double parsed = cpuMilliseconds();
    parseMs += parsed - start;
    PassManager passes(&context);
    passes.enableVerifier(verifyEach);
    buildKernelPipeline(passes);
    if (failed(passes.run(*module)))
      return failure();
    passesMs += cpuMilliseconds() - parsed;
    return translateKernelsToPTX(findKernels(*module), arch, &phases);
  }
};
} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "blockscale-translate: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Lowers block-scaled products to PTX.\n\n  blockscale-translate "
                              "--mlir-to-ptx --arch=sm_107a in.mlir -o k.ptx\n");
  if (!toPTX)
    return fail("say what to make: --mlir-to-ptx");
  std::optional<facts::Arch> arch = facts::parseArch(archName.getValue());
  if (!arch)
    return fail("arch_c1: --arch must be a known architecture, got '" + archName + "'");

  DialectRegistry registry;
  registry.insert<func::FuncDialect, arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, LLVM::LLVMDialect, NVVM::NVVMDialect, BlockscaleDialect>();
  registerPTXTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);

  Compiler compiler{*arch, {}};
  FailureOr<std::string> ptx;
  for (unsigned i = 0; i < repeat; ++i) {
    double start = cpuMilliseconds();
    ptx = compiler.compile(context);
    if (failed(ptx))
      return 1;
    if (repeat > 1)
      llvm::errs() << "compile " << i + 1
                   << " cpu_ms = " << llvm::format("%.2f", cpuMilliseconds() - start) << "\n";
  }
  if (timePhases) {
    const TranslatePhases &p = compiler.phases;
    llvm::errs() << llvm::format("process_ms = %.2f\nparse_ms = %.2f\npasses_ms = %.2f\n"
                                 "llvmir_ms = %.2f\noptimize_ms = %.2f\ncodegen_ms = %.2f\n",
                                 cpuMilliseconds(), compiler.parseMs, compiler.passesMs,
                                 1e3 * p.toLLVMIR, 1e3 * p.optimize, 1e3 * (p.codegen + p.text));
  }

  std::string error;
  auto output = openOutputFile(outputPath, &error);
  if (!output)
    return fail(error);
  output->os() << *ptx;
  output->keep();
  return 0;
}
