//===- Device.h - what stands behind the C interface ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_DEVICE_H
#define BLOCKSCALE_LIB_RUNTIME_DEVICE_H

#include "blockscale/Emulator/Emulator.h"
#include "blockscale/Runtime/Runtime.h"

#include <memory>
#include <string>

namespace blockscale::rt {

using facts::Refusal;
using facts::Result;

/// A module as one device loaded it.
class LoadedModule {
public:
  virtual ~LoadedModule() = default;
};

/// What a kernel takes of an SM; 0: unknown.
struct KernelInfo {
  uint32_t registers = 0, localBytes = 0, blocksPerSm = 0;
};

/// One device; the C functions are thin wrappers around it.
class RuntimeDevice {
public:
  virtual ~RuntimeDevice() = default;
  virtual std::string description() const = 0;
  virtual void setOptions(const emu::Options &options) = 0;
  virtual Result<std::unique_ptr<LoadedModule>> load(std::string_view ptx,
                                                     const std::string &fileName) = 0;
  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  virtual Result<bool> release(uint64_t address) = 0;
  virtual Result<bool> write(uint64_t address, const void *from, size_t bytes) = 0;
  virtual Result<bool> read(uint64_t address, void *to, size_t bytes) = 0;
  virtual Result<std::vector<uint8_t>> encode(const facts::TensorMap &map) = 0;
  virtual Result<emu::LaunchStats> launch(LoadedModule &module, const std::string &kernel,
                                          const emu::LaunchConfig &config) = 0;
  /// Seconds of each of `repeat` launches that follow `warmup` others.
  virtual Result<std::vector<double>> time(LoadedModule &module, const std::string &kernel,
                                           const emu::LaunchConfig &config, uint64_t warmup,
                                           uint64_t repeat) = 0;
  virtual Result<KernelInfo> describe(LoadedModule &module, const std::string &kernel,
                                      const emu::LaunchConfig &config) = 0;
};

std::unique_ptr<RuntimeDevice> createEmulatorDevice(const emu::Options &options);
Result<std::unique_ptr<RuntimeDevice>> createCudaDevice();

/// Keeps `message` as this thread's last refusal and returns BSRT_ERROR.
bsrt_status refuse(std::string message);

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_RUNTIME_DEVICE_H
