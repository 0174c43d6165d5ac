//===- Arrays.cpp - fuzzes .npy, .safetensors and .gguf files -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "blockscale/Support/Gguf.h"
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

/// Every tensor of a file, by its name and as scales.
static void checkGguf(std::string_view bytes) {
  constexpr size_t kMost = 8; // each is looked up in all
  rt::Result<std::vector<rt::GgufTensor>> tensors = rt::indexGguf(bytes, "f");
  check(rt::parseGguf(bytes, "f", "a"));
  if (!tensors)
    return;
  for (size_t i = 0; i < tensors->size() && i < kMost; ++i) {
    const rt::GgufTensor &tensor = (*tensors)[i];
    std::string name(tensor.name);
    check(rt::parseGguf(bytes, "f", name));
    check(rt::parseGguf(bytes, "f", name + ":scales"));
    rt::GgufOutput output{name, tensor.type->name, tensor.shape, {}};
    output.bytes.assign(tensor.bytes.begin(), tensor.bytes.end());
    rt::Result<std::vector<rt::GgufTensor>> again =
        rt::indexGguf(rt::formatGguf({output}, "fuzz"), "f");
    fuzz::require(again && again->size() == 1 && again->front().type == tensor.type &&
                      again->front().shape == tensor.shape,
                  "a tensor that is written must read back");
  }
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
  checkGguf(bytes);
}

} // namespace blockscale
