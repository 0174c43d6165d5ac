//===- Command.cpp - reading the command line -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"

#include <algorithm>
#include <charconv>

namespace blockscale::explain {

using facts::Refusal;
using facts::refuse;
using facts::Result;

Result<Arguments> Arguments::parse(int argc, char **argv) {
  Arguments out;
  for (int i = 0; i < argc; ++i) {
    std::string text = argv[i];
    bool option = text.substr(0, 2) == "--";
    if (option)
      text = text.substr(2);
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (!option && equals == std::string::npos) {
      out.words.push_back(text);
      continue;
    }
    auto [row, fresh] = (option ? out.options : out.fields).emplace(name, value);
    if (!fresh)
      return refuse(option ? "explain_option: option --" : "explain_field: field ", name,
                    " must be given once, got '", row->second, "' and '", value, "'");
  }
  return out;
}

static std::optional<Refusal> only(const std::map<std::string, std::string> &given,
                                   const char *what,
                                   std::initializer_list<std::string_view> known) {
  for (const auto &[name, value] : given) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    std::string list;
    for (std::string_view word : known)
      list += facts::joinText(list.empty() ? "" : ", ", word);
    return refuse("explain_", what, ": ", what, " must be ", known.size() > 1 ? "one of " : "",
                  list.empty() ? "absent" : list, ", got ", name);
  }
  return std::nullopt;
}

std::optional<Refusal> Arguments::onlyOptions(std::initializer_list<std::string_view> known) const {
  if (auto refusal = only(options, "option", known))
    return refusal;
  for (const auto &[name, value] : options)
    if (value.empty() && name != "encode")
      return refuse("explain_option: option --", name, " must have a value, as --", name,
                    "=..., got none");
  return std::nullopt;
}
std::optional<Refusal> Arguments::onlyFields(std::initializer_list<std::string_view> known) const {
  return only(fields, "field", known);
}

Result<bool> Arguments::encodes(std::string_view example) const {
  auto row = options.find("encode");
  if (row == options.end())
    return false;
  if (!row->second.empty())
    return refuse("explain_option: option --encode must have no value, got '", row->second, "'");
  if (!words.empty())
    return refuse("explain_word: --encode must be followed by fields such as ", example, ", got '",
                  words[0], "'");
  return true;
}

std::optional<Refusal> Arguments::noFields(std::string_view allowed) const {
  for (const auto &[name, value] : fields)
    if (name != allowed)
      return refuse("explain_field: fields must follow --encode, got ", name, "=", value);
  return std::nullopt;
}

Result<uint64_t> parseNumber(std::string_view what, std::string_view text, uint64_t max) {
  std::string_view digits = text;
  int base = 10;
  if (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X") {
    digits.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value > max)
    return refuse("explain_number: ", what, " must be a number from 0 to ", max, ", got '", text,
                  "'");
  return value;
}

Result<uint64_t> numberOf(const std::map<std::string, std::string> &from, const std::string &name,
                          uint64_t fallback, uint64_t max) {
  auto row = from.find(name);
  return row == from.end() ? Result<uint64_t>(fallback) : parseNumber(name, row->second, max);
}

Result<facts::Arch> archOf(const Arguments &arguments) {
  auto row = arguments.options.find("arch");
  if (row == arguments.options.end())
    return refuse("explain_option: option --arch must be given, for example --arch=sm_107a");
  return facts::findArch(row->second);
}

int usageError(const std::string &message) {
  std::fprintf(stderr, "blockscale-explain: %s\n", message.c_str());
  return kUsage;
}

} // namespace blockscale::explain
