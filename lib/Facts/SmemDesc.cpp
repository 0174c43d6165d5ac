//===- SmemDesc.cpp - legality and coding of shared-memory descriptors ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules smem_desc_c1 to c7 judge a decoded descriptor, c8 to c10 a word.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/SmemDesc.h"
#include "blockscale/Facts/ArchInfo.h"
#include "blockscale/Facts/DescriptorView.h"
#include "blockscale/Facts/SmemDescFields.h"

namespace blockscale::facts {
namespace {

std::string hex(uint64_t value) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  do
    out.insert(out.begin(), digits[value & 15]);
  while (value >>= 4);
  return "0x" + out;
}

/// smem_desc_c1: the chip must have the descriptor.
std::optional<Refusal> checkArch(Arch arch) {
  if (info(arch).smemAddressBits)
    return std::nullopt;
  return refuse("smem_desc_c1: target of a tcgen05 shared-memory descriptor must have tcgen05, "
                "got ",
                name(arch));
}

/// smem_desc_c2: addresses and offsets must be multiples of 16 bytes.
/// smem_desc_c3: and must fit the field of the chip.
std::optional<Refusal> checkAmount(Arch arch, const char *what, uint32_t value, int bits) {
  if (value % kSmemDescUnit)
    return refuse("smem_desc_c2: ", what, " must be a multiple of 16 bytes, got ", hex(value));
  if (value / kSmemDescUnit >> bits)
    return refuse("smem_desc_c3: ", what, " on ", name(arch), " must be below ",
                  hex(uint64_t(kSmemDescUnit) << bits), ", got ", hex(value));
  return std::nullopt;
}

/// smem_desc_c4: the swizzle must be one that descriptors have.
std::optional<Refusal> checkSwizzle(Swizzle swizzle) {
  if (info(swizzle).descriptorCode >= 0)
    return std::nullopt;
  return refuse("smem_desc_c4: swizzle must be one of none, b32, b64, b128, b128_atom32, got ",
                name(swizzle));
}

/// smem_desc_c5: base offset 0..7, and 0 without a swizzle.
std::optional<Refusal> checkBaseOffset(const SmemDesc &d) {
  int most = d.swizzle == Swizzle::none ? 0 : 7;
  if (d.baseOffset >= 0 && d.baseOffset <= most)
    return std::nullopt;
  return refuse("smem_desc_c5: base_offset with swizzle ", name(d.swizzle), " must be from 0 to ",
                most, ", got ", d.baseOffset);
}

/// smem_desc_c6: the tile must start where its pattern starts.
std::optional<Refusal> checkAlignment(const SmemDesc &d) {
  if (d.swizzle == Swizzle::none)
    return std::nullopt;
  const SwizzleInfo &row = info(d.swizzle);
  uint32_t period = uint32_t(row.period), late = uint32_t(d.baseOffset) << 7;
  uint32_t base = d.tileBase ? *d.tileBase : d.start;
  uint32_t phase = (base - late) % period;
  // A K step stays in the first row of the pattern, so a start without a known tile
  // may lie anywhere in it.
  if (d.tileBase ? phase == 0 : phase < uint32_t(row.span))
    return std::nullopt;
  return refuse("smem_desc_c6: start of a tile with swizzle ", name(d.swizzle), " and base_offset ",
                d.baseOffset, " must be aligned to ", row.period,
                d.baseOffset ? joinText(" + ", late) : "", " bytes, got ", hex(base));
}

/// smem_desc_c7: an absolute leading address needs the chip and 128-byte swizzle;
/// the LUT half needs the 107 family.
std::optional<Refusal> checkModes(Arch arch, const SmemDesc &d) {
  if (d.absolute && !smemDescField(SmemDescField::absolute).exists(arch))
    return refuse("smem_desc_c7: absolute leading address must run on one of sm_103a, sm_107a, "
                  "got ",
                  name(arch));
  if (d.absolute && (d.swizzle != Swizzle::b128 || d.baseOffset))
    return refuse("smem_desc_c7: absolute leading address must have swizzle b128 and base_offset "
                  "0, got ",
                  name(d.swizzle), " and ", d.baseOffset);
  if (d.lutHalf && !smemDescField(SmemDescField::lutHalf).exists(arch))
    return refuse("smem_desc_c7: lut_half must run on one of sm_107a, sm_107f, got ", name(arch));
  return std::nullopt;
}

std::optional<Refusal> check(Arch arch, const SmemDesc &d) {
  if (auto r = checkArch(arch))
    return r;
  int bits = info(arch).smemAddressBits;
  if (auto r = checkAmount(arch, "start", d.start, bits))
    return r;
  if (auto r = checkAmount(arch, d.absolute ? "address of the next buffer" : "leading offset",
                           d.leadingBytes, bits))
    return r;
  if (auto r = checkAmount(arch, "stride offset", d.strideBytes,
                           smemDescField(SmemDescField::stride).width))
    return r;
  if (auto r = checkSwizzle(d.swizzle))
    return r;
  if (auto r = checkBaseOffset(d))
    return r;
  if (auto r = checkAlignment(d))
    return r;
  return checkModes(arch, d);
}

/// One field of a word: its meaning, or why it has none.
void decodeField(const SmemDescFieldRow &row, FieldView &view, SmemDesc &d) {
  uint32_t bytes = uint32_t(view.raw) * kSmemDescUnit;
  switch (row.field) {
  case SmemDescField::reserved:
    return;
  case SmemDescField::start:
    d.start |= bytes;
    view.meaning = hex(bytes);
    return;
  case SmemDescField::startUpper:
    d.start |= bytes << 14;
    view.meaning = joinText("bit 18 of the start; start = ", hex(d.start));
    return;
  case SmemDescField::leading:
    d.leadingBytes |= bytes;
    view.meaning = hex(bytes);
    return;
  case SmemDescField::leadingUpper:
    d.leadingBytes |= bytes << 14;
    view.meaning = joinText("bit 18 of leading; leading = ", hex(d.leadingBytes));
    return;
  case SmemDescField::stride:
    d.strideBytes = bytes;
    view.meaning = joinText(bytes, " bytes");
    return;
  case SmemDescField::version:
    view.meaning = view.raw == kSmemDescVersion ? "constant 0b001" : "illegal";
    if (view.raw != kSmemDescVersion)
      view.problem = joinText("smem_desc_c9: version (bits 46..48) must be 1, got ", view.raw);
    return;
  case SmemDescField::baseOffset:
    d.baseOffset = int(view.raw);
    view.meaning = joinText("pattern starts ", view.raw * 128, " bytes late");
    return;
  case SmemDescField::absolute:
    d.absolute = view.raw;
    view.meaning = view.raw ? "leading is the address of the next buffer" : "leading is an offset";
    return;
  case SmemDescField::lutHalf:
    d.lutHalf = view.raw;
    view.meaning = view.raw ? "second 24 bytes of the LUT block" : "first 24 bytes";
    return;
  case SmemDescField::swizzle:
    if (std::optional<Swizzle> swizzle = swizzleOfDescriptorCode(int(view.raw))) {
      d.swizzle = *swizzle;
      view.meaning = name(*swizzle);
      return;
    }
    view.meaning = "illegal";
    view.problem = joinText("smem_desc_c10: swizzle code must be one of 0 (none), 1 (b128_atom32), "
                            "2 (b128), 4 (b64), 6 (b32), got ",
                            view.raw);
    return;
  }
}

DescriptorView view(Arch arch, uint64_t word, SmemDesc &d) {
  DescriptorView out;
  if (auto refusal = checkArch(arch)) {
    out.problems.push_back(refusal->message);
    return out;
  }
  for (const SmemDescFieldRow &row : kSmemDescFields) {
    FieldView field{row.name, row.low, row.width, row.get(word), "", ""};
    if (row.exists(arch)) {
      decodeField(row, field, d);
    } else {
      std::string what =
          row.field == SmemDescField::reserved ? "" : joinText(" (", row.name, " elsewhere)");
      field.name = "reserved";
      if (field.raw) {
        std::string bits = row.width == 1
                               ? joinText("bit ", row.low)
                               : joinText("bits ", row.low, "..", row.low + row.width - 1);
        field.meaning = "reserved" + what;
        field.problem = joinText("smem_desc_c8: ", bits, " reserved on ", name(arch), what,
                                 " must be 0, got ", field.raw);
      }
    }
    if (!field.problem.empty())
      out.problems.push_back(field.problem);
    out.fields.push_back(std::move(field));
  }
  return out;
}

} // namespace

Result<bool> checkSmemDesc(Arch arch, const SmemDesc &desc) {
  if (auto refusal = check(arch, desc))
    return *refusal;
  return true;
}

Result<uint64_t> encodeSmemDesc(Arch arch, const SmemDesc &desc) {
  if (auto refusal = check(arch, desc))
    return *refusal;
  auto put = [](SmemDescField field, uint64_t raw) { return smemDescField(field).put(raw); };
  uint64_t start = desc.start / kSmemDescUnit, leading = desc.leadingBytes / kSmemDescUnit;
  uint64_t word = 0;
  word |= put(SmemDescField::start, start);
  word |= put(SmemDescField::startUpper, start >> 14);
  word |= put(SmemDescField::leading, leading);
  word |= put(SmemDescField::leadingUpper, leading >> 14);
  word |= put(SmemDescField::stride, desc.strideBytes / kSmemDescUnit);
  word |= put(SmemDescField::version, kSmemDescVersion);
  word |= put(SmemDescField::baseOffset, uint64_t(desc.baseOffset));
  word |= put(SmemDescField::absolute, desc.absolute);
  word |= put(SmemDescField::lutHalf, desc.lutHalf);
  word |= put(SmemDescField::swizzle, uint64_t(info(desc.swizzle).descriptorCode));
  return word;
}

DescriptorView viewSmemDesc(Arch arch, uint64_t word, bool judgePlace) {
  SmemDesc desc;
  DescriptorView out = view(arch, word, desc);
  if (judgePlace && out.problems.empty())
    if (Result<bool> legal = checkSmemDesc(arch, desc); !legal)
      out.problems.push_back(legal.message());
  return out;
}

Result<SmemDesc> decodeSmemDesc(Arch arch, uint64_t word) {
  SmemDesc desc;
  DescriptorView fields = view(arch, word, desc);
  if (!fields.problems.empty())
    return refuse(fields.problems.front());
  return desc;
}

} // namespace blockscale::facts
