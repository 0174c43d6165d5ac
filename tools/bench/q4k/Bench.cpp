//===- Bench.cpp - Q4_K products side by side on one GPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel is checked against its contract before any is timed; then all run in
// turn, round after round, so that clocks and heat are the same for all. Prints medians
// and ratios to the vendor's f16 product with resident weights, and whether the hand-written
// kernel is fast enough for a comparison with it (Comparison.h).
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Cublas.h"
#include "Entries.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace blockscale::q4k;

namespace {

struct Options {
  std::vector<Shape> shapes;
  std::vector<std::string> descriptions;
  std::vector<std::string> only; // names; empty: all
  int rounds = 30, warmup = 5;
  int64_t samples = 4096;
  bool isCheckOnly = false, skipsSmall = false, printsRates = false;
  const char *json = nullptr;
};

/// The shapes of the recorded baselines.
const std::vector<Shape> kShapes = {
    {512, 18944, 3584}, {2048, 18944, 3584}, {512, 3584, 18944}, {2048, 3584, 3584}};
/// Ragged and least sizes: every output is compared.
const std::vector<Shape> kCheckShapes = {
    {1, 1, 256}, {64, 128, 256}, {65, 129, 512}, {3, 200, 768}, {130, 127, 2048}};

constexpr const char *kUsage =
    "usage: q4k [--shape=TxRxD]... [--kernels=FILE]... [--only=NAME]... [--rounds=N]\n"
    "           [--warmup=N] [--samples=N] [--json=FILE] [--check-only] [--skip-small] [--rates]\n";

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    size_t at = word.find('=');
    std::string name = word.substr(0, at);
    const char *value = at == std::string::npos ? "" : argv[i] + at + 1;
    Shape shape;
    if (name == "--shape" &&
        std::sscanf(value, "%dx%dx%d", &shape.tokens, &shape.rows, &shape.depth) == 3 &&
        shape.tokens > 0 && shape.rows > 0 && shape.depth > 0 && shape.depth % kSuperBlock == 0)
      options.shapes.push_back(shape);
    else if (name == "--kernels")
      options.descriptions.push_back(value);
    else if (name == "--only")
      options.only.push_back(value);
    else if (name == "--rounds" && std::atoi(value) > 0)
      options.rounds = std::atoi(value);
    else if (name == "--warmup" && std::atoi(value) > 0)
      options.warmup = std::atoi(value);
    else if (name == "--samples" && std::atoi(value) > 0)
      options.samples = std::atoi(value);
    else if (name == "--json")
      options.json = value;
    else if (word == "--rates")
      options.printsRates = true;
    else if (word == "--skip-small")
      options.skipsSmall = true;
    else if (word == "--check-only")
      options.isCheckOnly = true;
    else
      return false;
  }
  if (options.shapes.empty())
    options.shapes = kShapes;
  return true;
}

struct Timing {
  std::vector<float> milliseconds;

  float quantile(double q) const {
    return milliseconds[size_t(q * double(milliseconds.size() - 1) + 0.5)];
  }
};

/// Launches of one sample, so that each is at least about half a millisecond long.
int launchesPerSample(Shape shape) {
  double ms = shape.operations() / 150e9;
  return ms > 0.5 ? 1 : std::min(20, int(0.5 / ms) + 1);
}

std::vector<Timing> timeInTurn(const std::vector<Entry> &entries, const Options &options,
                               Shape shape) {
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start), "event");
  require(cudaEventCreate(&stop), "event");
  int launches = launchesPerSample(shape);
  std::vector<Timing> timings(entries.size());
  for (int round = -options.warmup; round < options.rounds; ++round)
    for (size_t i = 0; i < entries.size(); ++i) {
      require(cudaEventRecord(start), "event");
      for (int n = 0; n < launches; ++n)
        require(entries[i].run(), entries[i].name.c_str());
      require(cudaEventRecord(stop), "event");
      require(cudaEventSynchronize(stop), entries[i].name.c_str());
      float ms = 0;
      require(cudaEventElapsedTime(&ms, start, stop), "event");
      if (round >= 0)
        timings[i].milliseconds.push_back(ms / float(launches));
    }
  for (Timing &timing : timings)
    std::sort(timing.milliseconds.begin(), timing.milliseconds.end());
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return timings;
}

void printTimings(const std::vector<Entry> &entries, const std::vector<Timing> &timings,
                  Shape shape, FILE *json) {
  double base = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].name == kBaseline)
      base = timings[i].quantile(0.5);
  std::printf("  %-28s %9s %9s %9s %8s %8s\n", "", "median ms", "p10", "p90", "TOPS", "ratio");
  for (size_t i = 0; i < entries.size(); ++i) {
    double median = timings[i].quantile(0.5);
    double tops = shape.operations() / median * 1e-9;
    std::printf("  %-28s %9.4f %9.4f %9.4f", entries[i].name.c_str(), median,
                timings[i].quantile(0.1), timings[i].quantile(0.9));
    if (entries[i].isProduct)
      std::printf(" %8.1f", tops);
    if (entries[i].isProduct && base)
      std::printf(" %8.3f", base / median);
    std::printf("\n");
    if (json)
      std::fprintf(json,
                   "{\"shape\": [%d, %d, %d], \"kernel\": \"%s\", \"median_ms\": %.5f, \"p10_ms\": "
                   "%.5f, \"p90_ms\": %.5f, \"tops\": %.2f}\n",
                   shape.tokens, shape.rows, shape.depth, entries[i].name.c_str(), median,
                   timings[i].quantile(0.1), timings[i].quantile(0.9),
                   entries[i].isProduct ? tops : 0.0);
  }
}

/// The shape at which the hand-written kernel has to be fast enough to be compared with.
constexpr Shape kComparisonShape = {2048, 18944, 3584};

/// Prints whether it is; of its forms the fastest counts.
bool isComparable(const std::vector<Entry> &entries, const std::vector<Timing> &timings) {
  double vendor = 0, handwritten = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    double median = timings[i].quantile(0.5);
    if (entries[i].name == kBaseline)
      vendor = median;
    for (const HandwrittenForm &form : kHandwrittenForms)
      if (entries[i].name == form.name && (handwritten == 0 || median < handwritten))
        handwritten = median;
  }
  Verdict verdict = judgeHandwritten(vendor, handwritten);
  std::printf("%s\n", verdict.text.c_str());
  return !verdict.isVoid;
}

/// Checks, and times if asked, everything that takes the shape; false if a check fails or the
/// comparison is void.
bool runShape(Shape shape, const std::vector<LoadedKernel> &loaded, Cublas *cublas,
              const Options &options, bool isTimed, FILE *json) {
  std::printf("%d x %d x %d\n", shape.tokens, shape.rows, shape.depth);
  Problem problem = makeProblem(shape, /*seed=*/7);
  Device device(problem);
  std::vector<Entry> entries = makeEntries(device, loaded, cublas);
  if (!options.only.empty())
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const Entry &entry) {
                                   // What others read stays: weights in f16, tiles.
                                   return entry.name != kBaseline &&
                                          entry.output != Output::halfWeights &&
                                          entry.output != Output::tiles &&
                                          std::find(options.only.begin(), options.only.end(),
                                                    entry.name) == options.only.end();
                                 }),
                  entries.end());
  // What is wrong is left out, and what reads its results is wrong by itself.
  std::vector<Entry> right;
  for (const Entry &entry : entries)
    if (checkEntry(entry, device, isTimed ? options.samples : shape.outputs()))
      right.push_back(entry);
  bool isFair = true;
  if (isTimed) {
    std::vector<Timing> timings = timeInTurn(right, options, shape);
    printTimings(right, timings, shape, json);
    bool isAsked = shape.tokens == kComparisonShape.tokens && shape.rows == kComparisonShape.rows &&
                   shape.depth == kComparisonShape.depth && options.only.empty();
    isFair = !isAsked || isComparable(right, timings);
  }
  std::fflush(stdout);
  return isFair && right.size() == entries.size();
}

void printMachine(Cublas *cublas, const std::string &problem) {
  cudaDeviceProp chip;
  require(cudaGetDeviceProperties(&chip, 0), "device");
  int driver = 0, clock = 0;
  cudaDriverGetVersion(&driver);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  std::printf("%s, sm_%d%d, %d multiprocessors, %d MHz at most, driver's CUDA %d.%d\n", chip.name,
              chip.major, chip.minor, chip.multiProcessorCount, clock / 1000, driver / 1000,
              driver % 1000 / 10);
  if (cublas)
    std::printf("cublas %d\n", cublas->version());
  else
    std::printf("no cublas, its lines are left out: %s\n", problem.c_str());
  auto print = [](std::string_view name, const KernelUse &use) {
    std::printf("%s: %d registers, %d bytes local, %d bytes shared, %d blocks per multiprocessor\n",
                std::string(name).c_str(), use.registers, use.localBytes, use.sharedBytes,
                use.blocksPerSm);
  };
  KernelUse use{};
  for (const HandwrittenForm &form : kHandwrittenForms) {
    require(queryHandwritten(form, use), "handwritten");
    print(form.name, use);
  }
  for (size_t i = 0; i < kPipelinedNames.size(); ++i) {
    require(queryPipelined(PipelinedForm(i), use), "pipelined");
    print(kPipelinedNames[i], use);
  }
  for (size_t i = 0; i < kWgmmaNames.size(); ++i) {
    require(queryWgmma(WgmmaForm(i), use), "wgmma");
    print(kWgmmaNames[i], use);
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::string problem;
  std::unique_ptr<Cublas> cublas = Cublas::open(problem);
  printMachine(cublas.get(), problem);
  if (options.printsRates)
    printRates();
  bool isRight = true;
  std::vector<LoadedKernel> loaded;
  for (const std::string &path : options.descriptions) {
    std::string why;
    for (LoadedKernel &kernel : loadKernels(path, why))
      loaded.push_back(std::move(kernel));
    std::fputs(why.c_str(), stdout);
    isRight &= why.empty();
  }
  FILE *json = options.json ? std::fopen(options.json, "w") : nullptr;
  for (const Shape &shape : options.skipsSmall ? std::vector<Shape>() : kCheckShapes)
    isRight &= runShape(shape, loaded, cublas.get(), options, /*isTimed=*/false, json);
  for (const Shape &shape : options.shapes)
    isRight &= runShape(shape, loaded, cublas.get(), options, !options.isCheckOnly, json);
  if (json)
    std::fclose(json);
  std::printf(isRight ? "all kernels are right\n"
                      : "WRONG or VOID: see above; what is wrong was not timed\n");
  return isRight ? 0 : 1;
}
