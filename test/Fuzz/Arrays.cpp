//===- Arrays.cpp - fuzzes .npy and .safetensors files --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "blockscale/Support/Npy.h"
#include "blockscale/Support/Safetensors.h"

namespace blockscale {

static void check(const rt::Result<rt::Array> &array) {
  if (!array) {
    fuzz::requireOneLine(array.message());
    return;
  }
  auto bytes = rt::byteSize(array->type, array->shape);
  fuzz::require(bytes && *bytes == array->bytes.size(), "an array must have its shape's bytes");
}

void fuzz::arrays(std::string_view bytes) {
  rt::Result<rt::Array> npy = rt::parseNpy(bytes, "f");
  check(npy);
  if (npy) {
    rt::Result<rt::Array> again = rt::parseNpy(rt::formatNpy(*npy), "f");
    require(again && again->shape == npy->shape && again->bytes == npy->bytes,
            "an array that is written must read back");
  }
  check(rt::parseSafetensors(bytes, "f", "a"));
  check(rt::parseSafetensors(bytes, "f", ""));
}

} // namespace blockscale
