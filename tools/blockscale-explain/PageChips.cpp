//===- PageChips.cpp - targets, features, products ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/CycleModel.h"
#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/MmaRate.h"
#include "blockscale/Facts/Products.h"

#include <cstdio>

namespace blockscale::explain {

using namespace facts; // NOLINT: a tool's own file

static std::string kib(int bytes) { return count(bytes / kKiB); }

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

static void printLimits() {
  heading("Targets");
  paragraph("Shared memory in KiB. A family target (`f`) has the limits of the chip it is named "
            "after. `runs code for` is the partial order that `covers(have, need)` answers from.");
  {
    Table table({"target", "shared / SM", "/ block", "oversized / SM", "/ block", "threads / SM",
                 "blocks / SM", "TMEM columns", "descriptor address bits", ".version", "source"});
    for (const ArchInfo &row : kArchInfos)
      table.row({std::string(name(row.arch)), kib(row.sharedPerSm), kib(row.sharedPerBlock),
                 kib(row.sharedPerSmOversized), kib(row.sharedPerBlockOversized),
                 count(row.threadsPerSm), count(row.blocksPerSm), count(row.tmemColumns),
                 count(row.smemAddressBits), joinText(row.ptx.major, ".", row.ptx.minor),
                 std::string(row.source)});
  }
  {
    Table table({"target", "runs code for"});
    for (const ArchCover &row : kArchCovers)
      table.row({std::string(name(row.have)), targets(row.covers)});
  }
  std::printf("Every target: %d registers an SM and a block, %d a thread, %d threads a block, %d "
              "KiB of shared memory reserved a block, %d KiB without opting in.\n\n",
              kRegistersPerSm, kRegistersPerThread, kThreadsPerBlock,
              kSharedReservedPerBlock / kKiB, kSharedWithoutOptIn / kKiB);
}

static void printFeatures() {
  heading("Features");
  paragraph("`needs` lists the targets that introduce the feature; whatever covers one has it.");
  std::vector<std::string> header{"feature", "what"};
  for (std::string_view arch : kArchNames)
    header.emplace_back(arch.substr(3));
  header.emplace_back("needs");
  header.emplace_back("source");
  Table table(header);
  for (const FeatureInfo &row : kFeatures) {
    std::vector<std::string> cells{std::string(row.name), std::string(row.what)};
    for (size_t i = 0; i < kArchNames.size(); ++i)
      cells.emplace_back(supports(Arch(i), row.feature) ? "yes" : "");
    cells.push_back(targets(row.needs));
    cells.emplace_back(row.source);
    table.row(cells);
  }
}

static void printProducts() {
  heading("Products");
  paragraph("Dense TFLOP/s (TOP/s for int8). For models and reports only: a runtime asks the "
            "device.");
  Table table({"product", "target", "SMs", "GPCs", "MHz", "L2 MiB", "GB/s", "FP4", "FP8", "BF16",
               "INT8", "source"});
  for (const Product &row : kProducts)
    table.row({std::string(row.name), std::string(name(row.arch)), count(row.sms), count(row.gpcs),
               count(row.clockMHz), count(row.l2MiB), count(row.memoryGBs), count(row.fp4),
               count(row.fp8), count(row.bf16), count(row.int8), std::string(row.source)});
}

static void printRates() {
  heading("Rates");
  paragraph("Multiply-adds per clock and SM of the tensor cores, dense.");
  {
    Table table({"target", "FP4", "FP8, FP6, mixed", "INT8", "BF16", "source"});
    for (const MmaRate &row : kMmaRates)
      table.row({std::string(name(row.arch)), count(row.fp4), count(row.fp8), count(row.int8),
                 count(row.bf16), std::string(row.source)});
  }
  paragraph("Other rates per clock and SM.");
  {
    Table table({"what", "rate", "unit", "source"});
    for (const Rate &row : kRates)
      table.row({std::string(row.name), number(row.value), std::string(row.unit),
                 std::string(row.source)});
  }
  paragraph("Cycles from one `tcgen05.mma` to the next: the larger of the pipe (N/2, for a pair "
            "with M = 128 N/4) and shared memory ((rows of A + rows of B) x row bytes / 128, plus "
            "3 for a pair with M = 256), and at least 44 for one CTA with M = 128 and A in shared "
            "memory. Measured with 32-byte rows; 48 and 64 are extrapolated.");
  Table table({"instruction", "N = 64", "N = 128", "N = 256"});
  const struct {
    const char *what;
    MmaCost cost;
  } kRows[] = {
      {"one CTA, M = 128, 32 B", {1, 128, 0, 32}},
      {"one CTA, M = 128, 32 B, A in TMEM", {1, 128, 0, 32, true}},
      {"pair, M = 256, 32 B", {2, 256, 0, 32}},
      {"pair, M = 128, 32 B", {2, 128, 0, 32}},
      {"one CTA, M = 128, 48 B (extrapolated)", {1, 128, 0, 48}},
      {"one CTA, M = 128, 64 B (extrapolated)", {1, 128, 0, 64}},
      {"pair, M = 256, 64 B (extrapolated)", {2, 256, 0, 64}},
  };
  for (const auto &row : kRows) {
    std::vector<std::string> cells{row.what};
    for (int n : {64, 128, 256}) {
      MmaCost cost = row.cost;
      cost.n = n;
      cells.push_back(number(mmaCycles(cost)));
    }
    table.row(cells);
  }
}

void printChips() {
  printLimits();
  printFeatures();
  printProducts();
  printRates();
}

} // namespace blockscale::explain
