//===- Cublas.h - f16 products by the vendor's library --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is hundreds of megabytes and stands on the machine with the GPU, so it
// is looked for when the program runs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_CUBLAS_H
#define BLOCKSCALE_TOOLS_BENCH_Q4K_CUBLAS_H

#include "Formats.h"

#include <cuda_runtime.h>

#include <memory>
#include <string>

namespace blockscale::q4k {

class Cublas {
public:
  /// Nothing, and why in `problem`, where there is no library.
  static std::unique_ptr<Cublas> open(std::string &problem);
  ~Cublas();

  int version() const;
  /// f16 in, f32 accumulation, f16 out; false when the library refuses.
  bool multiply(const __half *activations, const __half *weights, __half *out, Shape shape,
                cudaStream_t stream);

private:
  struct Library;
  explicit Cublas(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library;
};

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_CUBLAS_H
