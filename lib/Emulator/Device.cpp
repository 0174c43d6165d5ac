//===- Device.cpp - memory and launches of an emulated device -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Emulator.h"
#include "blockscale/Emulator/Mma.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/Products.h"
#include "blockscale/Facts/Registers.h"

#include "Decoder.h"
#include "Hazards/LaunchHazards.h"
#include "Scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <tuple>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

Device::~Device() = default;

void Launch::fail(uint64_t turn, uint32_t line, const Fault &fault) {
  std::lock_guard<std::mutex> guard(lock);
  if (turn >= failedAt)
    return;
  error = module.file + ":" + std::to_string(line) + ": " + fault.text;
  if (options.hazards.mode != HazardMode::off)
    error += faultLines(fault, module.file) + sourceLines(line, fault.otherLine);
  failedAt = turn;
}

std::string Launch::sourceLines(uint32_t line, uint32_t otherLine) const {
  std::string out;
  if (std::string from = module.source->at(line); !from.empty())
    out.append("\n  from: ").append(from);
  if (std::string other = module.source->at(otherLine); otherLine && !other.empty())
    out.append("\n  against: ").append(other);
  return out;
}

void Launch::clusterEnded(uint64_t turn, uint64_t executed, uint64_t clusters) {
  instructions += executed;
  if (!options.maxInstructions)
    return;
  uint64_t beyond = kNoFailure;
  {
    std::lock_guard<std::mutex> guard(lock);
    ended.emplace(turn, executed);
    for (auto it = ended.begin(); it != ended.end() && it->first == endedInOrder;
         it = ended.erase(it)) {
      instructionsInOrder += it->second;
      if (instructionsInOrder > options.maxInstructions && beyond == kNoFailure)
        beyond = it->first;
      ++endedInOrder;
    }
  }
  if (beyond != kNoFailure)
    fail(beyond, kernel.line,
         "limit: kernel must end within " + std::to_string(options.maxInstructions) +
             " thread instructions, got more after " + std::to_string(beyond + 1) + " of " +
             std::to_string(clusters) + " clusters");
}

void Launch::addEvidence(const std::string &label) {
  std::lock_guard<std::mutex> guard(lock);
  if (std::find(evidence.begin(), evidence.end(), label) == evidence.end())
    evidence.push_back(label);
}

void Launch::addHazard(HazardFinding finding) {
  std::lock_guard<std::mutex> guard(lock);
  for (HazardFinding &h : hazards)
    if (h.label == finding.label && h.line == finding.line && h.otherLine == finding.otherLine) {
      if (finding.turn < h.turn) // the same whatever the threads
        h = std::move(finding);
      return;
    }
  hazards.push_back(std::move(finding));
}

std::vector<std::string> Launch::hazardTexts(bool errors) const {
  std::vector<const HazardFinding *> found;
  for (const HazardFinding &h : hazards)
    if (h.turn <= failedAt && (h.level == HazardLevel::error) == errors)
      found.push_back(&h);
  std::sort(found.begin(), found.end(), [](const HazardFinding *a, const HazardFinding *b) {
    return std::tie(a->line, a->otherLine, a->label) < std::tie(b->line, b->otherLine, b->label);
  });
  std::vector<std::string> out;
  for (const HazardFinding *h : found) {
    out.push_back(module.file + ":" + std::to_string(h->line) + ": hazard: " + h->text +
                  sourceLines(h->line, h->otherLine));
  }
  return out;
}

namespace {

constexpr size_t kMaxReports = 20;

constexpr uint64_t kMaxGrid = 0x7FFFFFFF;
constexpr unsigned kMaxPortableCluster = 16;
constexpr uint32_t kMaxResident = 4096; // more than any chip holds

std::string text(const Dim3 &d) { return dec(d.x) + "x" + dec(d.y) + "x" + dec(d.z); }

class EmulatedDevice final : public Device {
public:
  explicit EmulatedDevice(const Options &options) : options(options) {}

  Result<uint64_t> allocate(size_t bytes) override { return memory.allocate(bytes); }
  // What the host does to memory comes behind the end of all grids.
  Result<bool> release(uint64_t address) override {
    earlier.reset();
    return memory.release(address);
  }
  Result<bool> write(uint64_t address, const void *from, size_t bytes) override {
    earlier.reset();
    GlobalRange r = memory.find(address);
    if (bytes && !r.covers(address, bytes))
      return outside("write", address, bytes);
    if (bytes)
      std::memcpy(r.at(address), from, bytes);
    auto &maps = memory.changedMaps;
    maps.erase(maps.lower_bound(address), maps.lower_bound(address + bytes));
    return true;
  }
  Result<bool> read(uint64_t address, void *to, size_t bytes) override {
    earlier.reset();
    GlobalRange r = memory.find(address);
    if (bytes && !r.covers(address, bytes))
      return outside("read", address, bytes);
    if (bytes)
      std::memcpy(to, r.at(address), bytes);
    return true;
  }
  Result<std::shared_ptr<Module>> load(std::string_view ptx, std::string_view fileName) override {
    auto module = loadModule(ptx, fileName, memory, options);
    if (!module)
      return module.takeRefusal();
    return std::shared_ptr<Module>(*module);
  }
  Result<LaunchStats> launch(const Module &module, std::string_view kernel,
                             const LaunchConfig &config) override;
  void setOptions(const Options &o) override { options = o; }

private:
  Options options;
  GlobalMemory memory;
  /// The launch before, as far as a dependent one may overlap with it.
  std::shared_ptr<const EarlierGrid> earlier;

  Refusal outside(const char *what, uint64_t address, size_t bytes) {
    return Refusal{std::string("mem_global: host ") + what + " of " + dec(int64_t(bytes)) +
                   " bytes must lie in a live allocation, got " + hex(address) + " (" +
                   memory.describe(address) + ")"};
  }
};

/// A preferred cluster must consist of ordinary ones.
std::string checkPreferred(facts::Arch arch, const LaunchConfig &c) {
  const Dim3 &p = c.preferredCluster;
  if (!p.x && !p.y && !p.z)
    return {};
  if (!p.x || !p.y || !p.z || p.x % c.cluster.x || p.y % c.cluster.y || p.z % c.cluster.z)
    return "launch_cluster: preferred cluster must be a multiple of the cluster " +
           text(c.cluster) + ", got " + text(p);
  if (!facts::supports(arch, facts::Feature::clusters))
    return "launch_cluster: preferred cluster must have a chip with clusters, got " +
           std::string(facts::name(arch));
  if (c.grid.x % p.x || c.grid.y % p.y || c.grid.z % p.z)
    return "launch_cluster: preferred cluster must divide the grid " + text(c.grid) + ", got " +
           text(p);
  if (uint64_t(p.x) * p.y * p.z > kMaxPortableCluster)
    return "launch_cluster: preferred cluster must have at most 16 CTAs, got " +
           dec(int64_t(uint64_t(p.x) * p.y * p.z));
  return {};
}

/// Empty, or what is wrong with the registers that the launch says a thread has.
std::string checkRegisters(const Kernel &k, const LaunchConfig &c, uint64_t warps) {
  if (!c.registers)
    return {};
  if (c.registers > uint32_t(facts::kMaxRegistersPerThread))
    return "launch_registers: registers of a thread must be 1 to " +
           dec(facts::kMaxRegistersPerThread) + ", got " + dec(c.registers);
  auto it = k.directives.find("maxnreg");
  if (it != k.directives.end() && !it->second.empty() && c.registers > it->second[0])
    return "launch_registers: registers of a thread must be at most the " +
           dec(int64_t(it->second[0])) + " of .maxnreg, got " + dec(c.registers);
  if (uint64_t all = facts::blockRegisters(warps, c.registers);
      all > uint64_t(facts::kRegistersPerSm))
    return "launch_registers: registers of a block must be at most " +
           dec(int64_t(facts::kRegistersPerSm)) + ", got " + dec(int64_t(all)) + " of " +
           dec(int64_t(warps)) + " warps with " + dec(c.registers) + " each thread";
  return {};
}

/// Checks the launch against the kernel's directives and the chip's limits.
std::string checkLaunch(const LoadedModule &module, const Kernel &k, const LaunchConfig &c,
                        Launch &launch) {
  const facts::ArchInfo &chip = facts::info(module.archValue);
  auto positive = [](const Dim3 &d) { return d.x && d.y && d.z; };
  if (!positive(c.grid) || !positive(c.block) || !positive(c.cluster))
    return "launch_dims: grid, block and cluster must be positive, got " + text(c.grid) + ", " +
           text(c.block) + ", " + text(c.cluster);
  if (c.grid.x > kMaxGrid || c.grid.y > 65535 || c.grid.z > 65535)
    return "launch_grid: grid must be at most 2147483647x65535x65535, got " + text(c.grid);
  uint64_t threads = uint64_t(c.block.x) * c.block.y * c.block.z;
  if (threads > uint64_t(facts::kThreadsPerBlock) || c.block.z > 64)
    return "launch_block: block must have at most " + dec(facts::kThreadsPerBlock) +
           " threads, got " + text(c.block);
  auto directive = [&](const char *n) -> const std::vector<uint64_t> * {
    auto it = k.directives.find(n);
    return it == k.directives.end() ? nullptr : &it->second;
  };
  auto product = [](const std::vector<uint64_t> &v) {
    uint64_t p = 1;
    for (uint64_t x : v)
      p *= x;
    return p;
  };
  if (auto *max = directive("maxntid"); max && threads > product(*max))
    return "launch_block: block must have at most the " + dec(int64_t(product(*max))) +
           " threads of .maxntid, got " + dec(int64_t(threads));
  auto exactly = [](const std::vector<uint64_t> &v, const Dim3 &d) {
    uint64_t want[3] = {1, 1, 1};
    for (size_t i = 0; i < v.size() && i < 3; ++i)
      want[i] = v[i];
    return want[0] == d.x && want[1] == d.y && want[2] == d.z;
  };
  auto dimensions = [](const std::vector<uint64_t> &v) {
    std::string out;
    for (size_t i = 0; i < 3; ++i)
      out.append(i ? "x" : "").append(std::to_string(i < v.size() ? v[i] : 1));
    return out;
  };
  if (auto *req = directive("reqntid"); req && !exactly(*req, c.block))
    return "launch_block: block must be that of .reqntid, " + dimensions(*req) + ", got " +
           text(c.block);
  if (auto *req = directive("reqnctapercluster"); req && !req->empty() && !exactly(*req, c.cluster))
    return "launch_cluster: cluster must be that of .reqnctapercluster, " + dimensions(*req) +
           ", got " + text(c.cluster);
  uint64_t ctas = uint64_t(c.cluster.x) * c.cluster.y * c.cluster.z;
  if (ctas > 1 && !facts::supports(module.archValue, facts::Feature::clusters))
    return "launch_cluster: cluster must be 1x1x1 on " +
           std::string(facts::name(module.archValue)) + ", got " + text(c.cluster);
  if (ctas > kMaxPortableCluster)
    return "launch_cluster: cluster must have at most 16 CTAs, got " + dec(int64_t(ctas));
  if (c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z)
    return "launch_cluster: cluster must divide the grid " + text(c.grid) + ", got " +
           text(c.cluster);
  if (std::string e = checkPreferred(module.archValue, c); !e.empty())
    return e;
  if (c.programmaticStreamSerialization &&
      !facts::supports(module.archValue, facts::Feature::dependentGrids))
    return "launch_programmatic: programmatic stream serialization must have a chip with "
           "griddepcontrol, got " +
           std::string(facts::name(module.archValue));
  if (launch.options.unmodelled == Unmodelled::refuse &&
      std::find(k.evidence.begin(), k.evidence.end(), kNoEvidence) != k.evidence.end())
    return "mma_unmodelled: products of a kernel must have a published model, got those of " +
           std::string(facts::name(module.archValue)) + " with " + kNoEvidence;
  if (launch.options.residentClusters > kMaxResident)
    return "launch_resident: resident clusters must be at most " + dec(kMaxResident) + ", got " +
           dec(launch.options.residentClusters);
  if (std::string e = checkRegisters(k, c, (threads + 31) / 32); !e.empty())
    return e;
  uint64_t limit = uint64_t(chip.sharedPerBlock);
  if (c.oversizedShared) {
    if (!chip.sharedPerBlockOversized)
      return "launch_shared: oversized shared memory must have a chip with it, got " +
             std::string(facts::name(module.archValue));
    limit = uint64_t(chip.sharedPerBlockOversized);
  }
  if (c.sharedBytes > limit || k.staticShared + c.sharedBytes > limit)
    return "launch_shared: shared memory of a block must be at most " + dec(int64_t(limit)) +
           " bytes, got " + dec(int64_t(k.staticShared + c.sharedBytes));
  if (c.params.size() != k.params.size())
    return "launch_params: kernel must have " + dec(int64_t(k.params.size())) +
           " parameters, got " + dec(int64_t(c.params.size()));
  launch.params.assign(k.paramBytes, 0);
  for (size_t i = 0; i < k.params.size(); ++i) {
    if (c.params[i].bytes.size() != k.params[i].bytes)
      return "launch_params: parameter " + dec(int64_t(i)) + " must have " +
             dec(int64_t(k.params[i].bytes)) + " bytes, got " +
             dec(int64_t(c.params[i].bytes.size()));
    if (!c.params[i].bytes.empty())
      std::memcpy(launch.params.data() + k.params[i].offset, c.params[i].bytes.data(),
                  k.params[i].bytes);
  }
  launch.sharedBytes = kSharedBase + k.staticShared + c.sharedBytes;
  launch.threadsPerCta = unsigned(threads);
  launch.warpsPerCta = unsigned((threads + 31) / 32);
  launch.tmemColumns = unsigned(chip.tmemColumns);
  return {};
}

/// The first few of a list.
static std::string namesOf(const std::vector<std::string> &names) {
  constexpr size_t kMost = 8;
  std::string out = names.empty() ? "which has none" : "";
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out.append(i ? ", " : "").append(names[i]);
  return names.size() > kMost ? out + " and " + std::to_string(names.size() - kMost) + " more"
                              : out;
}

Result<LaunchStats> EmulatedDevice::launch(const Module &module, std::string_view name,
                                           const LaunchConfig &config) {
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<const EarlierGrid> before = std::move(earlier);
  if (!config.programmaticStreamSerialization)
    before.reset();
  const auto *loaded = dynamic_cast<const LoadedModule *>(&module);
  const Kernel *kernel = loaded ? loaded->find(name) : nullptr;
  if (!kernel)
    return Refusal{"launch_kernel: kernel must be one of the module's, " +
                   namesOf(module.kernels()) + "; got " + std::string(name)};
  if (!kernel->refusal.empty())
    return Refusal{kernel->refusal};
  Launch run(*loaded, *kernel, config, options, memory);
  run.evidence = kernel->evidence;
  run.sms = options.sms ? options.sms : unsigned(facts::modelProduct(loaded->archValue)->sms);
  if (std::string e = checkLaunch(*loaded, *kernel, config, run); !e.empty())
    return Refusal{loaded->file + ":" + std::to_string(kernel->line) + ": " + e};

  if (options.hazards.mode != HazardMode::off)
    run.hazardsTogether = std::make_shared<LaunchHazards>(run, std::move(before));
  Scheduler scheduler(run);
  run.scheduler = &scheduler;
  scheduler.run(options.threads);
  if (std::vector<std::string> found = run.hazardTexts(/*errors=*/true);
      !found.empty() || run.failed()) {
    size_t more = found.size() > kMaxReports ? found.size() - kMaxReports : 0;
    found.resize(found.size() - more);
    if (more)
      found.push_back("  " + std::to_string(more) + " more hazards");
    if (run.failed())
      found.push_back(run.error);
    std::string text = found[0];
    for (size_t i = 1; i < found.size(); ++i)
      text.append(1, '\n').append(found[i]);
    return Refusal{text};
  }
  if (run.hazardsTogether)
    earlier = run.hazardsTogether->end();
  LaunchStats stats;
  stats.threadInstructions = run.instructions;
  stats.mmaInstructions = run.mmas;
  stats.mmaFlops = run.mmaFlops;
  stats.evidence = run.evidence;
  stats.warnings = run.hazardTexts(/*errors=*/false);
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return stats;
}

} // namespace

std::unique_ptr<Device> Device::create(const Options &options) {
  return std::make_unique<EmulatedDevice>(options);
}

} // namespace blockscale::emu
