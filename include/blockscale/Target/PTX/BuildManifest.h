//===- BuildManifest.h - launches of host code as a manifest --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_BUILDMANIFEST_H
#define BLOCKSCALE_TARGET_PTX_BUILDMANIFEST_H

#include "blockscale/Support/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace blockscale {

/// The manifest of every launch in `root`, in order: a buffer for each
/// `blockscale.alloc`, named by its `blockscale.name` (prefixed with the kernel
/// where there are several kernels), and a kernel for each `blockscale.launch`.
/// Copies say which buffers are inputs and outputs; an input may be what host code
/// computes from arguments, which the manifest's user then provides. Emits an error
/// and fails where a launch depends on a value that only a run knows, on host control
/// flow, or on what another kernel or function computes.
mlir::FailureOr<rt::Manifest> buildManifest(mlir::ModuleOp root, facts::Arch arch);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_BUILDMANIFEST_H
