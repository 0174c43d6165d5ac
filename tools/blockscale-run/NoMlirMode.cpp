//===- NoMlirMode.cpp - the way in that a build without MLIR lacks --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

blockscale::facts::Result<bool> blockscale::run::runMlir(const Options &options) {
  return Refusal{"run: input must be --ptx with --manifest, this build has no MLIR"};
}
