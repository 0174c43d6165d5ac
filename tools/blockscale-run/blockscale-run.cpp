//===- blockscale-run.cpp - compiles, executes and checks -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways in: a function of an MLIR file, or PTX from anywhere with a manifest.
// Exit status 0 only if all is well; every refusal is one line. Flags are parsed
// here, because libLLVM.so's own (--threads) would clash with the contract's.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Support/Output.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace blockscale;
using namespace blockscale::run;

namespace {

/// Where a flag may stand.
enum class Where { both, mlir, ptx, nowhere };

struct Flag {
  std::string name, value, help; // value: empty for a switch
  Where where = Where::both;
  bool repeats = false;
};

const Flag kFlags[] = {
    {"entry", "NAME", "function of the input to run", Where::mlir},
    {"arch", "NAME", "chip to compile for, such as sm_107a", Where::mlir},
    {"check", "",
     "compare every product with a reference in f64; beyond the bound of "
     "docs/Quantization.md the run fails",
     Where::mlir},
    {"pin", "FIELDS", "pinned fields of the schedule, such as ctas=2,stages=3", Where::mlir},
    {"emit-ptx", "FILE", "also write the PTX that is executed", Where::mlir},
    {"ptx", "FILE", "PTX to execute", Where::ptx},
    {"manifest", "FILE", "how to launch it (docs/Manifest.md)", Where::ptx},
    {"kernel", "NAME", "launch only this kernel of the manifest", Where::ptx},
    {"size", "NAME=N",
     "a size of the manifest; one that is not given is that of an argument's file", Where::ptx,
     true},
    {"arg", "[NAME=]FILE",
     "next input: x.npy, file.safetensors:member (layer:global for the global scale of an NVFP4 "
     "layer) or file.gguf:tensor (tensor:scales for the scales of MXFP4 and NVFP4); NAME is a "
     "buffer of the manifest, or an argument, which takes a number, too. FP4 is u8 [rows, k/2], "
     "FP8 and linear scales u8, "
     "tiled scales flat u8 with padding, bf16 u16",
     Where::both, true},
    {"out", "[NAME=]FILE", "where the next result goes, as .npy", Where::both, true},
    {"device", "NAME", "emulator (default) or cuda"},
    {"timing", "WHEN",
     "when asynchronous operations land in the emulator: earliest (default), latest or random"},
    {"seed", "N", "seed of random timing, which is the default then"},
    {"seeds", "K",
     "run under earliest, latest and K random seeds; fail if any bit of a result differs"},
    {"repeat", "N", "launch each kernel N times more and print a table of times and occupancy"},
    {"warmup", "N", "launches before those of --repeat, not timed"},
    {"threads", "N", "host threads of the emulator"},
    {"preferred-cluster", "X,Y,Z",
     "cluster that every launch prefers, a multiple of its own, which blocks fall back to"},
    {"cluster-choice", "WHICH",
     "clusters of such a launch in the emulator: mixed (default), preferred or fallback"},
    {"resident-clusters", "N",
     "clusters that run side by side in the emulator; the default is what the chip holds"},
    {"max-instructions", "N", "give up a launch beyond so many"},
    {"poll-limit", "N",
     "give up a launch after so many rounds of polls in which nothing changes (default 10000000)"},
    {"hazards", "MODE",
     "check the order of accesses in the emulator: on (default), off, or strict, which also warns "
     "of what is wrong by the letter only (docs/Hazards.md)"},
    {"no-assume", "An", "an assumption of docs/Hazards.md that does not hold, such as A4",
     Where::both, true},
    {"manual", "REVISION", "9.4 (default) or early: the text on pipelined tcgen05 pairs"},
    {"unmodelled", "WHAT",
     "products that no public model covers: extend (default, results are labelled) or refuse"},
    {"report", "FILE", "write what ran as JSON"},
    {"trace", "FILE", "Chrome trace of the run (not built yet)", Where::nowhere},
    {"help", "", "print this"},
};

void printHelp() {
  llvm::raw_ostream &os = llvm::outs();
  os << "Executes block-scaled kernels on the emulator or on a GPU.\n\n"
        "  blockscale-run in.mlir --entry=F --arch=sm_107a --arg=x.npy --out=d.npy --check\n"
        "  blockscale-run --ptx=k.ptx --manifest=k.json --arg=a.npy --out=d.npy\n\n";
  for (const Flag &flag : kFlags) {
    std::string left = "--" + flag.name + (flag.value.empty() ? "" : "=") + flag.value;
    os << "  " << left << std::string(left.size() < 24 ? 24 - left.size() : 1, ' ') << flag.help
       << (flag.where == Where::mlir  ? " (MLIR only)"
           : flag.where == Where::ptx ? " (PTX only)"
                                      : "")
       << "\n";
  }
}

/// Does a further report start here: a line of the file that the message is about?
bool startsReport(llvm::StringRef text, llvm::StringRef message) {
  size_t colon = text.find(':');
  return colon != llvm::StringRef::npos && colon + 1 < text.size() &&
         llvm::isDigit(text[colon + 1]) && message.starts_with(text.take_front(colon + 1));
}

/// One line a report, whatever bytes the names in it have, and a hazard's indented lines below
/// it; nothing when the compiler has printed a line with a location.
int fail(llvm::StringRef message) {
  if (message.empty())
    return 1;
  constexpr llvm::StringLiteral kHead = "blockscale-run: error: ";
  llvm::errs() << kHead;
  for (size_t i = 0; i < message.size(); ++i) {
    char c = message[i];
    llvm::StringRef rest = message.substr(i + 1);
    bool isContinued = c == '\n' && rest.starts_with("  ");
    if (c == '\n' && startsReport(rest, message))
      llvm::errs() << c << kHead;
    else if (isContinued || llvm::isPrint(c) || uint8_t(c) >= 0x80)
      llvm::errs() << c;
    else
      llvm::errs() << "\\x" << llvm::hexdigit(uint8_t(c) >> 4) << llvm::hexdigit(c & 15);
  }
  llvm::errs() << "\n";
  return 1;
}

struct CommandLine {
  std::string input;
  std::map<std::string, std::vector<std::string>> values;

  bool has(const std::string &name) const { return values.count(name); }
  std::string get(const std::string &name, const std::string &otherwise = "") const {
    auto it = values.find(name);
    return it == values.end() ? otherwise : it->second.back();
  }
};

Result<CommandLine> parseCommandLine(llvm::ArrayRef<char *> words) {
  CommandLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    llvm::StringRef word = words[i];
    if (!word.starts_with("-")) {
      if (!line.input.empty())
        return Refusal{"run: input must be one file, got '" + line.input + "' and '" + word.str() +
                       "'"};
      line.input = word.str();
      continue;
    }
    if (!word.starts_with("--"))
      return Refusal{"run: flag must be one of --help's, got '" + word.str() + "'"};
    auto [nameRef, value] = word.drop_front(2).split('=');
    std::string name = nameRef.str();
    const Flag *flag = nullptr;
    for (const Flag &row : kFlags)
      if (row.name == name)
        flag = &row;
    if (!flag)
      return Refusal{"run: flag must be one of --help's, got '--" + name + "'"};
    bool hasValue = word.contains('=');
    if (flag->value.empty() && hasValue)
      return Refusal{"run: --" + name + " must stand without a value, got '" + value.str() + "'"};
    if (!flag->value.empty() && !hasValue) {
      if (i + 1 == words.size())
        return Refusal{"run: --" + name + " must be followed by " + flag->value};
      value = words[++i];
    }
    if (!flag->value.empty() && value.empty())
      return Refusal{"run: --" + name + " must have a value, " + flag->value + ", got none"};
    std::vector<std::string> &all = line.values[name];
    if (!all.empty() && !flag->repeats)
      return Refusal{"run: --" + name + " must be given once, got it twice"};
    all.push_back(value.str());
  }
  return line;
}

/// A flag that means nothing in the chosen way in is refused, not ignored.
Result<bool> checkMode(const CommandLine &line) {
  bool isPtx = line.has("ptx") || line.has("manifest");
  if (line.has("trace"))
    return Refusal{"run: --trace must wait for the cost model, it is not built yet"};
  if (isPtx && line.has("check"))
    return Refusal{"run: --check must stand with an MLIR input, whose products say what to compare "
                   "with; for PTX write the results with --out and compare them, or run the MLIR "
                   "file that the PTX comes from with --check"};
  for (const Flag &flag : kFlags)
    if (line.has(flag.name) && flag.where == (isPtx ? Where::mlir : Where::ptx))
      return Refusal{"run: --" + flag.name + " must stand with " +
                     (isPtx ? "an MLIR input" : "--ptx and --manifest")};
  if (isPtx && !(line.has("ptx") && line.has("manifest")))
    return Refusal{"run: --ptx and --manifest must be given together"};
  if (isPtx && !line.input.empty())
    return Refusal{"run: input must be an MLIR file or --ptx, got both"};
  if (isPtx)
    return true;
  if (line.input.empty())
    return Refusal{"run: input must be an MLIR file, or --ptx with --manifest, got none"};
  if (!line.has("entry"))
    return Refusal{"run: --entry must name the function to run, got none"};
  if (!line.has("arch"))
    return Refusal{"run: --arch must name the chip, such as sm_107a, got none"};
  return true;
}

/// "NAME=FILE" when what stands before '=' can be a name; a path may hold '='.
FileArg parseFileArg(llvm::StringRef text) {
  auto [name, file] = text.split('=');
  bool isName = text.contains('=') && !name.empty() && !file.empty() &&
                name.find_first_of("/.:") == llvm::StringRef::npos;
  return isName ? FileArg{name.str(), file.str()} : FileArg{"", text.str()};
}

/// Leaves `value` alone when the flag is not given.
template <typename T>
Result<bool> parseNumber(const CommandLine &line, const std::string &name, uint64_t least,
                         uint64_t most, T &value) {
  if (!line.has(name))
    return true;
  uint64_t number;
  if (llvm::StringRef(line.get(name)).getAsInteger(10, number) || number < least || number > most)
    return Refusal{"run: --" + name + " must be a number from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", got '" + line.get(name) + "'"};
  value = T(number);
  return true;
}

Result<bool> parseHazards(const CommandLine &line, bsrt_options &run) {
  std::string mode = line.get("hazards", "on");
  if (mode != "on" && mode != "off" && mode != "strict")
    return Refusal{"run: --hazards must be on, off or strict, got '" + mode + "'"};
  run.hazards = mode == "on"    ? BSRT_HAZARDS_ON
                : mode == "off" ? BSRT_HAZARDS_OFF
                                : BSRT_HAZARDS_STRICT;
  if (auto it = line.values.find("no-assume"); it != line.values.end())
    for (const std::string &text : it->second) {
      llvm::StringRef name = text;
      unsigned n;
      if (!name.consume_front("A") || name.getAsInteger(10, n) || n < 1 ||
          n > emu::kHazardAssumptions)
        return Refusal{"run: --no-assume must be one of A1 to A" +
                       std::to_string(emu::kHazardAssumptions) + ", got '" + text + "'"};
      run.hazards_denied |= 1u << n;
    }
  std::string manual = line.get("manual", "9.4");
  if (manual != "9.4" && manual != "early")
    return Refusal{"run: --manual must be 9.4 or early, got '" + manual + "'"};
  run.early_manual = manual == "early";
  std::string unmodelled = line.get("unmodelled", "extend");
  if (unmodelled != "extend" && unmodelled != "refuse")
    return Refusal{"run: --unmodelled must be extend or refuse, got '" + unmodelled + "'"};
  run.unmodelled = unmodelled == "refuse";
  return true;
}

Result<bool> parseClusters(const CommandLine &line, Options &options) {
  std::string choice = line.get("cluster-choice", "mixed");
  if (choice != "mixed" && choice != "preferred" && choice != "fallback")
    return Refusal{"run: --cluster-choice must be mixed, preferred or fallback, got '" + choice +
                   "'"};
  options.run.cluster_choice = choice == "mixed"       ? BSRT_CLUSTERS_MIXED
                               : choice == "preferred" ? BSRT_CLUSTERS_PREFERRED
                                                       : BSRT_CLUSTERS_FALLBACK;
  if (line.has("preferred-cluster")) {
    llvm::SmallVector<llvm::StringRef> parts;
    std::string text = line.get("preferred-cluster");
    llvm::StringRef(text).split(parts, ',');
    bool isRight = parts.size() == 3;
    for (size_t i = 0; i < parts.size() && isRight; ++i)
      isRight = !parts[i].getAsInteger(10, options.preferredCluster[i]) &&
                options.preferredCluster[i] >= 1 && options.preferredCluster[i] <= 16;
    if (!isRight)
      return Refusal{"run: --preferred-cluster must be three numbers from 1 to 16, such as 2,1,1, "
                     "got '" +
                     text + "'"};
  }
  return parseNumber(line, "resident-clusters", 1, 4096, options.run.resident_clusters);
}

Result<bool> parseRunOptions(const CommandLine &line, Options &options) {
  bsrt_options &run = options.run;
  run.abi_version = BSRT_ABI_VERSION;
  run.threads = 1;
  Result<bool> status = parseNumber(line, "seed", 0, UINT64_MAX, run.seed);
  if (status)
    status = parseNumber(line, "seeds", 1, 10000, options.seeds);
  if (status)
    status = parseNumber(line, "threads", 1, 1024, run.threads);
  if (status)
    status = parseNumber(line, "repeat", 1, 1000000, options.repeat);
  if (status)
    status = parseNumber(line, "warmup", 0, 1000000, options.warmup);
  if (status)
    status = parseNumber(line, "max-instructions", 1, UINT64_MAX, run.max_instructions);
  if (status)
    status = parseNumber(line, "poll-limit", 1, UINT64_MAX, run.poll_limit);
  if (!status)
    return status;
  if (line.has("warmup") && !options.repeat)
    return Refusal{"run: --warmup must stand with --repeat"};
  if (status = parseHazards(line, run); !status)
    return status;
  if (status = parseClusters(line, options); !status)
    return status;
  if (options.seeds && (line.has("seed") || line.has("timing")))
    return Refusal{"run: --seeds must stand without --seed and --timing"};
  std::string timing = line.get("timing", line.has("seed") ? "random" : "earliest");
  if (timing == "earliest")
    run.timing = BSRT_TIMING_EARLIEST;
  else if (timing == "latest")
    run.timing = BSRT_TIMING_LATEST;
  else if (timing == "random")
    run.timing = BSRT_TIMING_RANDOM;
  else
    return Refusal{"run: --timing must be earliest, latest or random, got '" + timing + "'"};
  return true;
}

Result<Options> parseOptions(const CommandLine &line) {
  if (Result<bool> status = checkMode(line); !status)
    return status.takeRefusal();
  Options options;
  if (Result<bool> status = parseRunOptions(line, options); !status)
    return status.takeRefusal();
  options.input = line.input;
  options.ptx = line.get("ptx");
  options.manifest = line.get("manifest");
  options.kernel = line.get("kernel");
  options.entry = line.get("entry");
  options.arch = line.get("arch");
  options.emitPtx = line.get("emit-ptx");
  options.pins = line.get("pin");
  options.device = line.get("device", "emulator");
  options.check = line.has("check");
  options.report = line.get("report");
  if (auto it = line.values.find("arg"); it != line.values.end())
    for (const std::string &text : it->second)
      options.args.push_back(parseFileArg(text));
  if (auto it = line.values.find("size"); it != line.values.end())
    for (llvm::StringRef text : it->second) {
      auto [name, number] = text.split('=');
      uint64_t value = 0;
      if (name.empty() || number.getAsInteger(10, value))
        return Refusal{"run: --size must be NAME=N with a number N, got '" + text.str() + "'"};
      if (!options.sizes.emplace(name.str(), value).second)
        return Refusal{"run: --size must be given once for each name, got '" + name.str() +
                       "' twice"};
    }
  if (auto it = line.values.find("out"); it != line.values.end())
    for (const std::string &text : it->second)
      options.outs.push_back(parseFileArg(text));
  return options;
}

} // namespace

std::vector<RunMode> run::getRunModes(const Options &options) {
  static constexpr const char *kNames[] = {"earliest", "latest", "random"};
  if (!options.seeds) {
    std::string name = kNames[options.run.timing];
    if (options.run.timing == BSRT_TIMING_RANDOM)
      name = "seed " + std::to_string(options.run.seed);
    return {{name, options.run}};
  }
  std::vector<RunMode> modes;
  auto add = [&](std::string name, bsrt_timing timing, uint64_t seed) {
    bsrt_options run = options.run;
    run.timing = timing;
    run.seed = seed;
    modes.push_back({std::move(name), run});
  };
  add("earliest", BSRT_TIMING_EARLIEST, 0);
  add("latest", BSRT_TIMING_LATEST, 0);
  for (uint64_t i = 0; i < options.seeds; ++i)
    add("seed " + std::to_string(i), BSRT_TIMING_RANDOM, i);
  return modes;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  rt::watchStandardOutput("blockscale-run");
  Result<CommandLine> line = parseCommandLine({argv + 1, size_t(argc - 1)});
  if (!line)
    return fail(line.message());
  if (line->has("help")) {
    printHelp();
    return 0;
  }
  Result<Options> options = parseOptions(*line);
  if (!options)
    return fail(options.message());
  options->argv = argv;
  Result<bool> status = options->ptx.empty() ? runMlir(*options) : runPtx(*options);
  return status ? 0 : fail(status.message());
}
