//===- CudaDevice.cpp - a GPU by the driver's own interface ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver is opened when the device is asked for and is never linked, so that
// the same binary runs where there is none. PTX goes to the driver's compiler.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/TensorMap.h"

#include "CudaApi.h"
#include "Device.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <map>

namespace blockscale::rt {

namespace {

/// No buffer of ours is smaller, for any may be the tensor of a map.
constexpr size_t kLeastAllocation = facts::kTmaWindow;
/// Launches between two waits for the GPU.
constexpr size_t kTimedBatch = 64;

/// The line of the compiler's log that says what is wrong; warnings may stand before it.
std::string firstError(std::string_view log) {
  size_t at = std::min(log.find("error"), log.find("fatal"));
  size_t begin = at == std::string_view::npos ? 0 : log.rfind('\n', at) + 1;
  return std::string(log.substr(begin, log.find('\n', begin) - begin));
}

class CudaModule final : public LoadedModule {
public:
  CudaModule(const cuda::Api &api, cuda::Module module) : api(api), module(module) {}
  ~CudaModule() override { api.moduleUnload(module); }

  const cuda::Api &api;
  cuda::Module module;
};

class CudaDevice final : public RuntimeDevice {
public:
  ~CudaDevice() override {
    for (const auto &allocation : sizes)
      api.memoryFree(allocation.first);
    for (cuda::Event event : events)
      api.eventDestroy(event);
    if (context)
      api.primaryContextRelease(device);
  }

  Result<bool> open();

  std::string description() const override { return gpuName; }
  void setOptions(const emu::Options &) override {}

  Result<std::unique_ptr<LoadedModule>> load(std::string_view ptx,
                                             const std::string &fileName) override;
  Result<uint64_t> allocate(size_t bytes) override;
  Result<bool> release(uint64_t address) override;
  Result<bool> write(uint64_t address, const void *from, size_t bytes) override;
  Result<bool> read(uint64_t address, void *to, size_t bytes) override;
  Result<std::vector<uint8_t>> encode(const facts::TensorMap &map) override;
  Result<emu::LaunchStats> launch(LoadedModule &module, const std::string &kernel,
                                  const emu::LaunchConfig &config) override;
  Result<std::vector<double>> time(LoadedModule &module, const std::string &kernel,
                                   const emu::LaunchConfig &config, uint64_t warmup,
                                   uint64_t repeat) override;
  Result<KernelInfo> describe(LoadedModule &module, const std::string &kernel,
                              const emu::LaunchConfig &config) override;

private:
  /// A launch with all that the driver is given by address.
  struct Prepared {
    // The driver copies each parameter from the address given for it; a tensor map
    // must lie at a multiple of 64 bytes there too.
    struct alignas(64) Chunk {
      uint8_t bytes[64];
    };
    cuda::Function function = nullptr;
    cuda::LaunchAttribute attributes[4] = {};
    cuda::LaunchConfig launch{};
    std::vector<std::vector<Chunk>> slots;
    std::vector<void *> params;
  };
  Result<bool> prepare(LoadedModule &module, const std::string &kernel,
                       const emu::LaunchConfig &config, Prepared &to);
  Result<bool> submit(Prepared &prepared, const std::string &kernel);
  Result<bool> record(size_t event);
  Result<double> secondsBetween(size_t first, size_t second);
  /// Launches one behind the other, so that what lies between two events is a kernel and
  /// not the way to the GPU, and waits for them.
  Result<std::vector<double>> runBatch(Prepared &prepared, const std::string &kernel, size_t count);

  template <typename F> bool find(void *library, F &function, const char *name) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function)
      missing = name;
    return function != nullptr;
  }
  bool findAll(void *library);

  Refusal failed(const char *what, cuda::Status status) const {
    const char *text = nullptr;
    if (api.getErrorString(status, &text) != 0 || !text)
      text = "unknown error";
    return Refusal{std::string("cuda: ") + what + " must succeed, got error " +
                   std::to_string(status) + ", " + text};
  }
  /// The driver checks only addresses that it faults on.
  Result<bool> checkRange(uint64_t address, size_t bytes) const {
    auto it = sizes.upper_bound(address);
    if (it != sizes.begin() && (--it, address - it->first <= it->second) &&
        bytes <= it->second - (address - it->first))
      return true;
    return Refusal{"cuda: a copy must lie within one allocation, got " + std::to_string(bytes) +
                   " bytes at " + std::to_string(address)};
  }

  cuda::Api api{};
  const char *missing = nullptr;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  std::vector<cuda::Event> events; // around the kernels of a batch
  std::string gpuName;
  std::map<uint64_t, size_t> sizes;
};

bool CudaDevice::findAll(void *library) {
  return find(library, api.init, "cuInit") &&
         find(library, api.getErrorString, "cuGetErrorString") &&
         find(library, api.deviceGet, "cuDeviceGet") &&
         find(library, api.deviceGetName, "cuDeviceGetName") &&
         find(library, api.primaryContextRetain, "cuDevicePrimaryCtxRetain") &&
         find(library, api.primaryContextRelease, "cuDevicePrimaryCtxRelease_v2") &&
         find(library, api.contextSetCurrent, "cuCtxSetCurrent") &&
         find(library, api.contextSynchronize, "cuCtxSynchronize") &&
         find(library, api.memoryAllocate, "cuMemAlloc_v2") &&
         find(library, api.memoryFree, "cuMemFree_v2") &&
         find(library, api.copyToDevice, "cuMemcpyHtoD_v2") &&
         find(library, api.copyToHost, "cuMemcpyDtoH_v2") &&
         find(library, api.moduleLoadData, "cuModuleLoadDataEx") &&
         find(library, api.moduleUnload, "cuModuleUnload") &&
         find(library, api.moduleGetFunction, "cuModuleGetFunction") &&
         find(library, api.functionSetAttribute, "cuFuncSetAttribute") &&
         find(library, api.functionGetAttribute, "cuFuncGetAttribute") &&
         find(library, api.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor") &&
         find(library, api.launchKernel, "cuLaunchKernelEx") &&
         find(library, api.eventCreate, "cuEventCreate") &&
         find(library, api.eventDestroy, "cuEventDestroy_v2") &&
         find(library, api.eventRecord, "cuEventRecord") &&
         find(library, api.eventElapsedTime, "cuEventElapsedTime") &&
         find(library, api.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
}

Result<bool> CudaDevice::open() {
  // Stays open to the end of the process, as the driver wants it.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Refusal{"cuda: device must have a driver, got no libcuda.so.1 (use emulator)"};
  if (!findAll(library))
    return Refusal{std::string("cuda: driver must have ") + missing + ", got an older one"};
  if (cuda::Status status = api.init(0))
    return failed("cuInit", status);
  if (cuda::Status status = api.deviceGet(&device, 0))
    return failed("cuDeviceGet", status);
  char name[256] = "";
  if (cuda::Status status = api.deviceGetName(name, sizeof name, device))
    return failed("cuDeviceGetName", status);
  gpuName = name;
  if (cuda::Status status = api.primaryContextRetain(&context, device))
    return failed("cuDevicePrimaryCtxRetain", status);
  if (cuda::Status status = api.contextSetCurrent(context))
    return failed("cuCtxSetCurrent", status);
  return true;
}

Result<std::unique_ptr<LoadedModule>> CudaDevice::load(std::string_view ptx,
                                                       const std::string &fileName) {
  std::string text(ptx); // the driver wants a final zero
  char log[16384] = "";
  int options[] = {cuda::kJitErrorLogBuffer, cuda::kJitErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof log))};
  cuda::Module module = nullptr;
  if (cuda::Status status = api.moduleLoadData(&module, text.c_str(), 2, options, values)) {
    log[sizeof log - 1] = 0;
    std::string line = firstError(log);
    return Refusal{fileName + ": " + failed("loading PTX", status).message +
                   (line.empty() ? "" : "; " + line)};
  }
  return std::unique_ptr<LoadedModule>(std::make_unique<CudaModule>(api, module));
}

Result<uint64_t> CudaDevice::allocate(size_t bytes) {
  cuda::Pointer address = 0;
  if (cuda::Status status = api.memoryAllocate(&address, std::max(bytes, kLeastAllocation)))
    return failed("cuMemAlloc", status);
  sizes[address] = bytes;
  return uint64_t(address);
}

Result<bool> CudaDevice::release(uint64_t address) {
  if (!sizes.erase(address))
    return Refusal{"cuda: free must get the start of an allocation, got " +
                   std::to_string(address)};
  if (cuda::Status status = api.memoryFree(address))
    return failed("cuMemFree", status);
  return true;
}

Result<bool> CudaDevice::write(uint64_t address, const void *from, size_t bytes) {
  if (Result<bool> range = checkRange(address, bytes); !range)
    return range;
  if (cuda::Status status = api.copyToDevice(address, from, bytes))
    return failed("cuMemcpyHtoD", status);
  return true;
}

Result<bool> CudaDevice::read(uint64_t address, void *to, size_t bytes) {
  if (Result<bool> range = checkRange(address, bytes); !range)
    return range;
  if (cuda::Status status = api.copyToHost(to, address, bytes))
    return failed("cuMemcpyDtoH", status);
  return true;
}

Result<std::vector<uint8_t>> CudaDevice::encode(const facts::TensorMap &map) {
  alignas(64) uint8_t bytes[BSRT_TENSOR_MAP_BYTES] = {};
  std::vector<uint32_t> elementStrides = map.elementStrides;
  elementStrides.resize(map.dims.size(), 1);
  std::vector<uint64_t> strides = map.strides;
  if (strides.empty()) // rank 1 reads none, but the call takes no null pointer
    strides.push_back(0);
  cuda::Status status = api.tensorMapEncodeTiled(
      bytes, int(map.type), uint32_t(map.dims.size()), reinterpret_cast<void *>(map.address),
      map.dims.data(), strides.data(), map.box.data(), elementStrides.data(),
      /*interleave=*/0, int(map.swizzle), int(map.l2), int(map.fill));
  if (status)
    return failed("cuTensorMapEncodeTiled", status);
  return std::vector<uint8_t>(bytes, bytes + sizeof bytes);
}

Result<bool> CudaDevice::prepare(LoadedModule &module, const std::string &kernel,
                                 const emu::LaunchConfig &config, Prepared &to) {
  cuda::Function &function = to.function;
  if (cuda::Status status = api.moduleGetFunction(
          &function, static_cast<CudaModule &>(module).module, kernel.c_str()))
    return failed(("finding kernel '" + kernel + "'").c_str(), status);
  // MAX_DYNAMIC_SHARED_SIZE_BYTES is ignored once a mode is set.
  if (!config.oversizedShared)
    if (cuda::Status status = api.functionSetAttribute(function, cuda::kMaxDynamicSharedSizeBytes,
                                                       int(config.sharedBytes)))
      return failed("setting the shared memory of a block", status);

  cuda::LaunchAttribute *attributes = to.attributes;
  unsigned count = 0;
  unsigned clusterSize = config.cluster.x * config.cluster.y * config.cluster.z;
  const emu::Dim3 &preferred = config.preferredCluster;
  const unsigned preferredSize = preferred.x * preferred.y * preferred.z;
  if (clusterSize > 1 || preferredSize) {
    attributes[count].id = cuda::kLaunchClusterDimension;
    attributes[count++].value.cluster = {config.cluster.x, config.cluster.y, config.cluster.z};
  }
  if (preferredSize) {
    attributes[count].id = cuda::kLaunchPreferredClusterDimension;
    attributes[count++].value.cluster = {preferred.x, preferred.y, preferred.z};
  }
  if (std::max(clusterSize, preferredSize) > 8) // 8 is the portable limit
    if (cuda::Status status =
            api.functionSetAttribute(function, cuda::kNonPortableClusterSizeAllowed, 1))
      return failed("allowing a cluster of more than 8 blocks", status);
  if (config.oversizedShared) {
    attributes[count].id = cuda::kLaunchSharedMemoryMode;
    attributes[count++].value.sharedMemoryMode = cuda::kSharedMemoryModeAllowOversized;
  }
  if (config.programmaticStreamSerialization) {
    attributes[count].id = cuda::kLaunchProgrammaticStreamSerialization;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  to.launch = {{config.grid.x, config.grid.y, config.grid.z},
               {config.block.x, config.block.y, config.block.z},
               unsigned(config.sharedBytes),
               /*stream=*/nullptr,
               attributes,
               count};
  to.slots.resize(config.params.size());
  for (size_t i = 0; i < config.params.size(); ++i) {
    const std::vector<uint8_t> &bytes = config.params[i].bytes;
    to.slots[i].resize(bytes.size() / sizeof(Prepared::Chunk) + 1);
    std::memcpy(to.slots[i].data(), bytes.data(), bytes.size());
    to.params.push_back(to.slots[i].data());
  }
  return true;
}

Result<bool> CudaDevice::submit(Prepared &prepared, const std::string &kernel) {
  if (cuda::Status status =
          api.launchKernel(&prepared.launch, prepared.function, prepared.params.data(), nullptr))
    return failed(("launching '" + kernel + "'").c_str(), status);
  return true;
}

Result<bool> CudaDevice::record(size_t index) {
  while (events.size() <= index) {
    cuda::Event event = nullptr;
    if (cuda::Status status = api.eventCreate(&event, 0))
      return failed("cuEventCreate", status);
    events.push_back(event);
  }
  if (cuda::Status status = api.eventRecord(events[index], nullptr))
    return failed("cuEventRecord", status);
  return true;
}

Result<double> CudaDevice::secondsBetween(size_t first, size_t second) {
  float milliseconds = 0;
  if (cuda::Status status = api.eventElapsedTime(&milliseconds, events[first], events[second]))
    return failed("cuEventElapsedTime", status);
  return double(milliseconds) / 1000;
}

Result<std::vector<double>> CudaDevice::runBatch(Prepared &prepared, const std::string &kernel,
                                                 size_t count) {
  Result<bool> status = record(0);
  for (size_t i = 0; i < count && status; ++i) {
    status = submit(prepared, kernel);
    if (status)
      status = record(i + 1);
  }
  if (!status)
    return status.takeRefusal();
  if (cuda::Status code = api.contextSynchronize())
    return failed(("running '" + kernel + "'").c_str(), code);
  std::vector<double> seconds;
  for (size_t i = 0; i < count; ++i) {
    Result<double> time = secondsBetween(i, i + 1);
    if (!time)
      return time.takeRefusal();
    seconds.push_back(*time);
  }
  return seconds;
}

Result<emu::LaunchStats> CudaDevice::launch(LoadedModule &module, const std::string &kernel,
                                            const emu::LaunchConfig &config) {
  Prepared prepared;
  if (Result<bool> status = prepare(module, kernel, config, prepared); !status)
    return status.takeRefusal();
  Result<std::vector<double>> seconds = runBatch(prepared, kernel, 1);
  if (!seconds)
    return seconds.takeRefusal();
  emu::LaunchStats stats;
  stats.seconds = seconds->front();
  return stats;
}

Result<std::vector<double>> CudaDevice::time(LoadedModule &module, const std::string &kernel,
                                             const emu::LaunchConfig &config, uint64_t warmup,
                                             uint64_t repeat) {
  Prepared prepared;
  if (Result<bool> status = prepare(module, kernel, config, prepared); !status)
    return status.takeRefusal();
  std::vector<double> seconds;
  for (uint64_t done = 0; done < warmup + repeat;) {
    size_t count = size_t(std::min<uint64_t>(warmup + repeat - done, kTimedBatch));
    Result<std::vector<double>> batch = runBatch(prepared, kernel, count);
    if (!batch)
      return batch.takeRefusal();
    for (double time : *batch)
      if (done++ >= warmup)
        seconds.push_back(time);
  }
  return seconds;
}

Result<KernelInfo> CudaDevice::describe(LoadedModule &module, const std::string &kernel,
                                        const emu::LaunchConfig &config) {
  Prepared prepared;
  if (Result<bool> status = prepare(module, kernel, config, prepared); !status)
    return status.takeRefusal();
  int registers = 0, localBytes = 0, blocks = 0;
  for (auto [value, attribute] :
       {std::pair(&registers, cuda::kRegisters), std::pair(&localBytes, cuda::kLocalSizeBytes)})
    if (cuda::Status status = api.functionGetAttribute(value, attribute, prepared.function))
      return failed("cuFuncGetAttribute", status);
  int threads = int(config.block.x * config.block.y * config.block.z);
  if (cuda::Status status =
          api.occupancy(&blocks, prepared.function, threads, size_t(config.sharedBytes)))
    return failed("cuOccupancyMaxActiveBlocksPerMultiprocessor", status);
  return KernelInfo{uint32_t(registers), uint32_t(localBytes), uint32_t(blocks)};
}

} // namespace

Result<std::unique_ptr<RuntimeDevice>> createCudaDevice() {
  auto device = std::make_unique<CudaDevice>();
  if (Result<bool> opened = device->open(); !opened)
    return opened.takeRefusal();
  return std::unique_ptr<RuntimeDevice>(std::move(device));
}

} // namespace blockscale::rt
