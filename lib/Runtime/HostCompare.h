//===- HostCompare.h - one element against what it should be --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_HOSTCOMPARE_H
#define BLOCKSCALE_LIB_RUNTIME_HOSTCOMPARE_H

#include "blockscale/Facts/Format.h"
#include "blockscale/Runtime/Host.h"

namespace blockscale::rt {

/// What is right for one element: `value` within `bound`.
struct Expected {
  double value, bound;
};

/// Counts an element that is so far from what it should be, infinitely where it is wrong whatever
/// the bound, and keeps it as `compare` does.
void record(double error, double value, const Expected &expected, int64_t row, int64_t col,
            bsrt_check_result &result);

/// Counts an element of format `out` in `result`, and keeps it if its error is the
/// largest part of its bound so far; `result.row` is -1 before the first.
void compare(double value, const Expected &expected, facts::Format out, int64_t row, int64_t col,
             bsrt_check_result &result);

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_RUNTIME_HOSTCOMPARE_H
