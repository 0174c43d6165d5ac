//===- blockscale-translate.cpp - MLIR to PTX, cubin and manifest ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers only the dialects that a problem and its lowering use and links MLIR
// statically, so that a whole process takes tens of milliseconds.
//
//===----------------------------------------------------------------------===//

#include "Cubin.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Pipelines/Source.h"
#include "blockscale/Support/Output.h"
#include "blockscale/Target/PTX/BuildManifest.h"
#include "blockscale/Target/PTX/TranslateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <utility>

using namespace mlir;
using namespace blockscale;
namespace cl = llvm::cl;

static cl::OptionCategory category("blockscale-translate options");
static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<input .mlir, - for stdin>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string> outputPath("o", cl::desc("Output file (default: stdout)"),
                                       cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<bool> toPTX("mlir-to-ptx", cl::desc("Translate to PTX text"), cl::cat(category));
static cl::opt<bool> toCubin("mlir-to-cubin",
                             cl::desc("Translate to a cubin with ptxas (BLOCKSCALE_PTXAS, PATH or "
                                      "the build's virtual environment)"),
                             cl::cat(category));
static cl::opt<std::string> manifestPath("manifest", cl::desc("Also write the launch manifest"),
                                         cl::value_desc("file.json"), cl::cat(category));
static cl::opt<std::string> archName("arch", cl::desc("Target architecture, such as sm_107a"),
                                     cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string> pins("pin",
                                 cl::desc("Pinned fields of the schedule, such as ctas=2,stages=3"),
                                 cl::value_desc("fields"), cl::cat(category));
static cl::opt<bool> timePhases("time", cl::desc("Print CPU milliseconds of each phase to stderr"),
                                cl::cat(category));
static cl::opt<unsigned> repeat("repeat",
                                cl::desc("Compile the input this many times in one context"),
                                cl::init(1), cl::cat(category));

static cl::opt<bool> verifyEach("verify-each", cl::desc("Verify the IR after each pass"),
                                cl::init(true), cl::cat(category));

static double cpuMilliseconds() { return 1e3 * double(std::clock()) / CLOCKS_PER_SEC; }

namespace {
/// What one compilation gives.
struct Output {
  std::string ptx;
  std::optional<rt::Manifest> manifest;
};

struct Compiler {
  facts::Arch arch;
  TranslatePhases phases;
  double parseMs = 0, passesMs = 0;

  FailureOr<Output> compile(MLIRContext &context);

private:
  FailureOr<ModuleOp> findKernels(ModuleOp module);
};

/// Whether host code computes with whole tensors by scalar ops, which bufferization
/// does not take. Asked first, since the pass loads dialects that most inputs lack.
bool hasElementwiseTensors(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool found = OpTrait::hasElementwiseMappableTraits(op) &&
                     llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<Output> Compiler::compile(MLIRContext &context) {
  double start = cpuMilliseconds();
  OwningOpRef<ModuleOp> module = parseSource(inputPath, context);
  if (!module)
    return failure();
  double parsed = cpuMilliseconds();
  parseMs += parsed - start;
  PassManager passes(&context);
  passes.enableVerifier(verifyEach);
  bool hasElementwise = hasElementwiseTensors(*module);
  if (hasElementwise) {
    passes.addPass(createImportLinalg()); // while casts of operands are casts
    passes.addPass(createConvertElementwiseToLinalgPass());
  }
  buildGemmToPTXPipeline(passes,
                         {archName, /*checks=*/false, /*freeBuffers=*/false, pins, hasElementwise});
  if (failed(passes.run(*module)))
    return failure();
  passesMs += cpuMilliseconds() - parsed;
  FailureOr<ModuleOp> kernels = findKernels(*module);
  if (failed(kernels))
    return failure();
  Output output;
  FailureOr<std::string> ptx = translateKernelsToPTX(*kernels, arch, &phases);
  if (failed(ptx))
    return failure();
  output.ptx = std::move(*ptx);
  if (!manifestPath.empty()) {
    FailureOr<rt::Manifest> manifest = buildManifest(*module, arch);
    if (failed(manifest))
      return failure();
    output.manifest = std::move(*manifest);
  }
  return output;
}

/// The module of kernels for the wanted chip, nested or the input itself.
FailureOr<ModuleOp> Compiler::findKernels(ModuleOp module) {
  ModuleOp kernels;
  module.walk<WalkOrder::PreOrder>([&](ModuleOp nested) {
    if (!kernels && nested->hasAttr("blockscale.arch"))
      kernels = nested;
  });
  if (!kernels)
    return module.emitError("translate_c3: the input must hold a product or a kernel, got none"),
           failure();
  return kernels;
}
} // namespace

/// "file:line:column: error: message", for the first error: the others follow from
/// it. Notes and all errors are what blockscale-opt prints.
static LogicalResult printOneLine(Diagnostic &diagnostic) {
  static bool hasPrinted = false;
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error || std::exchange(hasPrinted, true))
    return success();
  if (auto where = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    llvm::errs() << where.getFilename().getValue() << ':' << where.getLine() << ':'
                 << where.getColumn() << ": ";
  std::string text = diagnostic.str();
  llvm::errs() << "error: " << StringRef(text).split('\n').first << '\n';
  return success();
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "blockscale-translate: " << message << "\n";
  return 1;
}

/// The first line of what the option parser says, without the tool's name.
static std::string describe(StringRef errors) {
  StringRef line = errors.ltrim('\n').split('\n').first;
  line.consume_front("blockscale-translate: ");
  return "'" + line.trim().str() + "'";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  rt::watchStandardOutput("blockscale-translate");
  cl::HideUnrelatedOptions(category);
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  if (!cl::ParseCommandLineOptions(argc, argv,
                                   "Lowers block-scaled products to PTX.\n\n  "
                                   "blockscale-translate --mlir-to-ptx --arch=sm_107a in.mlir -o "
                                   "k.ptx\n",
                                   &errorStream))
    return errors.empty()
               ? 1 // a value that is none: the parser has said so itself
               : fail("translate_c7: command line must follow --help, got " + describe(errors));
  if (toPTX == toCubin)
    return fail("translate_c5: say what to make, --mlir-to-ptx or --mlir-to-cubin");
  if (repeat < 1)
    return fail("translate_c7: --repeat must be at least 1, got 0");
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&manifestPath, &outputPath, &pins})
    if (option->getNumOccurrences() &&
        static_cast<const cl::opt<std::string> *>(option)->getValue().empty())
      return fail("translate_c7: -" + llvm::StringRef(option->ArgStr.size() > 1 ? "-" : "") +
                  option->ArgStr + " must have a value, got none");
  if (manifestPath.getValue() == outputPath.getValue())
    return fail("translate_c7: --manifest and -o must name two files, got '" +
                manifestPath.getValue() + "' twice");
  facts::Result<facts::Arch> arch = findAnyTarget(archName.getValue());
  if (!arch)
    return fail(arch.message());

  if (std::string refusal = checkSchedulePins(pins); !refusal.empty())
    return fail(refusal);

  DialectRegistry registry;
  registry.insert<func::FuncDialect, arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, linalg::LinalgDialect, math::MathDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, BlockscaleDialect>();
  registerPipelineInterfaces(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  registerPTXTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, printOneLine);

  // Looked at, not opened: it may be a pipe.
  const std::string &input = inputPath.getValue();
  if (input != "-" && (!llvm::sys::fs::exists(input) || llvm::sys::fs::is_directory(input)))
    return fail("translate_c8: input must be a readable file, got '" + input + "'");

  Compiler compiler{*arch, {}};
  FailureOr<Output> result;
  for (unsigned i = 0; i < repeat; ++i) {
    double start = cpuMilliseconds();
    result = compiler.compile(context);
    if (failed(result))
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

  if (result->manifest)
    if (auto written =
            rt::writeFile(manifestPath, rt::formatManifest(*result->manifest), "translate_c6");
        !written)
      return fail(written.message());
  std::string bytes = std::move(result->ptx);
  if (toCubin) {
    std::string ptxas = findPtxas(argv[0]);
    if (ptxas.empty())
      return fail("cubin_c3: ptxas must be found through BLOCKSCALE_PTXAS or PATH, got none");
    auto cubin = assemblePtx(ptxas, bytes, *arch);
    if (!cubin)
      return fail(cubin.message());
    bytes = std::move(*cubin);
  }
  if (outputPath == "-")
    llvm::outs() << bytes;
  else if (auto written = rt::writeFile(outputPath, bytes, "translate_c6"); !written)
    return fail(written.message());
  return 0;
}
