//===- HandOn.cpp - MLIR files are for the program that has MLIR ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// blockscale-run-mlir lies beside this program and takes the same command line.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace blockscale;

facts::Result<bool> run::runMlir(const Options &options) {
  std::string self =
      llvm::sys::fs::getMainExecutable(options.argv[0], reinterpret_cast<void *>(&runMlir));
  llvm::SmallString<256> path(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(path, "blockscale-run-mlir");
  execv(path.c_str(), options.argv);
  return facts::Refusal{"run: blockscale-run-mlir must lie beside blockscale-run, got '" +
                        std::string(path.str()) + "': " + std::strerror(errno)};
}
