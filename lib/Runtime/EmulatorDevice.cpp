//===- EmulatorDevice.cpp - the emulator as a runtime device --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

namespace blockscale::rt {

namespace {

class EmulatorModule final : public LoadedModule {
public:
  explicit EmulatorModule(std::shared_ptr<emu::Module> module) : module(std::move(module)) {}
  std::shared_ptr<emu::Module> module;
};

class EmulatorDevice final : public RuntimeDevice {
public:
  explicit EmulatorDevice(const emu::Options &options) : device(emu::Device::create(options)) {}

  std::string description() const override { return "emulator"; }
  void setOptions(const emu::Options &options) override { device->setOptions(options); }

  Result<std::unique_ptr<LoadedModule>> load(std::string_view ptx,
                                             const std::string &fileName) override {
    Result<std::shared_ptr<emu::Module>> module = device->load(ptx, fileName);
    if (!module)
      return module.takeRefusal();
    arch = (*module)->arch();
    return std::unique_ptr<LoadedModule>(std::make_unique<EmulatorModule>(*module));
  }
  Result<uint64_t> allocate(size_t bytes) override { return device->allocate(bytes); }
  Result<bool> release(uint64_t address) override { return device->release(address); }
  Result<bool> write(uint64_t address, const void *from, size_t bytes) override {
    return device->write(address, from, bytes);
  }
  Result<bool> read(uint64_t address, void *to, size_t bytes) override {
    return device->read(address, to, bytes);
  }
  Result<std::vector<uint8_t>> encode(const facts::TensorMap &map) override {
    return emu::encodeTensorMap(arch, map);
  }
  Result<emu::LaunchStats> launch(LoadedModule &module, const std::string &kernel,
                                  const emu::LaunchConfig &config) override {
    return device->launch(*static_cast<EmulatorModule &>(module).module, kernel, config);
  }
  Result<std::vector<double>> time(LoadedModule &module, const std::string &kernel,
                                   const emu::LaunchConfig &config, uint64_t warmup,
                                   uint64_t repeat) override {
    std::vector<double> seconds;
    for (uint64_t i = 0; i < warmup + repeat; ++i) {
      Result<emu::LaunchStats> stats = launch(module, kernel, config);
      if (!stats)
        return stats.takeRefusal();
      if (i >= warmup)
        seconds.push_back(stats->seconds);
    }
    return seconds;
  }
  /// Registers are ptxas's choice.
  Result<KernelInfo> describe(LoadedModule &, const std::string &,
                              const emu::LaunchConfig &) override {
    return KernelInfo();
  }

private:
  std::unique_ptr<emu::Device> device;
  // The device is what its kernels are for; maps made before any is known are judged for
  // the chip that takes most, and again when they are used.
  facts::Arch arch = facts::Arch::sm_107a;
};

} // namespace

std::unique_ptr<RuntimeDevice> createEmulatorDevice(const emu::Options &options) {
  return std::make_unique<EmulatorDevice>(options);
}

} // namespace blockscale::rt
