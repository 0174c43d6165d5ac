//===- Cublas.cpp - f16 products by the vendor's library ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>

namespace blockscale::q4k {

struct Cublas::Library {
  void *file = nullptr;
  cublasHandle_t handle = nullptr;
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) setStream;
  decltype(&cublasGetVersion_v2) getVersion;
  // The header overloads its C++ name.
  cublasStatus_t (*multiply)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int rows,
                             int columns, int depth, const void *alpha, const void *a, cudaDataType,
                             int lda, const void *b, cudaDataType, int ldb, const void *beta,
                             void *c, cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t);

  template <typename T> bool find(T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(file, name));
    return function;
  }
};

Cublas::Cublas(std::unique_ptr<Library> library) : library(std::move(library)) {}

Cublas::~Cublas() {
  library->destroy(library->handle);
  dlclose(library->file);
}

std::unique_ptr<Cublas> Cublas::open(std::string &problem) {
  auto library = std::make_unique<Library>();
  for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (!library->file)
      library->file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library->file) {
    problem = dlerror();
    return nullptr;
  }
  if (!library->find(library->create, "cublasCreate_v2") ||
      !library->find(library->destroy, "cublasDestroy_v2") ||
      !library->find(library->setStream, "cublasSetStream_v2") ||
      !library->find(library->getVersion, "cublasGetVersion_v2") ||
      !library->find(library->multiply, "cublasGemmEx")) {
    problem = "a function is missing from the library";
    return nullptr;
  }
  if (cublasStatus_t status = library->create(&library->handle)) {
    problem = "cublasCreate gave " + std::to_string(int(status));
    return nullptr;
  }
  return std::unique_ptr<Cublas>(new Cublas(std::move(library)));
}

int Cublas::version() const {
  int version = 0;
  library->getVersion(library->handle, &version);
  return version;
}

/// The library counts in columns: out^T = weights * activations^T.
bool Cublas::multiply(const __half *activations, const __half *weights, __half *out, Shape shape,
                      cudaStream_t stream) {
  const float one = 1, zero = 0;
  library->setStream(library->handle, stream);
  return !library->multiply(library->handle, CUBLAS_OP_T, CUBLAS_OP_N, shape.rows, shape.tokens,
                            shape.depth, &one, weights, CUDA_R_16F, shape.depth, activations,
                            CUDA_R_16F, shape.depth, &zero, out, CUDA_R_16F, shape.rows,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

} // namespace blockscale::q4k
