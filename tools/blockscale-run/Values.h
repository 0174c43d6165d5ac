//===- Values.h - arrays as arguments and results of compiled functions ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_VALUES_H
#define BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_VALUES_H

#include "blockscale/Facts/Result.h"
#include "blockscale/Support/Array.h"

#include "mlir/IR/BuiltinTypes.h"

namespace blockscale::run {

/// What a file must hold for a value of an input's type: FP4 as u8 [rows, k/2],
/// FP8 and linear scales as u8, tiled scales as flat u8 with their padding. A
/// dimension of -1 takes any size.
struct FileForm {
  rt::DType type;
  std::vector<int64_t> shape;
  int64_t multiple = 1; ///< The bytes are a multiple of it: those of tiles of any number of rows.
};
facts::Result<FileForm> getFileForm(mlir::Type type, const std::string &subject);

/// Refuses an array that has another form.
facts::Result<bool> checkForm(const FileForm &form, const rt::Array &array,
                              const std::string &subject);

/// Refuses a result whose memory does not hold the form contiguously.
facts::Result<bool> checkMemory(const FileForm &form, mlir::MemRefType memref,
                                const std::string &subject);

/// The memory of one argument or result of a call: a memref descriptor or a scalar.
class Value {
public:
  /// An argument. `type` is the compiled function's; its bytes are copied.
  static facts::Result<Value> argument(mlir::Type type, const rt::Array &array,
                                       const std::string &subject);

  /// What the packed call wants: the address of the argument as it is passed.
  void *address();

private:
  struct Free {
    void operator()(uint8_t *bytes) const;
  };
  std::unique_ptr<uint8_t, Free> bytes;
  std::vector<int64_t> descriptor; // of a memref
  void *descriptorAddress = nullptr;
  bool isScalar = false;
};

/// 64-bit words of the descriptor of a memref of `rank`.
inline size_t descriptorWords(int64_t rank) { return size_t(3 + 2 * rank); }

} // namespace blockscale::run

#endif // BLOCKSCALE_TOOLS_BLOCKSCALE_RUN_VALUES_H
