//===- SmemDesc.cpp - blockscale-explain smem-desc ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes words, or encodes fields and shows the word that results.
//
//===----------------------------------------------------------------------===//

#include "Command.h"

namespace blockscale::explain {
namespace {

using namespace facts; // NOLINT: a tool's own file

/// Fields of the command line as a descriptor.
Result<SmemDesc> readFields(const Arguments &in) {
  SmemDesc d;
  const struct {
    const char *name;
    uint32_t &value;
  } kNumbers[] = {{"start", d.start}, {"leading", d.leadingBytes}, {"stride", d.strideBytes}};
  for (const auto &row : kNumbers) {
    Result<uint64_t> value = numberOf(in.fields, row.name, 0, UINT32_MAX);
    if (!value)
      return value.takeRefusal();
    row.value = uint32_t(*value);
  }
  Result<uint64_t> base = numberOf(in.fields, "base_offset", 0, 7);
  Result<uint64_t> absolute = numberOf(in.fields, "absolute", 0, 1);
  Result<uint64_t> half = numberOf(in.fields, "lut_half", 0, 1);
  Result<uint64_t> tile = numberOf(in.fields, "tile_base", 0, UINT32_MAX);
  for (const Result<uint64_t> *r : {&base, &absolute, &half, &tile})
    if (!*r)
      return r->takeRefusal();
  d.baseOffset = int(*base);
  d.absolute = *absolute;
  d.lutHalf = *half;
  if (in.fields.count("tile_base"))
    d.tileBase = uint32_t(*tile);
  auto text = in.fields.find("swizzle");
  if (text != in.fields.end()) {
    std::optional<Swizzle> swizzle = parseSwizzle(text->second);
    if (!swizzle)
      return refuse(
          "explain_field: field swizzle must be one of none, b32, b64, b128, b128_atom32, got '",
          text->second, "'");
    d.swizzle = *swizzle;
  }
  return d;
}

int show(Arch arch, uint64_t word) {
  return printView(joinText("shared-memory descriptor on ", name(arch)), word, 64,
                   viewSmemDesc(arch, word));
}

} // namespace

int runSmemDesc(const Arguments &arguments) {
  if (auto r = arguments.onlyOptions({"arch", "encode"}))
    return usageError(r->message);
  if (auto r = arguments.onlyFields({"start", "leading", "stride", "swizzle", "base_offset",
                                     "absolute", "lut_half", "tile_base"}))
    return usageError(r->message);
  Result<Arch> arch = archOf(arguments);
  if (!arch)
    return usageError(arch.message());
  Result<bool> encode = arguments.encodes("start=0x2000");
  if (!encode)
    return usageError(encode.message());
  if (*encode) {
    Result<SmemDesc> desc = readFields(arguments);
    if (!desc)
      return usageError(desc.message());
    Result<uint64_t> word = encodeSmemDesc(*arch, *desc);
    if (!word) {
      std::printf("illegal: %s\n", word.message().c_str());
      return kIllegal;
    }
    return show(*arch, *word);
  }
  if (arguments.words.empty())
    return usageError("explain_word: smem-desc must have a word such as 0x4000404000010200, or "
                      "--encode and fields");
  if (auto r = arguments.noFields())
    return usageError(r->message);
  std::vector<uint64_t> words;
  for (const std::string &text : arguments.words) {
    Result<uint64_t> word = parseNumber("shared-memory descriptor", text, UINT64_MAX);
    if (!word)
      return usageError(word.message());
    words.push_back(*word);
  }
  int status = kLegal;
  for (uint64_t word : words)
    if (show(*arch, word) != kLegal)
      status = kIllegal;
  return status;
}

} // namespace blockscale::explain
