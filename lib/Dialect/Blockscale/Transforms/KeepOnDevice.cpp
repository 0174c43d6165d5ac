//===- KeepOnDevice.cpp - no way round the host between two kernels -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op is lowered by itself and brings its operands to the device and its results
// back. Where one copies out what the next copies in, both are the same buffer.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

namespace blockscale {
#define GEN_PASS_DEF_KEEPONDEVICE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

/// Whether a use of host memory neither writes it nor makes another name for it.
static bool isRead(Operation *user, Value memory) {
  if (auto copy = dyn_cast<CopyOp>(user))
    return copy.getTarget() != memory;
  if (isa<memref::LoadOp, memref::DeallocOp, func::ReturnOp>(user))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(user);
  if (!effects || user->getNumResults())
    return false;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffectsOnValue(memory, found);
  return !found.empty() && llvm::all_of(found, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect());
  });
}

/// The copy from the device whose bytes are those that `upload` copies back, or null.
static CopyOp findDownload(CopyOp upload) {
  Value memory = upload.getSource();
  if (!memory.getDefiningOp<memref::AllocOp>())
    return nullptr;
  CopyOp last;
  for (Operation *user : memory.getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    bool isDownload = copy && copy.getTarget() == memory;
    if (user->getBlock() != upload->getBlock() || (!isDownload && !isRead(user, memory)))
      return nullptr;
    if (isDownload && copy->isBeforeInBlock(upload) && (!last || last->isBeforeInBlock(copy)))
      last = copy;
  }
  return last;
}

/// The one op that frees a buffer.
static FreeOp findFree(Value buffer) {
  FreeOp found;
  for (Operation *user : buffer.getUsers())
    if (auto op = dyn_cast<FreeOp>(user)) {
      if (found)
        return nullptr;
      found = op;
    }
  return found;
}

namespace {
struct KeepOnDevicePass : blockscale::impl::KeepOnDeviceBase<KeepOnDevicePass> {
  void runOnOperation() override {
    SmallVector<CopyOp> uploads;
    getOperation().walk([&](CopyOp copy) {
      if (isa<BufferType>(copy.getTarget().getType()))
        uploads.push_back(copy);
    });
    for (CopyOp upload : uploads)
      forward(upload);
    getOperation().walk([](memref::AllocOp memory) { eraseUnread(memory); });
  }

private:
  void forward(CopyOp upload) {
    CopyOp download = findDownload(upload);
    if (!download)
      return;
    auto from = download.getSource().getDefiningOp<AllocOp>();
    auto to = upload.getTarget().getDefiningOp<AllocOp>();
    if (!from || !to || from.getBytes() != to.getBytes() || from.getCount() != to.getCount() ||
        from->getBlock() != to->getBlock())
      return;
    // Only kernels that read it may have the buffer, and what it was copied from must
    // not change before they do.
    bool isPlainInput = llvm::all_of(to->getUsers(), [&](Operation *user) {
      return user == upload || isa<LaunchOp, TensorMapOp, FreeOp>(user);
    });
    bool isUnchanged = llvm::all_of(from->getUsers(), [&](Operation *user) {
      return user->getBlock() != from->getBlock() ? false
             : user->isBeforeInBlock(download)
                 ? true
                 : user == download || isa<FreeOp>(user) || readers.contains(user);
    });
    FreeOp fromFree = findFree(from), toFree = findFree(to);
    if (!isPlainInput || !isUnchanged || !fromFree || !toFree ||
        toFree->getBlock() != fromFree->getBlock())
      return;
    for (Operation *user : to->getUsers()) {
      readers.insert(user);
      if (auto map = dyn_cast<TensorMapOp>(user))
        readers.insert(map->user_begin(), map->user_end());
    }
    FreeOp first = fromFree->isBeforeInBlock(toFree) ? fromFree : toFree;
    first.erase();
    upload.erase();
    to.replaceAllUsesWith(from.getBuffer());
    to.erase();
  }

  /// Host memory that is only copied to needs no copies.
  static void eraseUnread(memref::AllocOp memory) {
    Value value = memory;
    bool isUnread = llvm::all_of(memory->getUsers(), [&](Operation *user) {
      auto copy = dyn_cast<CopyOp>(user);
      return isa<memref::DeallocOp>(user) || (copy && copy.getTarget() == value);
    });
    bool isWritten = llvm::any_of(memory->getUsers(), llvm::IsaPred<CopyOp>);
    if (!isUnread || !isWritten)
      return;
    for (Operation *user : llvm::make_early_inc_range(memory->getUsers()))
      user->erase();
    memory.erase();
  }

  llvm::DenseSet<Operation *> readers; // launches and maps that took a forwarded buffer
};
} // namespace
