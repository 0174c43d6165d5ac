//===- Npy.h - NumPy's .npy files -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes format versions 1 to 3 (NEP 1), C order, little-endian. A
// file that is truncated, longer than it says or of another type is refused
// with one line.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_NPY_H
#define BLOCKSCALE_SUPPORT_NPY_H

#include "blockscale/Support/Array.h"

namespace blockscale::rt {

/// `subject` is what messages call the bytes: the file's name.
Result<Array> parseNpy(std::string_view bytes, std::string_view subject);
Result<Array> readNpy(const std::string &path);

std::string formatNpy(const Array &array);
Result<bool> writeNpy(const std::string &path, const Array &array);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_NPY_H
