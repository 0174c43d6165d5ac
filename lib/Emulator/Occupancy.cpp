//===- Occupancy.cpp - how many clusters are resident ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits of an SM are the facts'; what nobody has published limits nothing. How
// many registers ptxas will give a kernel is known only where the launch or .maxnreg says
// it: .minnctapersm, .maxntid and .reqntid promise that so many CTAs fit, which is no upper
// limit. Its tensor memory is known only where every allocation is a number.
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/Products.h"
#include "blockscale/Facts/Registers.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

uint64_t ctasPerSm(const Launch &launch) {
  const facts::ArchInfo &chip = facts::info(launch.module.archValue);
  uint64_t ctas = uint64_t(chip.blocksPerSm), threads = uint64_t(launch.warpsPerCta) * 32;
  if (chip.threadsPerSm)
    ctas = std::min(ctas, uint64_t(chip.threadsPerSm) / threads);
  uint64_t registers = launch.config.registers;
  if (auto maxnreg = launch.kernel.directives.find("maxnreg");
      !registers && maxnreg != launch.kernel.directives.end() && !maxnreg->second.empty())
    registers = maxnreg->second[0];
  if (registers)
    ctas = std::min(ctas, uint64_t(facts::kRegistersPerSm) /
                              facts::blockRegisters(launch.warpsPerCta, registers));
  uint64_t shared = launch.sharedBytes - kSharedBase + uint64_t(facts::kSharedReservedPerBlock);
  uint64_t pool =
      uint64_t(launch.config.oversizedShared ? chip.sharedPerSmOversized : chip.sharedPerSm);
  ctas = std::min(ctas, pool / shared);
  if (launch.kernel.tmemColumns)
    ctas = std::min(ctas, uint64_t(chip.tmemColumns) / launch.kernel.tmemColumns);
  return std::max<uint64_t>(ctas, 1);
}

} // namespace

uint64_t residentClusters(const Launch &launch, unsigned ctas) {
  const facts::Product *product = facts::modelProduct(launch.module.archValue);
  uint64_t perSm = ctasPerSm(launch), sms = launch.sms, clusters;
  // A cluster lies within one GPC. How the SMs of a unit are spread is not public: evenly.
  if (product->gpcs && ctas > 1 && sms >= uint64_t(product->gpcs))
    clusters = uint64_t(product->gpcs) * (sms / uint64_t(product->gpcs) * perSm / ctas);
  else
    clusters = sms * perSm / ctas;
  return std::max<uint64_t>(clusters, 1);
}

} // namespace blockscale::emu
