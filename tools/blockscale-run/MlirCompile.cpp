//===- MlirCompile.cpp - from an MLIR file to host code and PTX -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels go down our own levels to PTX; what is left of the module is host code
// and goes down upstream's passes to the execution engine.
//
//===----------------------------------------------------------------------===//

#include "MlirCompile.h"

#include "HostHeap.h"

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Dialect/Blockscale/IR/WgmmaPlanning.h"
#include "blockscale/InitAll.h"
#include "blockscale/Pipelines/Source.h"
#include "blockscale/Target/PTX/TranslateKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace blockscale::run {

using facts::Refusal;

namespace {

/// What upstream does to host code, once ours is gone from it.
constexpr StringLiteral kHostPipeline =
    "convert-blockscale-host-to-llvm,convert-bufferization-to-memref,"
    "func.func(convert-linalg-to-loops,expand-strided-metadata,lower-affine),"
    "canonicalize,cse,convert-scf-to-cf,arith-expand{include-bf16=true},convert-math-to-llvm,"
    "convert-math-to-libm,finalize-memref-to-llvm{use-generic-functions},convert-arith-to-llvm,"
    "convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts";

std::string locationOf(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(),
                         file.getColumn());
  return "";
}

/// Prints the first error of a compilation as one line and keeps quiet about the
/// others, which follow from it.
class OneLineErrors {
public:
  explicit OneLineErrors(MLIRContext &context, StringRef file)
      : handler(&context, [this, file = file.str()](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!printed) {
            std::string text = diagnostic.str();
            std::string where = locationOf(diagnostic.getLocation());
            llvm::errs() << (where.empty() ? file : where)
                         << ": error: " << StringRef(text).split('\n').first << "\n";
          }
          printed = true;
          return success();
        }) {}

  /// What to pass on after a failure: nothing if a line was printed.
  Refusal refusal(const char *stage) const {
    return Refusal{printed ? "" : std::string("compile: ") + stage + " must succeed"};
  }

  bool hasPrinted() const { return printed; }

private:
  bool printed = false;
  ScopedDiagnosticHandler handler;
};

/// Reads plans off the kernels when they have just been made.
class PlanReader : public PassInstrumentation {
public:
  explicit PlanReader(std::map<std::string, KernelPlan> &plans) : plans(plans) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "blockscale-lower-gemm-to-kernel")
      op->walk([&](Operation *nested) {
        if (auto kernel = dyn_cast<KernelOp>(nested))
          plans[kernel.getSymName().str()] = read(kernel);
        else if (auto kernel = dyn_cast<WarpKernelOp>(nested))
          plans[kernel.getSymName().str()] = read(kernel);
        else if (auto kernel = dyn_cast<WgmmaKernelOp>(nested))
          plans[kernel.getSymName().str()] = read(kernel);
        else if (auto kernel = dyn_cast<QuantizeKernelOp>(nested))
          plans[kernel.getSymName().str()] = read(kernel);
      });
  }

private:
  static std::string shape(const Shape3 &s) {
    return llvm::formatv("{0}x{1}x{2}", extentText(s.m), s.n, s.k);
  }

  /// "mxfp8", of what blockscale.quantize makes.
  static std::string nameOf(BlockedAttr blocked) {
    return std::string(
        findQuantized(blocked.getElement(), blocked.getScale(), blocked.getBlock())->name);
  }

  static KernelPlan read(KernelOp kernel) {
    ProblemAttr problem = kernel.getProblem();
    ScheduleAttr schedule = kernel.getSchedule();
    KernelPlan plan;
    plan.format = describe(problem.getFormats());
    plan.problem = shape({problem.getM(), problem.getN(), problem.getK()});
    if (problem.isBatch())
      plan.problem = std::to_string(problem.getBatches()) + "x" + plan.problem;
    plan.instruction = std::string(name(schedule.getMma())) + " " + shape(schedule.getInst());
    plan.tile = shape(schedule.getTile());
    plan.epilogue = name(schedule.getEpilogue());
    if (BlockedAttr d = problem.getOutBlocked())
      plan.quantizer = nameOf(d) + " by " + std::string(name(schedule.getQuantizer().getValue()));
    plan.stages = schedule.getStages();
    plan.accumulators = schedule.getAccumulators();
    if (!problem.hasDynamicM()) // else not known here
      plan.flops = 2.0 * double(problem.getM()) * double(problem.getN()) * double(problem.getK());
    kernel.walk([&](TmemPlanOp op) { plan.tmemColumns = op.getPlan().getColumns(); });
    return plan;
  }

  static KernelPlan read(WarpKernelOp kernel) {
    BlockProblemAttr problem = kernel.getProblem();
    WarpScheduleAttr schedule = kernel.getSchedule();
    KernelPlan plan;
    plan.format = std::string(name(problem.getB())) + " x " + std::string(name(problem.getA()));
    plan.problem = shape({problem.getM(), problem.getN(), problem.getK()});
    plan.instruction = "mma.sync s8 16x8x32";
    plan.tile = shape(schedule.getTile());
    plan.epilogue = "plain_store";
    plan.kernel = name(schedule.getKernel());
    if (auto fallback = kernel->getAttrOfType<StringAttr>(kFallbackAttr))
      plan.fallback = fallback.str();
    plan.stages = schedule.getStages();
    plan.split = schedule.getSplit();
    plan.blocks = schedule.getBlocks();
    plan.flops = 2.0 * double(problem.getM()) * double(problem.getN()) * double(problem.getK());
    return plan;
  }

  static KernelPlan read(QuantizeKernelOp kernel) {
    QuantizeProblemAttr problem = kernel.getProblem();
    KernelPlan plan;
    std::optional<facts::BlockFormat> blocks = problem.getBlockFormat();
    plan.format = std::string(name(problem.getSource())) + " to " +
                  (problem.getBlocked() ? nameOf(problem.getBlocked())
                   : blocks             ? std::string(name(*blocks))
                                        : "amax");
    plan.problem = llvm::formatv("{0}x{1}", problem.getRows(), problem.getK());
    plan.kernel = name(kernel.getSchedule().getSequence());
    plan.blocks = kernel.getBlocks();
    plan.bytes = double(problem.getSourceBytes()) + double(problem.getTargetBytes()) +
                 double(problem.getScaleBytes());
    return plan;
  }

  static KernelPlan read(WgmmaKernelOp kernel) {
    BlockProblemAttr problem = kernel.getProblem();
    WgmmaScheduleAttr schedule = kernel.getSchedule();
    KernelPlan plan;
    plan.format = std::string(name(problem.getB())) + " x " + std::string(name(problem.getA()));
    plan.problem = shape({problem.getM(), problem.getN(), problem.getK()});
    plan.instruction = "wgmma f16 64x" + std::to_string(schedule.getTile().m) + "x16";
    plan.tile = shape(schedule.getTile());
    plan.epilogue = "plain_store";
    plan.kernel = kWgmmaKernelName;
    plan.stages = schedule.getTokenStages();
    plan.split = schedule.getSplit();
    plan.blocks = schedule.getBlocks();
    plan.flops = 2.0 * double(problem.getM()) * double(problem.getN()) * double(problem.getK());
    return plan;
  }

  std::map<std::string, KernelPlan> &plans;
};

/// What the user wrote, where a dump of a later level remembers it.
Type getLogicalType(Type type, Attribute remembered) {
  auto logical = dyn_cast_or_null<TypeAttr>(remembered);
  return logical ? logical.getValue() : type;
}

/// Erases the functions that the entry does not reach, so that other kernels of
/// the file are not compiled.
void keepOnly(ModuleOp module, func::FuncOp entry) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function != entry && !function.isExternal())
      function.setPrivate();
  entry.setPublic();
}

LogicalResult runPipeline(ModuleOp module, StringRef pipeline,
                          std::map<std::string, KernelPlan> *plans = nullptr) {
  PassManager passes(module.getContext());
  if (failed(parsePassPipeline(pipeline, passes, llvm::errs())))
    return failure();
  if (plans)
    passes.addInstrumentation(std::make_unique<PlanReader>(*plans));
  return passes.run(module);
}

/// Elementwise arithmetic on tensors is not what bufferization takes.
std::string kernelPipeline(const CompileOptions &options) {
  // Strict, since upstream's own lowering of scaling_extf rounds scales.
  return llvm::formatv("symbol-dce,blockscale-import-linalg{{strict=true},"
                       "convert-elementwise-to-linalg,"
                       "blockscale-gemm-to-ptx{{arch={0} checks={1} pins={2}}",
                       name(options.arch), options.check ? "true" : "false", options.pins);
}

/// Translates the modules of kernels and removes them from the host's.
LogicalResult takeKernels(ModuleOp module, const CompileOptions &options, Program &program) {
  for (auto kernels : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    FailureOr<std::string> ptx = translateKernelsToPTX(kernels, options.arch);
    if (failed(ptx))
      return failure();
    program.ptx[kernels.getName().value_or("kernels").str()] = std::move(*ptx);
    kernels.erase();
  }
  return success();
}

/// What host code calls must be ours, the C library's or its own; the engine
/// would print lines of its own about another.
LogicalResult verifyCallees(ModuleOp module) {
  llvm::StringSet<> ours;
  llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr); // this process's own symbols
  for (const auto &calls : {rt::getHostCalls(), getHeapCalls()})
    for (const auto &[name, address] : calls)
      ours.insert(name);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    StringRef name = function.getSymName();
    if (function.isExternal() && !ours.contains(name) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name.str()) &&
        !SymbolTable::symbolKnownUseEmpty(function, module))
      return function.emitError() << "compile: function that host code calls must be defined, got "
                                     "a declaration of @"
                                  << name;
  }
  return success();
}

facts::Result<std::unique_ptr<ExecutionEngine>> makeEngine(ModuleOp module) {
  auto describe = [](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    return Refusal{"compile: host code must compile, got " +
                   StringRef(text).split('\n').first.str()};
  };
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return describe(builder.takeError());
  auto machine = builder->createTargetMachine();
  if (!machine)
    return describe(machine.takeError());
  auto optimize = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  auto engine = ExecutionEngine::create(module, options, std::move(*machine));
  if (!engine)
    return describe(engine.takeError());
  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner interner) {
    llvm::orc::SymbolMap symbols;
    for (const auto &calls : {rt::getHostCalls(), getHeapCalls()})
      for (const auto &[name, address] : calls)
        symbols[interner(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                   llvm::JITSymbolFlags::Exported};
    return symbols;
  });
  return std::move(*engine);
}

} // namespace

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  blockscale::registerDialect(registry);
  registerPTXTranslations(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  static bool hasRegistered = false;
  if (!hasRegistered) {
    registerAllPasses();
    blockscale::registerPasses();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    hasRegistered = true;
  }
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

facts::Result<Program> compile(MLIRContext &context, const CompileOptions &options) {
  OneLineErrors errors(context, options.input);
  OwningOpRef<ModuleOp> module = parseSource(options.input, context);
  if (!module)
    return errors.refusal("reading the input");
  if (auto target = findTargetFor(*module, facts::name(options.arch)); !target)
    return target.takeRefusal();
  auto entry = module->lookupSymbol<func::FuncOp>(options.entry);
  if (!entry || entry.isExternal()) {
    std::string names;
    for (auto function : module->getOps<func::FuncOp>())
      if (!function.isExternal())
        names += (names.empty() ? "" : ", ") + function.getSymName().str();
    return Refusal{"run: --entry must be one of " + (names.empty() ? "none" : names) + ", got '" +
                   options.entry + "'"};
  }

  Program program;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes()))
    program.argTypes.push_back(getLogicalType(type, entry.getArgAttr(index, kLogicalTypeAttr)));
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    program.resultTypes.push_back(
        getLogicalType(type, entry.getResultAttr(index, kLogicalTypeAttr)));
  keepOnly(*module, entry);
  if (failed(runPipeline(*module, kernelPipeline(options), &program.plans)))
    return errors.refusal("lowering to PTX");
  if (failed(takeKernels(*module, options, program)))
    return errors.refusal("writing PTX");

  entry = module->lookupSymbol<func::FuncOp>(options.entry);
  llvm::append_range(program.argMemrefs, entry.getArgumentTypes());
  llvm::append_range(program.resultMemrefs, entry.getResultTypes());
  entry->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), UnitAttr::get(&context));
  if (failed(runPipeline(*module, kHostPipeline)) || failed(verifyCallees(*module)))
    return errors.refusal("lowering host code");
  facts::Result<std::unique_ptr<ExecutionEngine>> engine = makeEngine(*module);
  if (!engine)
    return errors.hasPrinted() ? errors.refusal("compiling host code") : engine.takeRefusal();
  program.engine = std::move(*engine);
  return program;
}

} // namespace blockscale::run
