//===- HostHeap.cpp - memory of compiled host functions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostHeap.h"

#include "blockscale/Runtime/Session.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace blockscale::run {

/// Compiled host code runs in one thread.
static llvm::DenseSet<void *> &liveBuffers() {
  static llvm::DenseSet<void *> live;
  return live;
}

static void *allocate(uint64_t bytes) {
  void *buffer = std::malloc(bytes ? bytes : 1);
  if (!buffer) { // compiled code cannot be told
    llvm::errs() << "blockscale-run: error: run: host memory must hold the buffers of the "
                    "function, got none for "
                 << bytes << " bytes\n";
    std::exit(1);
  }
  liveBuffers().insert(buffer);
  return buffer;
}

static void release(void *buffer) {
  if (liveBuffers().erase(buffer))
    std::free(buffer);
  else if (rt::Session *session = rt::Session::current())
    session->fail("run: a freed host buffer must be one that the function allocated and has not "
                  "freed, got another");
}

std::vector<std::pair<std::string, void *>> getHeapCalls() {
  return {{"_mlir_memref_to_llvm_alloc", reinterpret_cast<void *>(&allocate)},
          {"_mlir_memref_to_llvm_free", reinterpret_cast<void *>(&release)}};
}

void releaseHostHeap() {
  for (void *buffer : liveBuffers())
    std::free(buffer);
  liveBuffers().clear();
}

} // namespace blockscale::run
