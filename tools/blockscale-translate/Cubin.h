//===- Cubin.h - PTX text to a cubin with ptxas ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_TRANSLATE_CUBIN_H
#define BLOCKSCALE_TOOLS_TRANSLATE_CUBIN_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/Result.h"

#include <string>

namespace blockscale {

/// ptxas from BLOCKSCALE_PTXAS, else from PATH, else from the virtual environment
/// beside the build of `program`. Empty when there is none.
std::string findPtxas(const char *program);

/// Assembles PTX. The refusal is ptxas's first line.
facts::Result<std::string> assemblePtx(const std::string &ptxas, const std::string &ptx,
                                       facts::Arch arch);

} // namespace blockscale

#endif // BLOCKSCALE_TOOLS_TRANSLATE_CUBIN_H
