//===- DescriptorView.h - a descriptor word, field by field ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a reader of a word wants to see: each field with its bits, raw value and
// meaning, and everything that is wrong. The decoders are built on the views, so
// what is printed and what is refused cannot differ.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_DESCRIPTORVIEW_H
#define BLOCKSCALE_FACTS_DESCRIPTORVIEW_H

#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/SmemDesc.h"

#include <vector>

namespace blockscale::facts {

struct FieldView {
  std::string_view name;
  int low, width;
  uint64_t raw;
  std::string meaning; // empty for reserved bits that are 0
  std::string problem; // a refusal's message, or empty
};

struct DescriptorView {
  std::vector<FieldView> fields;     // lowest bits first
  std::vector<std::string> problems; // of the fields, then of the whole; empty: legal
};

DescriptorView viewIDesc(Arch arch, MmaKind kind, int block, uint32_t word);
/// `judgePlace`: also apply the rules of checkSmemDesc.
DescriptorView viewSmemDesc(Arch arch, uint64_t word, bool judgePlace = true);

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_DESCRIPTORVIEW_H
