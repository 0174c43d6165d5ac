//===- Page.h - Markdown tables of the facts page -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_EXPLAIN_PAGE_H
#define BLOCKSCALE_TOOLS_EXPLAIN_PAGE_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/MmaMode.h"

#include <string>
#include <vector>

namespace blockscale::explain {

/// A Markdown table that prints itself when it goes out of scope.
class Table {
public:
  explicit Table(std::vector<std::string> header);
  ~Table();
  void row(std::vector<std::string> cells);

private:
  std::vector<std::vector<std::string>> rows;
};

void heading(const char *text);
void paragraph(const char *text);

/// A number, or "-" for 0.
std::string count(int64_t value);
/// The targets that a requirement names: "sm_100f, sm_110f".
std::string targets(facts::ArchSet needs);
std::string formats(facts::FormatSet set);

void printChips();
void printInstructions();
void printDescriptors();
void printMemory();
/// docs/Hazards.md.
void printHazards();

} // namespace blockscale::explain

#endif // BLOCKSCALE_TOOLS_EXPLAIN_PAGE_H
