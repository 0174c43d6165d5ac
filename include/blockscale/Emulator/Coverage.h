//===- Coverage.h - which PTX is executed ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_COVERAGE_H
#define BLOCKSCALE_EMULATOR_COVERAGE_H

#include <string>

namespace blockscale::emu {

/// A page in Markdown: each form with what becomes of it.
std::string coveragePage();

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_COVERAGE_H
