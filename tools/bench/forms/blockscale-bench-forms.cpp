//===- blockscale-bench-forms.cpp - PTX forms against ptxas's verdicts ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: blockscale-bench-forms FORMS [--all]
//
// Loads every form of FORMS (test/data/ptx-forms/forms.txt) for every target that
// ptxas was asked about. A form that ptxas takes must load, or be refused as
// `ptx_unexecuted`; one that it refuses must be refused by us, by a rule of the same
// sort (target, modifier, operand, value, …). Prints what differs and two figures;
// --all prints every answer. With --page instead of FORMS: docs/PtxCoverage.md; with --forms:
// each executed row of its tables with each of its modifiers. Status 1 when something differs.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Coverage.h"
#include "blockscale/Emulator/Emulator.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

using namespace blockscale::emu;

namespace {

struct Form {
  std::string name, version, text;
  std::vector<std::pair<std::string, std::string>> verdicts; // target, verdict
};

/// Which sorts of rule a label of ours stands for, in the words of the verdicts.
std::string_view sortsOf(std::string_view label) {
  static const std::map<std::string_view, std::string_view> kSorts{
      {"ptx_target", "arch"},
      {"arch_c1", "arch"},
      {"ptx_version_c1", "version"},
      {"ptx_version_c2", "version"},
      {"ptx_version_c3", "version"},
      {"ptx_version", "version"},
      {"ptx_modifier", "modifier"},
      {"ptx_round", "modifier"},
      {"ptx_type", "modifier"},
      {"ptx_syntax", "modifier"},
      {"tcgen05_cta_group", "modifier"},
      {"ptx_space", "operand"},
      {"ptx_operand", "operand"},
      {"ptx_operands", "operand"},
      {"ptx_vector", "operand"},
      {"ptx_immediate", "value"},
      {"ptx_setmaxnreg", "value"},
      {"tmem_c3", "value"},
      {"tmem_c4", "value"},
      {"ptx_shared", "size"},
      {"ptx_value", "value"}};
  auto it = kSorts.find(label);
  return it == kSorts.end() ? std::string_view() : it->second;
}

/// Whether a verdict such as `modifier+arch` names a sort.
bool hasSort(const std::string &verdict, std::string_view sort) {
  std::istringstream words(verdict);
  for (std::string word; std::getline(words, word, '+');)
    if (word == sort)
      return true;
  return false;
}

std::vector<Form> readForms(std::istream &in) {
  std::vector<Form> forms;
  std::map<std::string, std::string> preludes;
  std::string line, *prelude = nullptr;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word;
    if (prelude) {
      if (line == "end")
        prelude = nullptr;
      else
        *prelude += line + "\n";
    } else if (line.rfind("> ", 0) == 0) {
      forms.back().text += line.substr(2) + "\n";
    } else if (words >> word && word == "prelude") {
      words >> word;
      prelude = &preludes[word];
    } else if (word == "form") {
      Form f;
      words >> f.name >> f.version >> word;
      f.text = preludes[word];
      while (words >> word)
        f.verdicts.emplace_back(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
      forms.push_back(std::move(f));
    }
  }
  return forms;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--page") {
    std::fputs(coveragePage().c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--forms") {
    for (const std::string &form : executedForms())
      std::printf("%s\n", form.c_str());
    return 0;
  }
  bool all = argc == 3 && std::string_view(argv[2]) == "--all";
  std::ifstream in(argc > 1 ? argv[1] : "");
  if ((argc != 2 && !all) || !in) {
    std::fprintf(stderr, "error: usage: blockscale-bench-forms FORMS [--all]\n");
    return 2;
  }
  unsigned accepted = 0, acceptedRight = 0, refused = 0, refusedRight = 0, unexecuted = 0;
  auto device = Device::create({});
  for (const Form &f : readForms(in))
    for (const auto &[target, verdict] : f.verdicts) {
      std::string text = ".version ";
      text.append(f.version).append("\n.target ").append(target).append("\n").append(f.text);
      auto module = device->load(text, f.name);
      std::string message = module ? "" : module.message();
      std::string label = module ? "" : message.substr(message.find(": ") + 2);
      label = label.substr(0, label.find(':'));
      bool takes = module || label == "ptx_unexecuted", right = false;
      if (verdict == "ok") {
        ++accepted;
        unexecuted += !module && takes;
        acceptedRight += right = takes;
      } else {
        ++refused;
        std::string_view sort = sortsOf(label);
        right = !takes && !sort.empty() && hasSort(verdict, sort);
        refusedRight += right;
      }
      if (!right || all)
        std::printf("%s %s %s: ptxas %s, got %s\n", right ? "right" : "wrong", f.name.c_str(),
                    target.c_str(), verdict.c_str(), module ? "ok" : message.c_str());
    }
  std::printf("ptx_forms.accepted_right = %u/%u\nptx_forms.refused_right = %u/%u\n"
              "ptx_forms.unexecuted = %u/%u\n",
              acceptedRight, accepted, refusedRight, refused, unexecuted, accepted);
  return acceptedRight == accepted && refusedRight == refused ? 0 : 1;
}
