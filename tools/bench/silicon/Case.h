//===- Case.h - one program of the suite on one device --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is PTX and a manifest, `GROUP/NAME.ptx` and `GROUP/NAME.json` of the
// suite's folder. An input buffer is read from `GROUP/NAME.BUFFER.npy`, or from
// `inputs/BUFFER.npy`, which cases share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_SILICON_CASE_H
#define BLOCKSCALE_TOOLS_BENCH_SILICON_CASE_H

#include "blockscale/Runtime/Runtime.h"
#include "blockscale/Support/Manifest.h"

#include <map>
#include <string>
#include <vector>

namespace blockscale::silicon {

using facts::Refusal;
using facts::Result;

using Bytes = std::vector<uint8_t>;
using Buffers = std::map<std::string, Bytes>;

struct Case {
  std::string name, ptx;
  rt::Manifest manifest;
  Buffers initial;
};

/// Names of the cases below `suite`, sorted: "GROUP/NAME".
Result<std::vector<std::string>> findCases(const std::string &suite);

Result<Case> loadCase(const std::string &suite, const std::string &name);

struct Outcome {
  Buffers outputs;
  double seconds = 0; // of all kernels
};

/// Runs the case's kernels in order. What is not written reads as 0xFF bytes.
Result<Outcome> runCase(bsrt_device *device, const Case &program);

} // namespace blockscale::silicon

#endif // BLOCKSCALE_TOOLS_BENCH_SILICON_CASE_H
