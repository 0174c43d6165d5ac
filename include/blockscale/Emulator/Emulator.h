//===- Emulator.h - PTX in, memory out ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library without MLIR that executes PTX text: it owns a global memory, loads
// modules, and runs launches of clusters of CTAs with shared and tensor memory,
// mbarriers, TMA and tcgen05. Asynchronous operations change bytes when they
// land, and when they land is decided by `Timing` and a seed.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_EMULATOR_H
#define BLOCKSCALE_EMULATOR_EMULATOR_H

#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/Result.h"
#include "blockscale/Facts/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// When an asynchronous operation lands.
enum class Timing : uint8_t {
  earliest, // as soon as the scheduler next runs
  latest,   // not before somebody can only go on if it does
  random,   // at a time drawn from the seed
};

/// Which clusters a launch with a preferred cluster size consists of.
enum class ClusterChoice : uint8_t {
  mixed,     // preferred and ordinary ones in turn; the seed says which come first
  preferred, // only preferred ones
  fallback,  // only ordinary ones
};

/// What to do with a product that no public model covers (mmaEvidence).
enum class Unmodelled : uint8_t {
  extend, // run the natural extension, one sum an instruction; results carry a label
  refuse, // do not run it
};

/// Rounds of polls in which nothing changes, after which a launch is given up.
inline constexpr uint64_t kPollLimit = 10'000'000;

struct Options {
  Timing timing = Timing::earliest;
  uint64_t seed = 0;             // also orders warps and CTAs
  unsigned threads = 1;          // host threads; results do not depend on it
  unsigned sms = 0;              // 0: the chip's own number
  unsigned residentClusters = 0; // that run side by side; 0: as many as the chip holds
  ClusterChoice clusterChoice = ClusterChoice::mixed;
  uint64_t maxInstructions = 0; // 0: no limit; else refuse as livelock beyond it
  /// Rounds of warps, a poll or 4096 instructions each, in which nothing changes though none
  /// comes back to a state that it was in, before the launch is refused as livelock.
  uint64_t pollLimit = kPollLimit;
  HazardOptions hazards; // what is checked; errors refuse the launch
  Unmodelled unmodelled = Unmodelled::extend;
  /// For tests: instructions of this spelling, or of this form of `executedForms`
  /// (Coverage.h), do nothing.
  const char *disabledForm = nullptr;
  /// For tests: receives both of each instruction that is loaded; `hint ` stands before the
  /// spelling of a hint.
  std::vector<std::string> *usedForms = nullptr;
};

/// By-value kernel parameters, in order, each with its natural alignment.
/// A tensor map is 128 bytes made by `encodeTensorMap`.
struct KernelParam {
  std::vector<uint8_t> bytes;
};

struct LaunchConfig {
  Dim3 grid, block, cluster;
  /// Zero: none. A multiple of `cluster`; some clusters get this size, the others `cluster`.
  Dim3 preferredCluster{0, 0, 0};
  uint64_t sharedBytes = 0;     // dynamic shared memory of one CTA
  bool oversizedShared = false; // opt in to more than the ordinary limit (sm_107a)
  /// Of a thread, 1 to 255, as `ptxas -v` prints it: how many CTAs fit an SM follows from it.
  /// 0: what .maxnreg says, if anything.
  unsigned registers = 0;
  /// May start once every CTA of the launch before has executed griddepcontrol.launch_dependents
  /// or exited. The emulator runs it behind that launch; its hazard checks do not rely on that.
  bool programmaticStreamSerialization = false;
  std::vector<KernelParam> params;
};

/// What a launch did; counts are over all threads.
struct LaunchStats {
  uint64_t threadInstructions = 0;
  uint64_t mmaInstructions = 0;
  double mmaFlops = 0;
  double seconds = 0;                // host time
  std::vector<std::string> evidence; // labels of results without public hardware evidence
  std::vector<std::string> warnings; // of the hazard checks, each "file:line: …"
};

/// Parsed and decoded PTX of one module.
class Module {
public:
  virtual ~Module();
  virtual facts::Arch arch() const = 0;
  virtual std::vector<std::string> kernels() const = 0;
  virtual size_t paramCount(std::string_view kernel) const = 0;
};

/// One emulated device with its global memory.
class Device {
public:
  static std::unique_ptr<Device> create(const Options &options);
  virtual ~Device();

  /// Device addresses are never host addresses; every access is checked
  /// against live allocations.
  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  virtual Result<bool> release(uint64_t address) = 0;
  virtual Result<bool> write(uint64_t address, const void *from, size_t bytes) = 0;
  virtual Result<bool> read(uint64_t address, void *to, size_t bytes) = 0;

  /// Parses and decodes; unknown instructions, and those that the module's
  /// .target does not have, are refused as "file:line: message".
  virtual Result<std::shared_ptr<Module>> load(std::string_view ptx, std::string_view fileName) = 0;

  /// Runs a kernel to its end. Errors (out of bounds, deadlock, illegal
  /// descriptor, …) come back as "file:line: message".
  virtual Result<LaunchStats> launch(const Module &module, std::string_view kernel,
                                     const LaunchConfig &config) = 0;

  virtual void setOptions(const Options &options) = 0;
};

/// The 128 bytes that a kernel receives for a tensor map. Refuses what the
/// driver's encode call refuses on the chip (facts: TensorMap.h).
Result<std::vector<uint8_t>> encodeTensorMap(facts::Arch arch, const facts::TensorMap &map);

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_EMULATOR_H
