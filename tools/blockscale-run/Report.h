//===- Report.h - what ran, for people and for scripts --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_REPORT_H
#define BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_REPORT_H

#include "blockscale/Runtime/Session.h"

#include <map>
#include <string>

namespace blockscale::run {

/// What the compiler decided about a kernel; absent for PTX from anywhere.
struct KernelPlan {
  std::string format;      // nvfp4 …
  std::string instruction; // mxf4nvf4 128x128x64
  std::string tile;        // 128x128x256
  std::string problem;     // 178x1536x384
  std::string epilogue;
  std::string quantizer; // mxfp8 by scaled, where the result is quantised
  std::string kernel;    // raw_nibble …, of blocks; divide …, of a quantiser, which has no tile
  std::string fallback;  // why it is not the first choice; empty where it is
  int64_t blocks = 0;    // of one SM, of blocks
  double flops = 0;      // of a product
  double bytes = 0;      // read and written by a kernel that quantises
  int64_t stages = 0, accumulators = 0, tmemColumns = 0;
  int64_t split = 0; // CTAs that share a tile, of blocks
};

struct Report {
  std::string device; // its description
  std::string arch, entry;
  std::vector<rt::LaunchRecord> launches;
  std::map<std::string, KernelPlan> plans;      // by kernel
  std::map<std::string, int64_t> plannedBlocks; // of an SM, where there is no plan
  bool isCheckAsked = false;                    // by --check
  uint64_t timedLaunches = 0;                   // whose median a launch's seconds are
  std::map<std::string, std::string> warnings;  // of the hazard checks, by rule and lines
  std::vector<std::string> runs;                // modes whose results had the same bits
};

void addWarnings(Report &report, const std::vector<rt::LaunchRecord> &launches);

/// Makes the median of a launch's `repeat` times, where there are any, its own.
void takeMedians(Report &report, uint64_t repeat);

/// One line for each launch, then what else there is to say.
void printReport(const Report &report);

facts::Result<bool> writeReport(const Report &report, const std::string &path);

} // namespace blockscale::run

#endif // BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_REPORT_H
