//===- Command.h - arguments and commands of blockscale-explain -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command takes its options (--name=value), fields (name=value) and plain words,
// prints to standard output and returns the exit status. What it cannot read is one
// line on standard error.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_EXPLAIN_COMMAND_H
#define BLOCKSCALE_TOOLS_EXPLAIN_COMMAND_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/DescriptorView.h"

#include <cstdio>
#include <map>

namespace blockscale::explain {

inline constexpr int kLegal = 0, kIllegal = 1, kUsage = 2;

/// The command line after the command's name.
struct Arguments {
  std::map<std::string, std::string> options; // --name=value, or --name
  std::map<std::string, std::string> fields;  // name=value
  std::vector<std::string> words;             // the rest

  /// Refuses what is given twice.
  static facts::Result<Arguments> parse(int argc, char **argv);

  /// Refuses options and fields that are not listed.
  std::optional<facts::Refusal> onlyOptions(std::initializer_list<std::string_view> known) const;
  std::optional<facts::Refusal> onlyFields(std::initializer_list<std::string_view> known) const;
  /// --encode, which takes fields such as `example`, and neither a value nor words.
  facts::Result<bool> encodes(std::string_view example) const;
  /// Refuses fields beside words, but for `allowed`.
  std::optional<facts::Refusal> noFields(std::string_view allowed = "") const;
};

/// A whole number, decimal or with 0x, of at most `max`.
facts::Result<uint64_t> parseNumber(std::string_view what, std::string_view text, uint64_t max);
/// The value of `name` in `from`, or `fallback` where it is not given.
facts::Result<uint64_t> numberOf(const std::map<std::string, std::string> &from,
                                 const std::string &name, uint64_t fallback, uint64_t max);
facts::Result<facts::Arch> archOf(const Arguments &arguments);

/// Prints a usage error and returns kUsage.
int usageError(const std::string &message);

/// Prints word, ruler and fields; returns kLegal or kIllegal.
int printView(const std::string &title, uint64_t word, int bits, const facts::DescriptorView &view);

int runIDesc(const Arguments &arguments);
int runSmemDesc(const Arguments &arguments);
int runScaleTile(const Arguments &arguments);
int runDocs(const Arguments &arguments);

} // namespace blockscale::explain

#endif // BLOCKSCALE_TOOLS_EXPLAIN_COMMAND_H
