//===- SharedRuntime.cpp - root of the shared object ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The object holds the whole of BlockscaleRuntime; the assertion ties its
// SOVERSION to the interface.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Runtime.h"

static_assert(BSRT_ABI_OLDEST == 2, "SOVERSION in CMakeLists.txt must follow");
