//===- TmaAllocation.h - memory behind a tensor map -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_TMAALLOCATION_H
#define BLOCKSCALE_FACTS_TMAALLOCATION_H

#include <cstdint>

namespace blockscale::facts {

/// The least allocation of a tensor with gaps between its rows: on Blackwell drivers may
/// fault on maps of smaller ones (notes of driver 595.71).
inline constexpr int64_t kTmaPitchedBytes = 128 * 1024;

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_TMAALLOCATION_H
