//===- HostHeap.h - memory of compiled host functions ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result may be a fresh buffer, an argument or a constant, and a function that
// stops early frees nothing. So every buffer that compiled code allocates is on
// record, and all that are left go when the results have been read.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_HOSTHEAP_H
#define BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_HOSTHEAP_H

#include <string>
#include <utility>
#include <vector>

namespace blockscale::run {

/// What compiled code calls to allocate and to free, by the names that
/// finalize-memref-to-llvm{use-generic-functions} gives them.
std::vector<std::pair<std::string, void *>> getHeapCalls();

/// Frees what compiled code has allocated and not freed.
void releaseHostHeap();

} // namespace blockscale::run

#endif // BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_HOSTHEAP_H
