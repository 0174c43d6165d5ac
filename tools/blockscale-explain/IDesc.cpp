//===- IDesc.cpp - blockscale-explain idesc -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes words, or encodes fields and shows the word that results.
//
//===----------------------------------------------------------------------===//

#include "Command.h"

#include "blockscale/Facts/IDesc.h"

namespace blockscale::explain {
namespace {

using namespace facts; // NOLINT: a tool's own file

constexpr uint64_t kMaxField = 1 << 20;

/// The value of a field of type E by its name, or `fallback` where it is not given.
template <typename E, std::optional<E> (*Parse)(std::string_view)>
Result<E> enumOf(const Arguments &arguments, const char *field, E fallback) {
  auto row = arguments.fields.find(field);
  if (row == arguments.fields.end())
    return fallback;
  if (std::optional<E> value = Parse(row->second))
    return *value;
  return refuse("explain_field: field ", field, " must be a known name, got '", row->second, "'");
}

/// Block size: as given, or the only one that the kind has.
Result<uint64_t> blockOf(const Arguments &arguments, MmaKind kind) {
  uint64_t fallback = isBlockScaled(kind) ? 32 : 0;
  bool option = arguments.options.count("block"), field = arguments.fields.count("block");
  if (option && field)
    return refuse("explain_option: block must be given once, got --block and the field");
  if (kind == MmaKind::mxf4nvf4 && !option && !field)
    return refuse("explain_option: option --block must be given for mxf4nvf4, 16 or 32");
  Result<uint64_t> block =
      numberOf(field ? arguments.fields : arguments.options, "block", fallback, kMaxField);
  if (block)
    if (Result<bool> known = checkIDescBlock(kind, int(*block)); !known)
      return known.takeRefusal();
  return block;
}

/// Scale format: as given, or the only one that kind and block size have on the chip.
Result<ScaleFormat> scaleOf(const Arguments &arguments, Arch arch, MmaKind kind, int block) {
  bool isGiven = arguments.fields.count("scale");
  if (isGiven && !isBlockScaled(kind))
    return refuse("explain_field: field scale must be absent for ", name(kind), ", got '",
                  arguments.fields.at("scale"), "'");
  if (isGiven || !isBlockScaled(kind))
    return enumOf<ScaleFormat, parseScaleFormat>(arguments, "scale", ScaleFormat::ue8m0);
  std::vector<ScaleFormat> formats;
  std::string list;
  for (const MmaScaleMode &row : kMmaScaleModes)
    if (row.kind == kind && row.block == block && covers(arch, row.needs)) {
      formats.push_back(row.scale);
      list += joinText(list.empty() ? "" : ", ", name(row.scale));
    }
  if (formats.size() > 1)
    return refuse("explain_field: field scale must be given for ", name(kind), " with block ",
                  block, " on ", name(arch), ", one of ", list);
  return formats.empty() ? ScaleFormat::ue8m0 : formats.front(); // none: the encoder says why
}

/// Fields of the command line as a descriptor.
Result<IDesc> readFields(const Arguments &in, Arch arch, MmaKind kind, int block) {
  IDesc d{.kind = kind, .a = Format::e2m1, .b = Format::e2m1, .m = 0, .n = 0, .k = 0};
  d.block = block;
  bool isF4 = kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
  Format fallback = isF4 ? Format::e2m1 : kind == MmaKind::f16 ? Format::f16 : Format::e4m3;
  Result<Format> a = enumOf<Format, parseFormat>(in, "a", fallback);
  Result<Format> b = enumOf<Format, parseFormat>(in, "b", fallback);
  Result<Format> result = enumOf<Format, parseFormat>(in, "d", Format::f32);
  Result<ScaleFormat> scale = scaleOf(in, arch, kind, block);
  Result<SfaLayout> layout =
      enumOf<SfaLayout, parseSfaLayout>(in, "sfa_layout", SfaLayout::lanes32);
  for (const Result<Format> *r : {&a, &b, &result})
    if (!*r)
      return r->takeRefusal();
  if (!scale)
    return scale.takeRefusal();
  if (!layout)
    return layout.takeRefusal();
  d.a = *a;
  d.b = *b;
  d.d = *result;
  d.scale = *scale;
  d.sfaLayout = *layout;
  const struct {
    const char *name;
    int &value;
    uint64_t fallback;
  } kNumbers[] = {{"m", d.m, 128},
                  {"n", d.n, 128},
                  {"k", d.k, 0},
                  {"sfa_id", d.sfaId, 0},
                  {"sfb_id", d.sfbId, 0},
                  {"sparse_selector", d.sparseSelector, 0},
                  {"max_shift", d.maxShift, 0},
                  {"cta_group", d.ctaGroup, 0}};
  for (const auto &row : kNumbers) {
    Result<uint64_t> value = numberOf(in.fields, row.name, row.fallback, kMaxField);
    if (!value)
      return value.takeRefusal();
    row.value = int(*value);
  }
  const struct {
    const char *name;
    bool &value;
  } kFlags[] = {{"negate_a", d.negateA},
                {"negate_b", d.negateB},
                {"transpose_a", d.transposeA},
                {"transpose_b", d.transposeB},
                {"sparse", d.sparse}};
  for (const auto &row : kFlags) {
    Result<uint64_t> value = numberOf(in.fields, row.name, 0, 1);
    if (!value)
      return value.takeRefusal();
    row.value = *value;
  }
  return d;
}

int show(Arch arch, MmaKind kind, int block, uint32_t word) {
  std::string title = joinText("instruction descriptor of ", name(kind));
  if (isBlockScaled(kind))
    title += joinText(" with block ", block);
  return printView(joinText(title, " on ", name(arch)), word, 32,
                   viewIDesc(arch, kind, block, word));
}

} // namespace

int runIDesc(const Arguments &arguments) {
  if (auto r = arguments.onlyOptions({"arch", "kind", "block", "encode"}))
    return usageError(r->message);
  if (auto r =
          arguments.onlyFields({"a", "b", "d", "scale", "block", "m", "n", "k", "sfa_id", "sfb_id",
                                "negate_a", "negate_b", "transpose_a", "transpose_b", "sparse",
                                "sparse_selector", "max_shift", "sfa_layout", "cta_group"}))
    return usageError(r->message);
  Result<Arch> arch = archOf(arguments);
  if (!arch)
    return usageError(arch.message());
  auto kindText = arguments.options.find("kind");
  std::optional<MmaKind> kind;
  if (kindText != arguments.options.end())
    kind = parseMmaKind(kindText->second);
  if (!kind)
    return usageError(joinText(
        "explain_option: option --kind must be one of mxf8f6f4, mxf4, mxf4nvf4, f8f6f4, f16, got ",
        kindText == arguments.options.end() ? "none" : "'" + kindText->second + "'"));
  Result<uint64_t> block = blockOf(arguments, *kind);
  if (!block)
    return usageError(block.message());

  Result<bool> encode = arguments.encodes("m=128");
  if (!encode)
    return usageError(encode.message());
  if (*encode) {
    Result<IDesc> desc = readFields(arguments, *arch, *kind, int(*block));
    if (!desc)
      return usageError(desc.message());
    Result<uint32_t> word = encodeIDesc(*arch, *desc);
    if (!word) {
      std::printf("illegal: %s\n", word.message().c_str());
      return kIllegal;
    }
    return show(*arch, *kind, int(*block), *word);
  }

  if (arguments.words.empty())
    return usageError(
        "explain_word: idesc must have a word such as 0x08200488, or --encode and fields");
  if (auto r = arguments.noFields(/*allowed=*/"block"))
    return usageError(r->message);
  std::vector<uint32_t> words;
  for (const std::string &text : arguments.words) {
    Result<uint64_t> word = parseNumber("instruction descriptor", text, UINT32_MAX);
    if (!word)
      return usageError(word.message());
    words.push_back(uint32_t(*word));
  }
  int status = kLegal;
  for (uint32_t word : words)
    if (show(*arch, *kind, int(*block), word) != kLegal)
      status = kIllegal;
  return status;
}

} // namespace blockscale::explain
