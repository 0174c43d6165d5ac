//===- blockscale-silicon.cpp - the emulator against a GPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs each program of a suite (test/Integration/silicon writes it) on the GPU and
// on the emulator and compares every byte. With --device=emulator the results are
// compared with those that a GPU gave before (--expect).
//
//===----------------------------------------------------------------------===//

#include "Case.h"
#include "Compare.h"
#include "Expect.h"
#include "Workers.h"

#include "blockscale/Support/Json.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

using namespace blockscale;
using namespace blockscale::silicon;
using llvm::json::Array;
using llvm::json::Object;

namespace {

struct Options {
  std::string suite, device = "both", out, only, expect, known;
  size_t workers = 0, every = 1;
  unsigned threads = 1;
  double limit = 120;
  bool isKeeping = false;
};

const char *const kHelp =
    "Runs a suite of PTX programs on a GPU and on the emulator and compares every byte.\n\n"
    "  --suite=DIR      programs: GROUP/NAME.ptx with GROUP/NAME.json (docs/Manifest.md)\n"
    "  --device=NAME    both (default), or emulator\n"
    "  --expect=FILE    with emulator: lines 'NAME HASH' as --out's chip.txt has them\n"
    "  --known=FILE     lines 'NAME REASON': what may differ (NAME may end in *); a line\n"
    "                   whose programs no longer differ is an error\n"
    "  --out=DIR        where report.txt, results.json and chip.txt go\n"
    "  --keep           also write the GPU's bytes where they are not the emulator's to\n"
    "                   DIR/raw, for the group mufu the differences to DIR/tables; with\n"
    "                   --device=emulator the emulator's bytes\n"
    "  --only=TEXT      only programs whose name holds TEXT\n"
    "  --every=N        only every N-th of these; no line of --known is an error then\n"
    "  --workers=N      processes (default: one for each core)\n"
    "  --threads=N      host threads of each emulator (default 1)\n"
    "  --limit=SECONDS  of one program on both devices (default 120)\n";

int fail(const std::string &message) {
  llvm::errs() << "blockscale-silicon: error: " << message << "\n";
  return 1;
}

Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    auto [name, value] = llvm::StringRef(argv[i]).split('=');
    bool isGood = !value.empty();
    if (name == "--suite")
      options.suite = value.str();
    else if (name == "--device")
      isGood = (options.device = value.str()) == "both" || value == "emulator";
    else if (name == "--expect")
      options.expect = value.str();
    else if (name == "--known")
      options.known = value.str();
    else if (name == "--out")
      options.out = value.str();
    else if (name == "--only")
      options.only = value.str();
    else if (name == "--every")
      isGood = !value.getAsInteger(10, options.every) && options.every >= 1;
    else if (name == "--workers")
      isGood = !value.getAsInteger(10, options.workers) && options.workers <= 1024;
    else if (name == "--threads")
      isGood = !value.getAsInteger(10, options.threads) && options.threads <= 1024;
    else if (name == "--limit")
      isGood = !value.getAsDouble(options.limit) && options.limit > 0;
    else if (name == "--keep")
      isGood = options.isKeeping = value.empty();
    else
      return Refusal{"silicon: flag must be one of --help's, got '" + std::string(argv[i]) + "'"};
    if (!isGood)
      return Refusal{"silicon: " + name.str() + " must have a value of --help's kind, got '" +
                     value.str() + "'"};
  }
  if (options.suite.empty())
    return Refusal{"silicon: --suite must be given"};
  if (options.isKeeping && options.out.empty())
    return Refusal{"silicon: --keep must stand with --out"};
  if (!options.workers)
    options.workers = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

std::string hexHash(uint64_t hash) { return llvm::formatv("{0:x-16}", hash); }

struct Mode {
  const char *name;
  bsrt_timing timing;
};
constexpr Mode kModes[] = {{"earliest", BSRT_TIMING_EARLIEST},
                           {"latest", BSRT_TIMING_LATEST},
                           {"seed 1", BSRT_TIMING_RANDOM}};
/// Programs with larger results are arithmetic, whose timing does not matter.
constexpr size_t kAllModesBytes = size_t(1) << 20;

/// How the refusal of results that depend on the timing starts.
constexpr const char *kUnstable = "other bits under ";

/// The devices of one worker, opened when first used.
class Devices {
public:
  explicit Devices(const Options &options) : options(options) {}

  Result<Outcome> runOnChip(const Case &program, bool &isSpoiled) {
    if (!chip && bsrt_device_open("cuda", nullptr, &chip))
      return Refusal{bsrt_error_message()};
    Result<Outcome> outcome = runCase(chip, program);
    // A refused text or map leaves the context whole; a kernel that failed does not.
    isSpoiled = !outcome && outcome.message().find("running '") != std::string::npos;
    return outcome;
  }

  /// What the hazard checks report does not stop a program here; it is kept for the reader,
  /// who knows from the GPU's bytes whether the program is right.
  Result<Outcome> runOnEmulator(const Case &program, std::string &hazard) {
    Result<Outcome> outcome = runOnEmulator(program, BSRT_HAZARDS_ON);
    if (outcome || outcome.message().find(": hazard: ") == std::string::npos)
      return outcome;
    hazard = outcome.message();
    return runOnEmulator(program, BSRT_HAZARDS_OFF);
  }

private:
  /// Refuses when the timings disagree.
  Result<Outcome> runOnEmulator(const Case &program, bsrt_hazards hazards) {
    std::optional<Outcome> first;
    for (const Mode &mode : kModes) {
      bsrt_options run{};
      run.abi_version = BSRT_ABI_VERSION;
      run.timing = mode.timing;
      run.seed = 1;
      run.threads = options.threads;
      run.hazards = hazards;
      if (!emulator && bsrt_device_open("emulator", &run, &emulator))
        return Refusal{bsrt_error_message()};
      if (bsrt_device_set_options(emulator, &run))
        return Refusal{bsrt_error_message()};
      Result<Outcome> outcome = runCase(emulator, program);
      if (!outcome)
        return outcome;
      size_t bytes = 0;
      for (const auto &output : outcome->outputs)
        bytes += output.second.size();
      if (first && first->outputs != outcome->outputs)
        return Refusal{std::string(kUnstable) + mode.name + " than under earliest: " +
                       compare(program, outcome->outputs, first->outputs, mode.name, "earliest")
                           .examples.front()};
      if (!first)
        first = std::move(*outcome);
      if (bytes > kAllModesBytes)
        break;
    }
    return std::move(*first);
  }

  const Options &options;
  bsrt_device *chip = nullptr, *emulator = nullptr;
};

/// Larger results are left out: --out's folder has to travel.
constexpr size_t kMostKept = size_t(1) << 20;

void write(const std::string &folder, const std::string &file, const Bytes &content) {
  std::filesystem::create_directories(folder);
  (void)rt::writeFile(folder + "/" + file,
                      {reinterpret_cast<const char *>(content.data()), content.size()}, "bytes");
}

/// What the GPU gave where it is worth a look: tables of approximations as differences,
/// everything else that is not the emulator's as it is.
void keep(const Options &options, const Case &program, const Buffers &chip,
          const Buffers *emulator) {
  std::string stem = program.name;
  std::replace(stem.begin(), stem.end(), '/', '.');
  for (const auto &[name, bytes] : chip) {
    std::string file = stem + "." + name;
    if (program.name.rfind("mufu/", 0) == 0 && emulator) {
      Bytes differences, escapes;
      formatDifferences(bytes, emulator->at(name), differences, escapes);
      write(options.out + "/tables", file + ".diff", differences);
      write(options.out + "/tables", file + ".escapes", escapes);
    } else if (bytes.size() <= kMostKept) {
      write(options.out + "/raw", file + ".bin", bytes);
    }
  }
}

void addComparison(Object &result, const Comparison &comparison) {
  result["bytes"] = int64_t(comparison.bytes);
  result["elements"] = int64_t(comparison.elements);
  result["mismatches"] = int64_t(comparison.mismatches);
  Object ulps;
  for (const auto &[apart, count] : comparison.ulps)
    ulps[std::to_string(apart)] = int64_t(count);
  if (!ulps.empty())
    result["ulps"] = std::move(ulps);
  if (!comparison.examples.empty())
    result["examples"] = Array(comparison.examples);
}

Object runOne(const Options &options, Devices &devices, const std::string &name, bool &isSpoiled) {
  Object result{{"name", name}};
  Result<Case> program = loadCase(options.suite, name);
  if (!program) {
    result["status"] = "broken";
    result["note"] = program.message();
    return result;
  }
  std::optional<Result<Outcome>> chip;
  if (options.device == "both") {
    chip = devices.runOnChip(*program, isSpoiled);
    if (*chip) {
      result["chip_us"] = (*chip)->seconds * 1e6;
      result["hash"] = hexHash(hashOf((*chip)->outputs));
    } else {
      result["chip_says"] = chip->message();
    }
  }
  std::string hazard;
  Result<Outcome> emulator = devices.runOnEmulator(*program, hazard);
  if (!hazard.empty())
    result["hazard"] = hazard;
  if (emulator) {
    result["emulator_s"] = emulator->seconds;
    result["emulator_hash"] = hexHash(hashOf(emulator->outputs));
  } else {
    result["emulator_says"] = emulator.message();
  }
  bool isUnstable = !emulator && emulator.message().rfind(kUnstable, 0) == 0;
  if (!chip || !*chip || !emulator) {
    if (chip && *chip && options.isKeeping)
      keep(options, *program, (*chip)->outputs, nullptr);
    if (!chip && emulator && options.isKeeping)
      keep(options, *program, emulator->outputs, nullptr);
    result["status"] = isUnstable       ? "unstable"
                       : emulator       ? (chip ? "chip refuses" : "ran")
                       : chip && !*chip ? "both refuse"
                                        : "not executed";
    return result;
  }
  Comparison comparison =
      compare(*program, (*chip)->outputs, emulator->outputs, "chip", "emulator");
  addComparison(result, comparison);
  result["status"] = comparison.mismatches ? "differs" : "same";
  if (options.isKeeping && comparison.mismatches)
    keep(options, *program, (*chip)->outputs, &emulator->outputs);
  return result;
}

std::string field(const Object &result, llvm::StringRef key) {
  return result.getString(key).value_or("").str();
}

/// What there is to say of a case, the first line short.
std::string describe(const Object &result) {
  std::string text = field(result, "status");
  if (auto mismatches = result.getInteger("mismatches"))
    text += llvm::formatv(": {0} of {1} elements differ", *mismatches,
                          result.getInteger("elements").value_or(0));
  for (const char *key : {"known", "note", "chip_says", "emulator_says"})
    if (result.get(key))
      text += (key[0] == 'k'   ? " (" + field(result, "was") + "): "
               : key[0] == 'n' ? "; "
               : key[0] == 'c' ? "; chip: "
                               : "; emulator: ") +
              field(result, key);
  if (const Object *ulps = result.getObject("ulps")) {
    text += "; ulps";
    std::map<int64_t, int64_t> sorted;
    for (const auto &entry : *ulps)
      sorted[std::atoll(entry.first.str().c_str())] = entry.second.getAsInteger().value_or(0);
    for (const auto &[apart, count] : sorted)
      text += llvm::formatv(" {0}:{1}", apart, count);
  }
  return text;
}

struct Summary {
  std::map<std::string, std::map<std::string, int>> groups; // status, count
  std::map<std::string, int> statuses;
  uint64_t bytes = 0;
  int hazards = 0; // programs that the checks report
};

/// Whether a case is right: nothing differs, and in CI it is what a chip gave. What the
/// emulator does not execute is right where no chip's result is there to compare with.
bool isRight(const Object &result, bool isExpected) {
  std::string status = field(result, "status");
  if (status == "not executed")
    return !isExpected && !result.get("hash");
  return status == "same" || status == "ran" || status == "as on the chip" ||
         status == "both refuse" || status == "known";
}

// On a terminal; report.txt has all of it.
constexpr size_t kPrintedWidth = 160, kPrintedProblems = 40;

void print(llvm::raw_ostream &os, const std::vector<Object> &results, const Summary &summary,
           bool isWhole) {
  size_t problems = isWhole ? SIZE_MAX : kPrintedProblems;
  size_t examples = isWhole ? SIZE_MAX : 1;
  os << llvm::formatv("{0,-12} {1}\n", "group", "programs by outcome");
  for (const auto &[group, statuses] : summary.groups) {
    os << llvm::formatv("{0,-12}", group);
    for (const auto &[status, count] : statuses)
      os << " " << count << " " << status << (status == statuses.rbegin()->first ? "" : ",");
    os << "\n";
  }
  os << "all:";
  for (const auto &[status, count] : summary.statuses)
    os << " " << count << " " << status << ",";
  os << " " << summary.bytes << " bytes compared, " << summary.hazards
     << " reported by the hazard checks\n\n";
  for (const Object &result : results) {
    std::string status = field(result, "status");
    bool isFine = status == "same" || status == "ran" || status == "as on the chip" ||
                  (status == "known" && !isWhole);
    if (isFine && !(isWhole && result.get("hazard")))
      continue;
    if (!isWhole && (status == "not executed" || status == "both refuse"))
      continue; // counted above
    if (problems-- == 0) {
      os << "... more in report.txt\n";
      return;
    }
    std::string text = describe(result);
    if (!isWhole && text.size() > kPrintedWidth)
      text = text.substr(0, kPrintedWidth) + "...";
    os << field(result, "name") << ": " << text << "\n";
    if (const Array *list = result.getArray("examples"))
      for (size_t i = 0; i < list->size() && i < examples; ++i)
        os << "    " << (*list)[i].getAsString().value_or("") << "\n";
  }
}

Result<bool> writeFiles(const Options &options, const std::vector<Object> &results,
                        const Summary &summary, const std::string &chipName) {
  std::filesystem::create_directories(options.out);
  std::string report, json, chip;
  llvm::raw_string_ostream reportStream(report);
  print(reportStream, results, summary, /*isWhole=*/true);
  reportStream << "\n";
  Array all;
  for (const Object &result : results) {
    reportStream << llvm::formatv("{0,-48} {1}", field(result, "name"), field(result, "status"));
    if (auto us = result.getNumber("chip_us"))
      reportStream << llvm::formatv("  chip {0:f1} us", *us);
    if (auto seconds = result.getNumber("emulator_s"))
      reportStream << llvm::formatv("  emulator {0:f1} us", *seconds * 1e6);
    reportStream << "\n";
    if (result.get("hash"))
      chip += field(result, "name") + " " + field(result, "hash") +
              (field(result, "status") == "same" ? "" : " " + field(result, "status")) + "\n";
    all.push_back(Object(result));
  }
  llvm::json::Value root = Object{{"version", 1}, {"chip", chipName}, {"cases", std::move(all)}};
  llvm::raw_string_ostream(json) << llvm::formatv("{0:1}", root) << "\n";
  for (const auto &[file, text] : std::map<std::string, std::string>{
           {"/report.txt", report}, {"/results.json", json}, {"/chip.txt", chip}})
    if (Result<bool> status = rt::writeFile(options.out + file, text, "report"); !status)
      return status;
  return true;
}

/// The GPU's name, asked in a process of its own: a driver does not survive a fork.
Result<std::string> findChip() {
  std::string name;
  runInWorkers(
      1, 1, /*limitSeconds=*/120,
      [](size_t) {
        bsrt_device *device = nullptr;
        WorkerResult result;
        result.isSpoiled = bsrt_device_open("cuda", nullptr, &device) != BSRT_OK;
        result.text = result.isSpoiled ? bsrt_error_message() : bsrt_device_description(device);
        result.text.insert(result.text.begin(), result.isSpoiled ? '!' : '=');
        return result;
      },
      [&](size_t, const std::string &text, const std::string &failure) {
        name = failure.empty() ? text : "!silicon: asking for the device " + failure;
      });
  if (name[0] == '!')
    return Refusal{name.substr(1)};
  return name.substr(1);
}

int run(const Options &options) {
  auto names = findCases(options.suite);
  if (!names)
    return fail(names.message());
  std::erase_if(*names, [&](const std::string &name) {
    return name.find(options.only) == std::string::npos;
  });
  size_t kept = 0;
  for (size_t i = 0; i < names->size(); i += options.every)
    std::swap((*names)[kept++], (*names)[i]);
  names->resize(kept);
  std::map<std::string, std::string> expected;
  if (!options.expect.empty()) {
    auto read = readExpected(options.expect);
    if (!read)
      return fail(read.message());
    expected = std::move(*read);
  }
  std::vector<Known> known;
  if (!options.known.empty()) {
    auto read = readKnown(options.known);
    if (!read)
      return fail(read.message());
    known = std::move(*read);
  }
  std::string chipName = "none";
  if (options.device == "both") {
    Result<std::string> chip = findChip();
    if (!chip)
      return fail(chip.message());
    chipName = *chip;
  }

  std::vector<Object> results(names->size());
  Devices devices(options); // each worker has a copy of its own
  runInWorkers(
      names->size(), options.workers, options.limit,
      [&](size_t job) {
        bool isSpoiled = false;
        Object result = runOne(options, devices, (*names)[job], isSpoiled);
        std::string text;
        llvm::raw_string_ostream(text) << llvm::json::Value(std::move(result));
        return WorkerResult{text, isSpoiled};
      },
      [&](size_t job, const std::string &text, const std::string &failure) {
        llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
        if (failure.empty() && value && value->getAsObject()) {
          results[job] = std::move(*value->getAsObject());
          return;
        }
        llvm::consumeError(value.takeError());
        results[job] = Object{{"name", (*names)[job]}, {"status", "lost"}, {"note", failure}};
      });

  Summary summary;
  bool isAllRight = true;
  for (Object &result : results) {
    std::string name = field(result, "name");
    auto it = expected.find(name);
    if (it != expected.end() && result.get("emulator_hash")) {
      bool isSame = field(result, "emulator_hash") == it->second;
      result["status"] = isSame ? "as on the chip" : "not as on the chip";
    }
    bool isFine = isRight(result, it != expected.end());
    if (Known *entry = findKnown(known, name)) {
      entry->programs += options.device == "both" || it != expected.end();
      if (!isFine) {
        ++entry->differing;
        result["was"] = field(result, "status");
        result["status"] = "known";
        result["known"] = entry->reason;
        isFine = true;
      }
    }
    std::string status = field(result, "status");
    ++summary.groups[name.substr(0, name.find('/'))][status];
    ++summary.statuses[status];
    summary.bytes += uint64_t(result.getInteger("bytes").value_or(0));
    summary.hazards += result.get("hazard") != nullptr;
    isAllRight &= isFine;
  }
  llvm::outs() << "device: " << (chipName == "none" ? "emulator alone" : chipName) << "\n";
  print(llvm::outs(), results, summary, /*isWhole=*/false);
  for (const Known &entry : known)
    if (options.every == 1 && entry.isStale()) {
      llvm::outs() << "stale: nothing that " << entry.name << " names differs any more\n";
      isAllRight = false;
    }
  if (!options.out.empty())
    if (Result<bool> status = writeFiles(options, results, summary, chipName); !status)
      return fail(status.message());
  return isAllRight ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--help") {
    llvm::outs() << kHelp;
    return 0;
  }
  Result<Options> options = parseOptions(argc, argv);
  return options ? run(*options) : fail(options.message());
}
