//===- Copy.cpp - cp.* ----------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

namespace blockscale::emu {

DecodeFn findCopy(std::string_view) { return nullptr; }
DecodeFn findTcgen05(std::string_view) { return nullptr; }

} // namespace blockscale::emu
