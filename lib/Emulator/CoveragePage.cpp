//===- CoveragePage.cpp - the table of forms as a page --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Coverage.h"

#include "Forms.h"
#include "RunTimeRefusals.h"

#include <algorithm>

namespace blockscale::emu {
namespace {

/// Bars end a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text)
    out.append(c == '|' ? "/" : std::string(1, c));
  return out;
}

/// Calls back with the parts of a text.
template <typename Visit> void split(std::string_view text, char at, Visit visit) {
  while (!text.empty()) {
    size_t end = std::min(text.find(at), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

} // namespace

std::vector<std::string> executedForms() {
  std::vector<std::string> out;
  for (const FormTable &table : formTables())
    for (const Form &row : table.rows) {
      if (row.status != FormStatus::executed)
        continue;
      const size_t first = out.size();
      split(spelledOut(row.modifiers), ' ', [&](std::string_view group) {
        if (group.ends_with('?'))
          group.remove_suffix(1);
        split(group, '|', [&](std::string_view word) {
          std::string key = formKey(row, word);
          if (std::find(out.begin() + long(first), out.end(), key) == out.end())
            out.push_back(std::move(key));
        });
      });
      if (out.size() == first)
        out.push_back(formKey(row, {}));
    }
  return out;
}

std::string coveragePage() {
  std::string out = "# PTX coverage\n\n"
                    "Made from the table of forms; `./tools/dev docs` rewrites this page.\n\n"
                    "In a form, `a/b` takes one of them, `?` makes it optional and `#` is any "
                    "number. Targets are the features of [Facts.md](Facts.md). A kernel that holds "
                    "or calls a form that is not executed is refused at its launch with "
                    "`ptx_unexecuted`, file and line, and a module without another kernel at load; "
                    "what operands ask for may be [refused at run time]"
                    "(#refused-at-run-time).\n";
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
  out.append("\n## Refused at run time\n\n| instruction | operand asks for | message | because |\n"
             "|---|---|---|---|\n");
  for (const RunTimeRefusal &row : kRunTimeRefusals)
    out.append("| `")
        .append(row.instruction)
        .append("` | ")
        .append(row.asks)
        .append(" | `")
        .append(row.message)
        .append("` | ")
        .append(row.why)
        .append(" |\n");
  return out;
}

} // namespace blockscale::emu
