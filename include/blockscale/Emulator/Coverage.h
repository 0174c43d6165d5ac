//===- Coverage.h - which PTX is executed ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_COVERAGE_H
#define BLOCKSCALE_EMULATOR_COVERAGE_H

#include <string>
#include <vector>

namespace blockscale::emu {

/// A page in Markdown: each form with what becomes of it.
std::string coveragePage();

/// Each form that is executed, as its row of the table, a tab and one of its modifiers
/// (none where it has none). Options::disabledForm takes them.
std::vector<std::string> executedForms();

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_COVERAGE_H
