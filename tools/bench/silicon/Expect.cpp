//===- Expect.cpp - what a chip gave, and what is known to differ ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include "blockscale/Support/Manifest.h"

#include <sstream>

namespace blockscale::silicon {

Result<std::map<std::string, std::string>> readExpected(const std::string &file) {
  Result<std::string> text = rt::readFile(file, "expected results");
  if (!text)
    return text.takeRefusal();
  std::map<std::string, std::string> expected;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, hash;
    if (words >> name >> hash && name[0] != '#')
      expected[name] = hash;
  }
  return expected;
}

bool Known::covers(const std::string &program) const {
  if (name.back() == '*')
    return program.compare(0, name.size() - 1, name, 0, name.size() - 1) == 0;
  return program == name;
}

Result<std::vector<Known>> readKnown(const std::string &file) {
  Result<std::string> text = rt::readFile(file, "known differences");
  if (!text)
    return text.takeRefusal();
  std::vector<Known> known;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Known entry;
    if (!(words >> entry.name) || entry.name[0] == '#')
      continue;
    std::getline(words >> std::ws, entry.reason);
    if (entry.reason.empty())
      return Refusal{"silicon: a known difference must have a reason, got '" + line + "'"};
    known.push_back(std::move(entry));
  }
  return known;
}

Known *findKnown(std::vector<Known> &known, const std::string &program) {
  Known *best = nullptr;
  for (Known &entry : known)
    if (entry.covers(program) && (!best || best->name.size() < entry.name.size()))
      best = &entry;
  return best;
}

} // namespace blockscale::silicon
