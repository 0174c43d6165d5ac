//===- Workers.h - cases in processes of their own ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that faults spoils its process's context on the GPU, one that hangs
// never returns, and a device under test may crash. So cases run in workers that
// are replaced when that happens, and every other case still has its say.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_SILICON_WORKERS_H
#define BLOCKSCALE_TOOLS_BENCH_SILICON_WORKERS_H

#include <functional>
#include <string>
#include <vector>

namespace blockscale::silicon {

/// Does job number `job` in a worker; the result is text without limits. After a
/// result with `isSpoiled` set the worker ends and another takes its place.
struct WorkerResult {
  std::string text;
  bool isSpoiled = false;
};
using Work = std::function<WorkerResult(size_t job)>;

/// Called in the caller's process when a job is over. `failure` says why there is no
/// text: the worker's signal, or its time limit.
using Done = std::function<void(size_t job, const std::string &text, const std::string &failure)>;

void runInWorkers(size_t jobs, size_t workers, double limitSeconds, const Work &work,
                  const Done &done);

} // namespace blockscale::silicon

#endif // BLOCKSCALE_TOOLS_BENCH_SILICON_WORKERS_H
