//===- SourceLocations.cpp - which op an instruction comes from -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that replaces an op by many names the location of the many after the op;
// the name that the highest level gave stays. At level 5 names become debug info:
// an op is a function inlined into its kernel, which is what profilers and the
// emulator show. Only directives (.loc) come of it, no debugger's tables.
//
//===----------------------------------------------------------------------===//

#include "SourceLocations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;

/// Names of our ops begin so.
static constexpr StringLiteral kPrefix = "blockscale.";

namespace {

/// The debug info of one kernel.
class KernelScope {
public:
  KernelScope(LLVM::LLVMFuncOp func, FileLineColLoc where) : where(where) {
    MLIRContext *context = func.getContext();
    unit = LLVM::DICompileUnitAttr::get(
        DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C, fileOf(where),
        StringAttr::get(context, "blockscale"), /*isOptimized=*/true,
        LLVM::DIEmissionKind::DebugDirectivesOnly);
    kernel = subprogram(func.getNameAttr(), where);
  }

  Location kernelLocation() const { return FusedLoc::get(where.getContext(), {where}, kernel); }

  /// A function named after the op, at the op's place, inlined into the kernel.
  Location inlined(StringAttr name, FileLineColLoc place) {
    LLVM::DISubprogramAttr &scope = scopes[{name, fileOf(place)}];
    if (!scope)
      scope = subprogram(name, place);
    Location callee = FusedLoc::get(place.getContext(), {place}, scope);
    return CallSiteLoc::get(callee, where);
  }

private:
  static LLVM::DIFileAttr fileOf(FileLineColLoc place) {
    // The whole name as it was given: where the compiler was started is nobody's matter.
    return LLVM::DIFileAttr::get(place.getContext(), place.getFilename().getValue(), "");
  }
  LLVM::DISubprogramAttr subprogram(StringAttr name, FileLineColLoc place) {
    MLIRContext *context = place.getContext();
    return LLVM::DISubprogramAttr::get(
        context, DistinctAttr::create(UnitAttr::get(context)), unit, fileOf(place), name,
        /*linkageName=*/StringAttr(), fileOf(place), place.getLine(), /*scopeLine=*/0,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
        LLVM::DISubroutineTypeAttr::get(context, {}), {}, {});
  }

  FileLineColLoc where;
  LLVM::DICompileUnitAttr unit;
  LLVM::DISubprogramAttr kernel;
  DenseMap<std::pair<StringAttr, LLVM::DIFileAttr>, LLVM::DISubprogramAttr> scopes;
};

} // namespace

void blockscale::nameLocations(Operation *root) {
  root->walk([](Operation *op) {
    // A frontend may have named locations for its own ends.
    auto named = dyn_cast<NameLoc>(op->getLoc());
    StringAttr name = op->getName().getIdentifier();
    if (!named || (named.getName() != name && !named.getName().getValue().starts_with(kPrefix)))
      op->setLoc(NameLoc::get(name, op->getLoc()));
  });
}

void blockscale::attachSourceLocations(ModuleOp module) {
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    auto where = func.getLoc()->findInstanceOf<FileLineColLoc>();
    if (!where)
      continue;
    KernelScope scope(func, where);
    DenseMap<Location, Location> known;
    func.getBody().walk([&](Operation *op) {
      Location loc = op->getLoc();
      auto it = known.find(loc);
      if (it == known.end()) {
        auto place = loc->findInstanceOf<FileLineColLoc>();
        auto named = dyn_cast<NameLoc>(loc);
        Location to = UnknownLoc::get(op->getContext());
        if (place && named)
          to = scope.inlined(named.getName(), place);
        it = known.insert({loc, to}).first;
      }
      op->setLoc(it->second);
    });
    func->setLoc(scope.kernelLocation());
  }
}
