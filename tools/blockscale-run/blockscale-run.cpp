//===- blockscale-run.cpp - compiles, executes and checks -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways in: a function of an MLIR file, or PTX from anywhere with a manifest.
// Exit status 0 only if all is well; every refusal is one line.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using namespace blockscale::run;
namespace cl = llvm::cl;

static cl::OptionCategory category("blockscale-run options");

static cl::opt<std::string> inputPath(cl::Positional, cl::desc("[input.mlir]"), cl::cat(category));
static cl::opt<std::string> entryName("entry", cl::desc("Function of the input to run"),
                                      cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string> archName("arch", cl::desc("Chip to compile for, such as sm_107a"),
                                     cl::value_desc("name"), cl::cat(category));
static cl::opt<bool> check("check",
                           cl::desc("Compare every product with a reference in f64; beyond the "
                                    "bound of docs/Quantization.md the run fails"),
                           cl::cat(category));
static cl::opt<std::string> emitPtx("emit-ptx", cl::desc("Also write the PTX that was executed"),
                                    cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> ptxPath("ptx", cl::desc("PTX to execute instead of an MLIR input"),
                                    cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> manifestPath("manifest",
                                         cl::desc("How to launch it (docs/Manifest.md)"),
                                         cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> kernelName("kernel",
                                       cl::desc("Launch only this kernel of the manifest"),
                                       cl::value_desc("name"), cl::cat(category));
static cl::list<std::string>
    args("arg",
         cl::desc("Next input: x.npy, or file.safetensors:member; NAME=FILE for a buffer of a "
                  "manifest. FP4 is u8 [rows, k/2], FP8 and linear scales are u8, tiled scales "
                  "flat u8 with their padding, bf16 is u16"),
         cl::value_desc("file"), cl::cat(category));
static cl::list<std::string> outs("out", cl::desc("Where the next result goes, as .npy"),
                                  cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> deviceName("device", cl::desc("emulator (default) or cuda"),
                                       cl::value_desc("name"), cl::init("emulator"),
                                       cl::cat(category));
static cl::opt<std::string> timing("timing",
                                   cl::desc("When asynchronous operations land in the emulator: "
                                            "earliest (default), latest or random"),
                                   cl::value_desc("when"), cl::cat(category));
static cl::opt<std::string> seed("seed",
                                 cl::desc("Seed of --timing=random, its default then, and "
                                          "of the order of warps"),
                                 cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string> seeds("seeds",
                                  cl::desc("Run under earliest, latest and K random seeds; fail if "
                                           "any bit of a result differs"),
                                  cl::value_desc("K"), cl::cat(category));
static cl::opt<std::string> threads("threads", cl::desc("Host threads of the emulator"),
                                    cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string> maxInstructions("max-instructions",
                                            cl::desc("Give up a launch beyond so many"),
                                            cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string> reportPath("report", cl::desc("Write what ran as JSON"),
                                       cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> trace("trace", cl::desc("Chrome trace of the run (not built yet)"),
                                  cl::value_desc("file"), cl::cat(category));

static int fail(llvm::StringRef message) {
  llvm::errs() << "blockscale-run: error: " << message << "\n";
  return 1;
}

/// "NAME=FILE" when what stands before '=' can be a name; a path may hold '='.
static FileArg parseFileArg(llvm::StringRef text) {
  auto [name, file] = text.split('=');
  bool isName = text.contains('=') && !name.empty() && !file.empty() &&
                name.find_first_of("/.:") == llvm::StringRef::npos;
  return isName ? FileArg{name.str(), file.str()} : FileArg{"", text.str()};
}

static Result<uint64_t> parseNumber(llvm::StringRef flag, llvm::StringRef text, uint64_t least,
                                    uint64_t most) {
  uint64_t value;
  if (!text.getAsInteger(10, value) && value >= least && value <= most)
    return value;
  return Refusal{("run: --" + flag + " must be a number from " + llvm::Twine(least) + " to " +
                  llvm::Twine(most) + ", got '" + text + "'")
                     .str()};
}

static Result<bool> parseRunOptions(Options &options) {
  options.run.abi_version = BSRT_ABI_VERSION;
  options.run.threads = 1;
  struct Number {
    llvm::StringRef flag;
    const cl::opt<std::string> &text;
    uint64_t least, most;
    llvm::function_ref<void(uint64_t)> set;
  };
  auto setSeed = [&](uint64_t v) { options.run.seed = v; };
  auto setSeeds = [&](uint64_t v) { options.seeds = v; };
  auto setThreads = [&](uint64_t v) { options.run.threads = uint32_t(v); };
  auto setMost = [&](uint64_t v) { options.run.max_instructions = v; };
  for (const Number &number :
       {Number{"seed", seed, 0, UINT64_MAX, setSeed}, Number{"seeds", seeds, 1, 10000, setSeeds},
        Number{"threads", threads, 1, 1024, setThreads},
        Number{"max-instructions", maxInstructions, 1, UINT64_MAX, setMost}}) {
    if (number.text.getNumOccurrences() == 0)
      continue;
    Result<uint64_t> value = parseNumber(number.flag, number.text, number.least, number.most);
    if (!value)
      return value.takeRefusal();
    number.set(*value);
  }
  options.run.timing = seed.getNumOccurrences() ? BSRT_TIMING_RANDOM : BSRT_TIMING_EARLIEST;
  if (timing == "earliest")
    options.run.timing = BSRT_TIMING_EARLIEST;
  else if (timing == "latest")
    options.run.timing = BSRT_TIMING_LATEST;
  else if (timing == "random")
    options.run.timing = BSRT_TIMING_RANDOM;
  else if (timing.getNumOccurrences())
    return Refusal{"run: --timing must be earliest, latest or random, got '" + timing + "'"};
  if (options.seeds && (seed.getNumOccurrences() || timing.getNumOccurrences()))
    return Refusal{"run: --seeds must stand without --seed and --timing"};
  return true;
}

/// A flag that means nothing in the chosen way in is refused, not ignored.
static Result<bool> checkMode() {
  bool isPtx = ptxPath.getNumOccurrences() || manifestPath.getNumOccurrences();
  auto refuseFlags = [](llvm::ArrayRef<const cl::Option *> flags,
                        const char *mode) -> Result<bool> {
    for (const cl::Option *flag : flags)
      if (flag->getNumOccurrences())
        return Refusal{("run: --" + flag->ArgStr + " must stand " + mode).str()};
    return true;
  };
  if (trace.getNumOccurrences())
    return Refusal{"run: --trace must wait for the cost model, it is not built yet"};
  if (!isPtx && inputPath.empty())
    return Refusal{"run: input must be a .mlir file, or --ptx and --manifest, got none"};
  if (!isPtx && entryName.empty())
    return Refusal{"run: --entry must name the function to run, got none"};
  if (!isPtx && archName.empty())
    return Refusal{"run: --arch must name the chip, such as sm_107a, got none"};
  if (!isPtx)
    return refuseFlags({&kernelName}, "with --ptx");
  if (ptxPath.empty() || manifestPath.empty())
    return Refusal{"run: --ptx and --manifest must be given together"};
  if (!inputPath.empty())
    return Refusal{"run: input must be an MLIR file or --ptx, got both"};
  return refuseFlags({&entryName, &archName, &check, &emitPtx}, "with an MLIR input");
}

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
  cl::HideUnrelatedOptions(category);
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Executes block-scaled kernels on the emulator or on a GPU.\n\n"
          "  blockscale-run in.mlir --entry=F --arch=sm_107a --arg=x.npy --out=d.npy --check\n"
          "  blockscale-run --ptx=k.ptx --manifest=k.json --arg=a.npy --out=d.npy\n",
          &errorStream)) {
    llvm::StringRef line = llvm::StringRef(errors).split('\n').first;
    return fail(("run: command line must be as in --help, got " + line.split(": ").second).str());
  }

  Options options;
  Result<bool> status = checkMode();
  if (status)
    status = parseRunOptions(options);
  if (!status)
    return fail(status.message());
  options.input = inputPath;
  options.ptx = ptxPath;
  options.manifest = manifestPath;
  options.kernel = kernelName;
  options.entry = entryName;
  options.arch = archName;
  options.emitPtx = emitPtx;
  options.device = deviceName;
  options.check = check;
  options.report = reportPath;
  for (const std::string &text : args)
    options.args.push_back(parseFileArg(text));
  for (const std::string &text : outs)
    options.outs.push_back(parseFileArg(text));

  status = options.ptx.empty() ? runMlir(options) : runPtx(options);
  return status ? 0 : fail(status.message());
}
