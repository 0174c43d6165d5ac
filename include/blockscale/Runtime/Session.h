//===- Session.h - one run of compiled host code --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session is a device with its modules, what was launched and checked, and the
// first error. Compiled host code finds it as the current session of its thread.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_SESSION_H
#define BLOCKSCALE_RUNTIME_SESSION_H

#include "blockscale/Facts/Result.h"
#include "blockscale/Runtime/Host.h"
#include "blockscale/Runtime/Runtime.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

struct CheckRecord {
  std::string name;
  bsrt_check_result result;
};

struct LaunchRecord {
  std::string module, kernel;
  uint32_t grid[3], block[3], cluster[3], preferredCluster[3];
  uint64_t sharedBytes;
  bool isOversized;
  bool programmaticStreamSerialization;
  uint32_t registers; // of a thread, where the launch said so
  double seconds;
  uint64_t threadInstructions, mmaInstructions;
  double mmaFlops;
  std::string labels;                // of results without public hardware evidence
  std::vector<std::string> warnings; // of the hazard checks
  std::optional<CheckRecord> check;  // the product that this launch computed
  std::vector<double> times;         // of the launches that were timed
  bsrt_kernel_info info;             // of the driver, where launches were timed
};

class Session {
public:
  static Result<std::unique_ptr<Session>> open(const std::string &device,
                                               const bsrt_options &options);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  std::string deviceDescription() const { return bsrt_device_description(device); }
  Result<bool> setOptions(const bsrt_options &options);
  /// Loads PTX under the name that launches use.
  Result<bool> addModule(const std::string &name, std::string_view ptx,
                         const std::string &fileName);

  /// Forgets launches, maps and the error, and becomes this thread's current session.
  void begin();
  /// No session is current afterwards. Refuses with the first error of the run.
  Result<bool> end();

  const std::vector<LaunchRecord> &launches() const { return records; }

  // For HostCalls.cpp.
  static Session *current();
  bool hasFailed() const { return !error.empty(); }
  void fail(std::string message);
  bsrt_device *getDevice() { return device; }
  bsrt_module *findModule(const std::string &name);

  struct PendingMap {
    bsrt_tensor_map map{};
    std::vector<uint64_t> dims, strides;
    std::vector<uint32_t> box, elementStrides;
  };
  struct PendingLaunch {
    std::string module, kernel;
    std::vector<std::vector<uint8_t>> params;
    std::array<uint32_t, 3> preferredCluster{};
    bool programmaticStreamSerialization = false;
    uint32_t registers = 0;
  };
  std::array<uint32_t, 3> preferredCluster{}; // of every launch; 0: as the launch says
  bool onlyTimes = false;          // each launch for its time alone: its results have been read
  uint64_t repeat = 0, warmup = 0; // each launch so often again, for its time; kernels must not
                                   // read what they write
  PendingMap pendingMap;
  PendingLaunch pendingLaunch;
  std::vector<std::vector<uint8_t>> maps;
  std::vector<LaunchRecord> records;

private:
  explicit Session(bsrt_device *device) : device(device) {}

  bsrt_device *device;
  std::map<std::string, bsrt_module *> modules;
  std::string error;
};

/// Name and address of every function of HostCalls.h.
std::vector<std::pair<std::string, void *>> getHostCalls();

} // namespace blockscale::rt

#endif // BLOCKSCALE_RUNTIME_SESSION_H
