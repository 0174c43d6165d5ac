//===- Entries.h - what is run on a problem, and how it is checked --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_ENTRIES_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_ENTRIES_H

#include "Cublas.h"
#include "Kernels.h"
#include "LoadedKernel.h"

#include <functional>

namespace blockscale::q4k {

inline constexpr const char *kBaseline = "cublas-f16";

/// Ends the program with one line unless `status` is success.
void require(cudaError_t status, const char *what);

/// A problem's operands and results in device memory.
class Device {
public:
  explicit Device(const Problem &problem, size_t scratchBytes = 0);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  void needScratch(size_t bytes);
  /// Sets results and what lies behind them to NaN.
  void clearResults();

  const Problem &problem;
  ActivationChunk *chunks, *quantized; // given, and as the GPU makes them
  WeightBlock *weights;
  WeightPlane *planes; // the same weights
  float *activations;
  __half *halfActivations, *halfWeights;
  float *out;
  __half *halfOut;
  void *scratch = nullptr;
  uint8_t *transposed[2]; // without and with the min term apart
  uint8_t *tiles[2];      // the same for the compiler's kernels

private:
  size_t scratchBytes = 0;
};

/// `tiles` are seen by the products that read them.
enum class Output : uint8_t { f32, f16, chunks, halfWeights, tiles };

struct Entry {
  std::string name;
  std::function<cudaError_t()> run;
  Output output;
  Reference reference;
  bool isProduct; // counts as tokens x rows x depth multiply-adds
};

std::vector<Entry> makeEntries(Device &device, const std::vector<LoadedKernel> &loaded,
                               Cublas *cublas);

/// Runs it once and prints a line; compares `most` outputs.
bool checkEntry(const Entry &entry, Device &device, int64_t most);

/// Measures the chip itself and prints a table (Rates.cu).
void printRates();

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_ENTRIES_H
