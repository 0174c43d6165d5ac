//===- Runtime.cpp - the C interface --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Runtime.h"

#include "Device.h"

using namespace blockscale;
using namespace blockscale::rt;

struct bsrt_device {
  std::unique_ptr<RuntimeDevice> impl;
  std::string description;
  std::string labels, warnings;
};

struct bsrt_module {
  std::unique_ptr<LoadedModule> impl;
};

namespace {

template <typename T> bsrt_status statusOf(const Result<T> &result) {
  return result ? BSRT_OK : refuse(result.message());
}

bsrt_status checkVersion(uint32_t version, const char *what) {
  if (version >= BSRT_ABI_OLDEST && version <= BSRT_ABI_VERSION)
    return BSRT_OK;
  return refuse(std::string("runtime: ") + what + " must be of version " +
                std::to_string(BSRT_ABI_OLDEST) + " to " + std::to_string(BSRT_ABI_VERSION) +
                ", got " + std::to_string(version));
}

bsrt_status convert(const bsrt_options *from, emu::Options &to) {
  if (!from)
    return BSRT_OK;
  if (checkVersion(from->abi_version, "options"))
    return BSRT_ERROR;
  if (from->timing > BSRT_TIMING_RANDOM)
    return refuse("runtime: timing must be 0 to 2, got " + std::to_string(from->timing));
  to.timing = emu::Timing(from->timing);
  to.seed = from->seed;
  to.threads = std::max(from->threads, 1u);
  to.sms = from->sms;
  to.maxInstructions = from->max_instructions;
  if (from->hazards > BSRT_HAZARDS_STRICT)
    return refuse("runtime: hazards must be 0 to 2, got " + std::to_string(from->hazards));
  if (from->hazards_denied >> (emu::kHazardAssumptions + 1) || (from->hazards_denied & 1))
    return refuse("runtime: denied assumptions must be bits 1 to " +
                  std::to_string(emu::kHazardAssumptions) + ", got " +
                  std::to_string(from->hazards_denied));
  constexpr emu::HazardMode kModes[] = {emu::HazardMode::on, emu::HazardMode::off,
                                        emu::HazardMode::strict};
  to.hazards.mode = kModes[from->hazards];
  to.hazards.denied = from->hazards_denied;
  if (from->unmodelled > 1)
    return refuse("runtime: unmodelled must be 0 or 1, got " + std::to_string(from->unmodelled));
  to.unmodelled = from->unmodelled ? emu::Unmodelled::refuse : emu::Unmodelled::extend;
  if (from->abi_version >= 3) {
    to.residentClusters = from->resident_clusters;
    if (from->cluster_choice > BSRT_CLUSTERS_FALLBACK)
      return refuse("runtime: cluster choice must be 0 to 2, got " +
                    std::to_string(from->cluster_choice));
    to.clusterChoice = emu::ClusterChoice(from->cluster_choice);
  }
  if (from->abi_version >= 5 && from->poll_limit)
    to.pollLimit = from->poll_limit;
  to.hazards.manual = from->early_manual ? emu::ManualRevision::early : emu::ManualRevision::ptx94;
  return BSRT_OK;
}

bsrt_status convert(const bsrt_launch_config *config, emu::LaunchConfig &converted) {
  if (checkVersion(config->abi_version, "launch configuration"))
    return BSRT_ERROR;
  converted.grid = {config->grid[0], config->grid[1], config->grid[2]};
  converted.block = {config->block[0], config->block[1], config->block[2]};
  converted.cluster = {config->cluster[0], config->cluster[1], config->cluster[2]};
  if (config->abi_version >= 3)
    converted.preferredCluster = {config->preferred_cluster[0], config->preferred_cluster[1],
                                  config->preferred_cluster[2]};
  if (config->abi_version >= 4)
    converted.programmaticStreamSerialization = config->programmatic_stream_serialization != 0;
  if (config->abi_version >= 5)
    converted.registers = config->registers;
  converted.sharedBytes = config->shared_bytes;
  converted.oversizedShared = config->oversized_shared != 0;
  for (uint32_t i = 0; i < config->param_count; ++i) {
    const uint8_t *bytes = static_cast<const uint8_t *>(config->params[i].bytes);
    converted.params.push_back({std::vector<uint8_t>(bytes, bytes + config->params[i].size)});
  }
  return BSRT_OK;
}

} // namespace

uint32_t bsrt_abi_version(void) { return BSRT_ABI_VERSION; }

bsrt_status bsrt_device_open(const char *name, const bsrt_options *options, bsrt_device **device) {
  emu::Options converted;
  if (convert(options, converted))
    return BSRT_ERROR;
  std::string_view kind = name ? name : "";
  std::unique_ptr<RuntimeDevice> impl;
  if (kind == "emulator") {
    impl = createEmulatorDevice(converted);
  } else if (kind == "cuda") {
    Result<std::unique_ptr<RuntimeDevice>> opened = createCudaDevice();
    if (!opened)
      return refuse(opened.message());
    impl = std::move(*opened);
  } else {
    return refuse("runtime: device must be emulator or cuda, got '" + std::string(kind) + "'");
  }
  std::string description = impl->description();
  *device = new bsrt_device{std::move(impl), std::move(description), {}, {}};
  return BSRT_OK;
}

void bsrt_device_close(bsrt_device *device) { delete device; }

const char *bsrt_device_description(const bsrt_device *device) {
  return device->description.c_str();
}

bsrt_status bsrt_device_set_options(bsrt_device *device, const bsrt_options *options) {
  emu::Options converted;
  if (convert(options, converted))
    return BSRT_ERROR;
  device->impl->setOptions(converted);
  return BSRT_OK;
}

bsrt_status bsrt_module_load(bsrt_device *device, const char *ptx, size_t size,
                             const char *file_name, bsrt_module **module) {
  Result<std::unique_ptr<LoadedModule>> loaded =
      device->impl->load(std::string_view(ptx, size), file_name ? file_name : "ptx");
  if (!loaded)
    return refuse(loaded.message());
  *module = new bsrt_module{std::move(*loaded)};
  return BSRT_OK;
}

void bsrt_module_close(bsrt_module *module) { delete module; }

bsrt_status bsrt_alloc(bsrt_device *device, size_t bytes, uint64_t *address) {
  Result<uint64_t> result = device->impl->allocate(bytes);
  if (result)
    *address = *result;
  return statusOf(result);
}

bsrt_status bsrt_free(bsrt_device *device, uint64_t address) {
  return statusOf(device->impl->release(address));
}

bsrt_status bsrt_write(bsrt_device *device, uint64_t address, const void *from, size_t bytes) {
  return statusOf(device->impl->write(address, from, bytes));
}

bsrt_status bsrt_read(bsrt_device *device, uint64_t address, void *to, size_t bytes) {
  return statusOf(device->impl->read(address, to, bytes));
}

bsrt_status bsrt_tensor_map_encode(bsrt_device *device, const bsrt_tensor_map *map,
                                   uint8_t *bytes) {
  if (checkVersion(map->abi_version, "tensor map"))
    return BSRT_ERROR;
  if (map->rank < 1 || map->rank > 5)
    return refuse("runtime: rank of a tensor map must be 1 to 5, got " + std::to_string(map->rank));
  if (map->type >= facts::kTmaTypeNames.size() || map->swizzle >= facts::kTmaSwizzleNames.size() ||
      map->fill >= facts::kTmaFillNames.size() || map->l2 >= facts::kTmaL2PromotionNames.size())
    return refuse("runtime: codes of a tensor map must be the driver's, got type " +
                  std::to_string(map->type) + ", swizzle " + std::to_string(map->swizzle) +
                  ", fill " + std::to_string(map->fill) + ", l2 " + std::to_string(map->l2));
  facts::TensorMap converted;
  converted.type = facts::TmaType(map->type);
  converted.address = map->address;
  converted.dims.assign(map->dims, map->dims + map->rank);
  if (map->rank > 1) // one dimension has no stride, and its pointer may be null
    converted.strides.assign(map->strides, map->strides + (map->rank - 1));
  converted.box.assign(map->box, map->box + map->rank);
  if (map->element_strides)
    converted.elementStrides.assign(map->element_strides, map->element_strides + map->rank);
  converted.swizzle = facts::TmaSwizzle(map->swizzle);
  converted.fill = facts::TmaFill(map->fill);
  converted.l2 = facts::TmaL2Promotion(map->l2);
  Result<std::vector<uint8_t>> encoded = device->impl->encode(converted);
  if (encoded)
    std::copy(encoded->begin(), encoded->end(), bytes);
  return statusOf(encoded);
}

bsrt_status bsrt_launch(bsrt_device *device, bsrt_module *module, const char *kernel,
                        const bsrt_launch_config *config, bsrt_launch_stats *stats) {
  emu::LaunchConfig converted;
  if (convert(config, converted))
    return BSRT_ERROR;
  Result<emu::LaunchStats> result = device->impl->launch(*module->impl, kernel, converted);
  if (!result)
    return refuse(result.message());
  device->labels.clear();
  for (const std::string &label : result->evidence)
    device->labels += (device->labels.empty() ? "" : "; ") + label;
  device->warnings.clear();
  for (const std::string &warning : result->warnings)
    device->warnings.append(warning).push_back('\0');
  if (stats)
    *stats = {result->seconds,  result->threadInstructions, result->mmaInstructions,
              result->mmaFlops, device->labels.c_str(),     device->warnings.c_str()};
  return BSRT_OK;
}

bsrt_status bsrt_launch_timed(bsrt_device *device, bsrt_module *module, const char *kernel,
                              const bsrt_launch_config *config, uint64_t warmup, uint64_t repeat,
                              double *seconds) {
  emu::LaunchConfig converted;
  if (convert(config, converted))
    return BSRT_ERROR;
  Result<std::vector<double>> times =
      device->impl->time(*module->impl, kernel, converted, warmup, repeat);
  if (times)
    std::copy(times->begin(), times->end(), seconds);
  return statusOf(times);
}

bsrt_status bsrt_kernel_info_get(bsrt_device *device, bsrt_module *module, const char *kernel,
                                 const bsrt_launch_config *config, bsrt_kernel_info *info) {
  emu::LaunchConfig converted;
  if (checkVersion(info->abi_version, "kernel info") || convert(config, converted))
    return BSRT_ERROR;
  Result<KernelInfo> found = device->impl->describe(*module->impl, kernel, converted);
  if (found)
    *info = {info->abi_version, found->registers, found->localBytes, found->blocksPerSm};
  return statusOf(found);
}
