//===- CoveragePage.cpp - the table of forms as a page --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Coverage.h"

#include "Forms.h"

namespace blockscale::emu {
namespace {

/// Bars end a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text)
    out.append(c == '|' ? "/" : std::string(1, c));
  return out;
}

} // namespace

std::string coveragePage() {
  std::string out = "# PTX coverage\n\n"
                    "Made from the table of forms; `./tools/dev docs` rewrites this page.\n\n"
                    "In a form, `a/b` takes one of them and `?` makes it optional. Forms that are "
                    "not executed are refused at load with `ptx_unexecuted`, file and line.\n";
  for (const FormTable &table : formTables()) {
    out.append("\n## ").append(table.title).append("\n\n| form | target | |\n|---|---|---|\n");
    for (const Form &row : table.rows) {
      out.append("| `").append(row.opcode);
      if (!row.modifiers.empty())
        out.append(" ").append(cell(spelledOut(row.modifiers)));
      out.append("` | ").append(row.needs ? facts::name(*row.needs) : std::string_view("any"));
      out.append(row.status == FormStatus::executed ? " | executed"
                 : row.status == FormStatus::hint   ? " | hint only: "
                                                    : " | parses but is not executed: ");
      out.append(row.why).append(" |\n");
    }
  }
  return out;
}

} // namespace blockscale::emu
