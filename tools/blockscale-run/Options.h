//===- Options.h - what blockscale-run was asked to do --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_OPTIONS_H
#define BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_OPTIONS_H

#include "blockscale/Runtime/Session.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::run {

using facts::Refusal;
using facts::Result;

/// `FILE`, or `NAME=FILE`.
struct FileArg {
  std::string name; // empty: by position
  std::string file;
};

struct Options {
  char **argv = nullptr;                  // the whole command line
  std::string input;                      // MLIR
  std::string ptx, manifest, kernel;      // PTX from anywhere
  std::string entry, arch, pins, emitPtx; // MLIR only
  std::vector<FileArg> args, outs;
  std::map<std::string, uint64_t> sizes; // of a manifest, by name
  std::string device = "emulator";
  bool check = false;
  std::string report;
  uint64_t seeds = 0;                         // 0: one run
  uint64_t repeat = 0, warmup = 0;            // of each kernel after the run, for its time
  std::array<uint32_t, 3> preferredCluster{}; // of every launch; 0: as the launch says
  bsrt_options run{};
};

/// A way to run the emulator, and what messages call it.
struct RunMode {
  std::string name;
  bsrt_options options;
};

/// One run as the options say, or under --seeds earliest, latest and K seeds.
std::vector<RunMode> getRunModes(const Options &options);

/// Executes PTX by its manifest.
Result<bool> runPtx(const Options &options);

/// Compiles and executes a function of an MLIR file.
Result<bool> runMlir(const Options &options);

} // namespace blockscale::run

#endif // BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_OPTIONS_H
