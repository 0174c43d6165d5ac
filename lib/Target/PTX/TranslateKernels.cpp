//===- TranslateKernels.cpp - LLVM dialect to PTX text --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM IR, its optimiser and the NVPTX backend run in process. Two things are
// done by hand on the way: inline assembly is not convergent in LLVM IR, so each
// call of it is marked; and the text gets the header and the comments that LLVM
// cannot write.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/TranslateKernels.h"
#include "LineDirectives.h"
#include "PTXText.h"
#include "blockscale/Facts/ArchInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"

#include <chrono>
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace blockscale {
namespace {

/// LLVM 22 knows no chip of the tcgen05 families after this one; PTX for later chips is
/// generated for it. The others it knows by their own names.
constexpr llvm::StringLiteral kGenerateAs = "sm_103a";
constexpr llvm::StringLiteral kGenerateFeatures = "+ptx90";
llvm::StringRef generateAs(facts::Arch arch) {
  return facts::info(arch).tmemColumns ? llvm::StringRef(kGenerateAs)
                                       : llvm::StringRef(facts::name(arch));
}

/// Options that LLVM 22 takes on a command line only. Shared addresses have 32
/// bits, so a pointer of 64 would only be truncated again; packed f32x2 moves
/// would stand between tcgen05.ld and its wait.
void setBackendOptions() {
  auto &options = llvm::cl::getRegisteredOptions();
  for (const char *name : {"nvptx-short-ptr", "nvptx-no-f32x2"})
    if (auto option = options.find(name); option != options.end())
      option->second->addOccurrence(/*pos=*/0, name, "true");
}

void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    setBackendOptions();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Without this, equal blocks of assembly in the arms of a branch are merged,
/// which moves warp-wide instructions out of their control flow.
void markInlineAsmConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *call = dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm())
          call->setConvergent();
}

/// The passes that pay on our kernels: common subexpressions, loop invariants and
/// empty blocks. Structure was decided at the kernel level; unrolling or jump
/// threading would only multiply barriers.
void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::legacy::PassManager passes;
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createLICMPass());
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createCFGSimplificationPass());
  passes.run(module);
}

class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// Named here, since upstream's message names an interface that is missing.
LogicalResult verifyLevel5(ModuleOp kernels) {
  WalkResult result = kernels.walk([](Operation *op) -> WalkResult {
    if (isa<ModuleOp>(op) ||
        isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    return op->emitError("translate_c1: ops of kernels must be of the llvm and nvvm dialects, got ")
           << op->getName();
  });
  return failure(result.wasInterrupted());
}

} // namespace

FailureOr<std::string> translateKernelsToPTX(ModuleOp kernels, facts::Arch arch,
                                             TranslatePhases *phases) {
  TranslatePhases local;
  TranslatePhases &spent = phases ? *phases : local;
  if (auto have = kernels->getAttrOfType<StringAttr>("blockscale.arch");
      have && have.getValue() != StringRef(facts::name(arch)))
    return kernels.emitError("translate_c4: kernels must be for the chip asked for, ")
               << StringRef(facts::name(arch)) << ", got " << have,
           failure();
  if (failed(verifyLevel5(kernels)))
    return failure();
  initializeNVPTX();

  Stopwatch watch;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return kernels.emitError("translate_c1: the kernels module must translate to LLVM IR"),
           failure();

  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return kernels.emitError("this LLVM must have the NVPTX target, got: ") << message, failure();
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, generateAs(arch), kGenerateFeatures, llvm::TargetOptions(), llvm::Reloc::PIC_,
      /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  markInlineAsmConvergent(*module);
  spent.toLLVMIR += watch.lap();

  optimize(*module, *machine);
  LineDirectives lines(*module);
  spent.optimize += watch.lap();

  llvm::SmallString<0> text;
  {
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager codegen;
    if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
      return kernels.emitError("this LLVM must write PTX text"), failure();
    codegen.run(*module);
  }
  spent.codegen += watch.lap();

  std::map<uint64_t, llvm::StringRef> notes;
  if (auto array = kernels->getAttrOfType<ArrayAttr>(kDescriptorNotesAttr))
    for (Attribute entry : array) {
      auto pair = cast<ArrayAttr>(entry);
      notes.try_emplace(cast<IntegerAttr>(pair[0]).getValue().getZExtValue(),
                        cast<StringAttr>(pair[1]).getValue());
    }
  std::string ptx = finishPTXText(text, arch, notes, lines);
  spent.text += watch.lap();
  return ptx;
}

void registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

} // namespace blockscale
