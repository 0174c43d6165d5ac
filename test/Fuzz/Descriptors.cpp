//===- Descriptors.cpp - fuzzes descriptor words --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is a chip, a kind, a block size and words. View, decoder and encoder must
// agree on each word.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "blockscale/Facts/DescriptorView.h"

#include <cstring>

namespace blockscale {

using namespace facts;

namespace {

void checkView(const DescriptorView &view, int bits) {
  for (const std::string &problem : view.problems)
    fuzz::requireOneLine(problem);
  // A kind that the chip lacks has no fields.
  if (view.fields.empty() && !view.problems.empty())
    return;
  int next = 0;
  for (const FieldView &field : view.fields) {
    fuzz::require(field.low == next, "fields must follow each other");
    next += field.width;
  }
  fuzz::require(next == bits, "fields must cover the word");
}

void checkIDescWord(Arch arch, MmaKind kind, int block, uint32_t word) {
  DescriptorView view = viewIDesc(arch, kind, block, word);
  checkView(view, 32);
  auto desc = decodeIDesc(arch, kind, block, word);
  fuzz::require(bool(desc) == view.problems.empty(), "view and decoder must agree on an idesc",
                desc ? "legal" : desc.message());
  if (!desc) {
    fuzz::requireOneLine(desc.message());
    return;
  }
  auto again = encodeIDesc(arch, *desc);
  fuzz::require(again && *again == word, "an idesc that is decoded must encode to its word");
}

void checkSmemWord(Arch arch, uint64_t word) {
  checkView(viewSmemDesc(arch, word), 64);
  auto desc = decodeSmemDesc(arch, word);
  if (!desc) {
    fuzz::requireOneLine(desc.message());
    return;
  }
  if (auto legal = checkSmemDesc(arch, *desc); !legal) {
    fuzz::requireOneLine(legal.message());
    return;
  }
  fuzz::require(viewSmemDesc(arch, word).problems.empty(),
                "view and rules must agree on a smem-desc");
  auto again = encodeSmemDesc(arch, *desc);
  fuzz::require(again && *again == word, "a smem-desc that is decoded must encode to its word");
}

} // namespace

void fuzz::descriptors(std::string_view bytes) {
  static constexpr int kBlocks[] = {0, 16, 32, 64, -1};
  constexpr size_t kHead = 3;
  if (bytes.size() < kHead)
    return;
  auto pick = [&](size_t at, size_t count) { return uint8_t(bytes[at]) % count; };
  auto arch = Arch(pick(0, kArchNames.size()));
  auto kind = MmaKind(pick(1, kMmaKindNames.size()));
  int block = kBlocks[pick(2, std::size(kBlocks))];
  for (bytes.remove_prefix(kHead); bytes.size() >= sizeof(uint64_t);
       bytes.remove_prefix(sizeof(uint64_t))) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    checkIDescWord(arch, kind, block, uint32_t(word));
    checkSmemWord(arch, word);
  }
}

} // namespace blockscale
