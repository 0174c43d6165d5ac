//===- View.cpp - a descriptor as a ruler and a table ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ruler shows 32 bits a row, highest first, with a letter for each field; the
// table below explains the letters. Problems come last, one line each.
//
//===----------------------------------------------------------------------===//

#include "Command.h"

namespace blockscale::explain {

using facts::FieldView;

static char letterOf(size_t field) { return char(field < 26 ? 'a' + field : 'A' + field - 26); }

/// Bits `high` to `high - 31`; a bar starts each field.
static void printRuler(uint64_t word, int high, const facts::DescriptorView &view) {
  std::string numbers = "  bit  ", bits = "  raw  ", letters = "  key  ";
  for (int bit = high; bit > high - 32; --bit) {
    for (size_t i = 0; i < view.fields.size(); ++i) {
      const FieldView &field = view.fields[i];
      if (bit < field.low || bit >= field.low + field.width)
        continue;
      bool first = bit == field.low + field.width - 1 || bit == high;
      char bar = first ? '|' : ' ';
      numbers += {bar, bit < 10 ? ' ' : char('0' + bit / 10), char('0' + bit % 10)};
      bits += {bar, ' ', char('0' + (word >> bit & 1))};
      letters += {bar, ' ', first ? letterOf(i) : ' '};
    }
  }
  std::printf("%s|\n%s|\n%s|\n", numbers.c_str(), bits.c_str(), letters.c_str());
}

int printView(const std::string &title, uint64_t word, int bits,
              const facts::DescriptorView &view) {
  std::printf("0x%0*llx: %s\n", bits / 4, static_cast<unsigned long long>(word), title.c_str());
  if (!view.fields.empty()) {
    for (int high = bits - 1; high >= 0; high -= 32)
      printRuler(word, high, view);
    std::printf("     %-8s %-15s %-8s %s\n", "bits", "field", "raw", "meaning");
  }
  for (size_t i = 0; i < view.fields.size(); ++i) {
    const FieldView &field = view.fields[i];
    std::string range = std::to_string(field.low);
    if (field.width > 1)
      range += ".." + std::to_string(field.low + field.width - 1);
    std::string line = facts::joinText("  ", letterOf(i), "  ");
    char buffer[96];
    std::snprintf(buffer, sizeof buffer, "%-8s %-15s 0x%-6llx %s%s", range.c_str(),
                  std::string(field.name).c_str(), static_cast<unsigned long long>(field.raw),
                  field.problem.empty() ? "" : "! ", field.meaning.c_str());
    line += buffer;
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
  for (const std::string &problem : view.problems)
    std::printf("illegal: %s\n", problem.c_str());
  if (view.problems.empty())
    std::printf("legal\n");
  return view.problems.empty() ? kLegal : kIllegal;
}

} // namespace blockscale::explain
