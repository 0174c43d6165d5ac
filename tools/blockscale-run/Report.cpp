//===- Report.cpp - what ran, for people and for scripts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "blockscale/Support/Array.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace blockscale::run {

using llvm::json::Object;
using rt::LaunchRecord;

static std::string dims(const uint32_t (&v)[3]) {
  return llvm::formatv("{0}x{1}x{2}", v[0], v[1], v[2]);
}

static void printLaunch(const LaunchRecord &launch, const KernelPlan *plan, const Report &report) {
  llvm::raw_ostream &os = llvm::outs();
  os << "kernel " << launch.kernel << ": ";
  bool isWarpKernel = plan && !plan->kernel.empty();
  bool isQuantizer = plan && plan->tile.empty();
  if (plan)
    os << plan->format << " " << plan->problem << ", "
       << (isQuantizer ? "" : plan->instruction + ", tile " + plan->tile + ", ");
  if (isWarpKernel && !isQuantizer)
    os << plan->kernel << ", " << plan->stages << (plan->stages == 1 ? " stage, " : " stages, ")
       << "split " << plan->split << ", ";
  else if (isWarpKernel)
    os << plan->kernel << ", ";
  if (isWarpKernel)
    os << plan->blocks << " blocks/SM, "
       << (plan->fallback.empty() ? "" : "instead of " + plan->fallback + ", ");
  else if (plan)
    os << plan->stages << " stages, "
       << (plan->quantizer.empty() ? "" : "quantised to " + plan->quantizer + ", ");
  os << "grid " << dims(launch.grid) << ", " << launch.sharedBytes << " shared bytes"
     << (launch.isOversized ? " (oversized)" : "");
  if (plan && !isWarpKernel)
    os << ", " << plan->tmemColumns << " TMEM columns";
  os << "; " << report.device << llvm::formatv(" {0:f3} s", launch.seconds);
  if (report.timedLaunches)
    os << llvm::formatv(", median of {0}: {1:f2} us", report.timedLaunches, launch.seconds * 1e6);
  if (launch.mmaInstructions)
    os << ", " << launch.mmaInstructions << " MMA";
  if (launch.check) {
    const bsrt_check_result &check = launch.check->result;
    os << llvm::formatv("; error {0:e2} of bound {1:e2} at [{2}, {3}]", check.error, check.bound,
                        check.row, check.col);
    if (check.nans)
      os << ", " << check.nans << " NaN as in the reference";
  } else if (report.isCheckAsked && isQuantizer) {
    os << "; not checked: --check compares products";
  } else if (report.isCheckAsked) {
    os << "; not checked: no blockscale.check_gemm follows the launch";
  }
  if (!launch.labels.empty())
    os << "; " << launch.labels;
  os << "\n";
}

/// What runs under other timings may say of other warps and bytes: rule and lines only.
static std::string keyOf(const std::string &warning) {
  std::string key;
  for (size_t i = 0; i < warning.size(); ++i) {
    if (warning[i] == '(')
      i = std::min(warning.find(')', i), warning.size() - 1);
    else if (warning.compare(i, 2, "0x") == 0)
      i = std::min(warning.find_first_of(" .,", i), warning.size()) - 1;
    else
      key += warning[i];
  }
  return key;
}

void addWarnings(Report &report, const std::vector<LaunchRecord> &launches) {
  for (const LaunchRecord &launch : launches)
    for (const std::string &warning : launch.warnings)
      report.warnings.emplace(keyOf(warning), warning);
}

void takeMedians(Report &report, uint64_t repeat) {
  report.timedLaunches = repeat;
  for (LaunchRecord &launch : report.launches) {
    if (launch.times.empty())
      continue;
    llvm::sort(launch.times);
    size_t half = launch.times.size() / 2;
    launch.seconds = launch.times.size() % 2 ? launch.times[half]
                                             : (launch.times[half - 1] + launch.times[half]) / 2;
  }
}

/// Times of each kernel, and the blocks of an SM: planned and as the driver says.
static void printTimes(const Report &report) {
  llvm::raw_ostream &os = llvm::outs();
  auto row = [&](auto &&...cells) {
    os << llvm::formatv("{0,-14} {1,10} {2,10} {3,10} {4,9} {5,9} {6,8} {7,8} {8,9} {9,7}",
                        cells...)
       << "\n";
  };
  auto known = [](int64_t value) { return value ? std::to_string(value) : std::string("-"); };
  auto rate = [](double work, double seconds, double unit) {
    return work && seconds ? llvm::formatv("{0:f1}", work / seconds / unit).str()
                           : std::string("-");
  };
  row("kernel", "median us", "least us", "most us", "TOPS", "GB/s", "planned", "blocks/SM",
      "registers", "local B");
  for (const LaunchRecord &launch : report.launches) {
    auto found = report.plans.find(launch.kernel);
    KernelPlan plan = found == report.plans.end() ? KernelPlan() : found->second;
    if (auto blocks = report.plannedBlocks.find(launch.kernel);
        blocks != report.plannedBlocks.end())
      plan.blocks = blocks->second;
    auto us = [](double seconds) { return llvm::formatv("{0:f2}", seconds * 1e6).str(); };
    bool isKnown = launch.info.registers;
    row(launch.kernel, us(launch.seconds), us(launch.times.front()), us(launch.times.back()),
        rate(plan.flops, launch.seconds, 1e12), rate(plan.bytes, launch.seconds, 1e9),
        known(plan.blocks), known(launch.info.blocks_per_sm), known(launch.info.registers),
        isKnown ? std::to_string(launch.info.local_bytes) : std::string("-"));
  }
}

void printReport(const Report &report) {
  for (const auto &[key, warning] : report.warnings)
    llvm::errs() << "blockscale-run: warning: " << warning << "\n";
  for (const LaunchRecord &launch : report.launches) {
    auto plan = report.plans.find(launch.kernel);
    printLaunch(launch, plan == report.plans.end() ? nullptr : &plan->second, report);
  }
  if (report.timedLaunches)
    printTimes(report);
  if (report.isCheckAsked && report.launches.empty())
    llvm::outs() << "note: --check compared nothing: @" << report.entry << " launches no kernel\n";
  if (report.runs.size() > 1) {
    llvm::outs() << "same bits under";
    for (size_t i = 0; i < report.runs.size(); ++i)
      llvm::outs() << (i ? ", " : " ") << report.runs[i];
    llvm::outs() << "\n";
  }
  llvm::outs().flush();
}

/// JSON has no infinity.
static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static llvm::json::Array array(const uint32_t (&v)[3]) {
  return llvm::json::Array{v[0], v[1], v[2]};
}

static Object toJson(const LaunchRecord &launch) {
  Object object{{"kernel", launch.kernel},
                {"grid", array(launch.grid)},
                {"block", array(launch.block)},
                {"cluster", array(launch.cluster)},
                {"shared_bytes", int64_t(launch.sharedBytes)},
                {"shared_mode", launch.isOversized ? "oversized" : "default"},
                {"seconds", launch.seconds},
                {"thread_instructions", int64_t(launch.threadInstructions)},
                {"mma_instructions", int64_t(launch.mmaInstructions)},
                {"mma_flops", launch.mmaFlops},
                {"labels", launch.labels}};
  if (!launch.times.empty()) {
    object["times"] = Object{{"launches", int64_t(launch.times.size())},
                             {"median", launch.seconds},
                             {"least", launch.times.front()},
                             {"most", launch.times.back()}};
    if (launch.info.registers)
      object["driver"] = Object{{"blocks_per_sm", launch.info.blocks_per_sm},
                                {"registers", launch.info.registers},
                                {"local_bytes", launch.info.local_bytes}};
  }
  if (launch.preferredCluster[0])
    object["preferred_cluster"] = array(launch.preferredCluster);
  if (launch.programmaticStreamSerialization)
    object["programmatic_stream_serialization"] = true;
  if (launch.registers)
    object["registers"] = launch.registers;
  if (launch.check) {
    const bsrt_check_result &check = launch.check->result;
    object["check"] = Object{{"name", launch.check->name},
                             {"error", number(check.error)},
                             {"bound", number(check.bound)},
                             {"largest_error", number(check.largest_error)},
                             {"row", check.row},
                             {"col", check.col},
                             {"wrong", check.wrong},
                             {"nans", check.nans}};
  }
  return object;
}

facts::Result<bool> writeReport(const Report &report, const std::string &path) {
  llvm::json::Array launches;
  for (const LaunchRecord &launch : report.launches) {
    Object object = toJson(launch);
    if (auto it = report.plans.find(launch.kernel); it != report.plans.end()) {
      const KernelPlan &plan = it->second;
      Object described{{"format", plan.format},           {"problem", plan.problem},
                       {"instruction", plan.instruction}, {"tile", plan.tile},
                       {"stages", plan.stages},           {"accumulators", plan.accumulators},
                       {"epilogue", plan.epilogue},       {"tmem_columns", plan.tmemColumns}};
      if (!plan.quantizer.empty())
        described["quantizer"] = plan.quantizer;
      if (!plan.kernel.empty()) {
        described["kernel"] = plan.kernel;
        described["fallback"] = plan.fallback;
        described["blocks_per_sm"] = plan.blocks;
        described["split"] = plan.split;
      }
      object["plan"] = std::move(described);
    }
    launches.push_back(std::move(object));
  }
  llvm::json::Array warnings;
  for (const auto &[key, warning] : report.warnings)
    warnings.push_back(warning);
  llvm::json::Value root = Object{{"version", 1},
                                  {"device", report.device},
                                  {"arch", report.arch},
                                  {"entry", report.entry},
                                  {"timed_launches", int64_t(report.timedLaunches)},
                                  {"runs", llvm::json::Array(report.runs)},
                                  {"warnings", std::move(warnings)},
                                  {"launches", std::move(launches)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", root) << '\n';
  return rt::writeFile(path, text, "report");
}

} // namespace blockscale::run
