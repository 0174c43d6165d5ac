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

/// Stores one field; false where the code has no meaning.
bool setField(const SmemDescFieldRow &row, uint64_t raw, SmemDesc &d) {
  uint32_t bytes = uint32_t(raw) * kSmemDescUnit;
  switch (row.field) {
  case SmemDescField::reserved:
    return true;
  case SmemDescField::start:
    d.start |= bytes;
    return true;
  case SmemDescField::startUpper:
    d.start |= bytes << 14;
    return true;
  case SmemDescField::leading:
    d.leadingBytes |= bytes;
    return true;
  case SmemDescField::leadingUpper:
    d.leadingBytes |= bytes << 14;
    return true;
  case SmemDescField::stride:
    d.strideBytes = bytes;
    return true;
  case SmemDescField::version:
    return raw == kSmemDescVersion;
  case SmemDescField::baseOffset:
    d.baseOffset = int(raw);
    return true;
  case SmemDescField::absolute:
    d.absolute = raw;
    return true;
  case SmemDescField::lutHalf:
    d.lutHalf = raw;
    return true;
  case SmemDescField::swizzle: {
    std::optional<Swizzle> swizzle = swizzleOfDescriptorCode(int(raw));
    if (swizzle)
      d.swizzle = *swizzle;
    return swizzle.has_value();
  }
  }
  return false;
}

/// What a field that was stored means.
std::string meaningOf(const SmemDescFieldRow &row, uint64_t raw, const SmemDesc &d) {
  uint64_t bytes = raw * kSmemDescUnit;
  switch (row.field) {
  case SmemDescField::reserved:
    return "";
  case SmemDescField::start:
  case SmemDescField::leading:
    return hex(bytes);
  case SmemDescField::startUpper:
    return joinText("bit 18 of the start; start = ", hex(d.start));
  case SmemDescField::leadingUpper:
    return joinText("bit 18 of leading; leading = ", hex(d.leadingBytes));
  case SmemDescField::stride:
    return joinText(bytes, " bytes");
  case SmemDescField::version:
    return "constant 0b001";
  case SmemDescField::baseOffset:
    return joinText("pattern starts ", raw * 128, " bytes late");
  case SmemDescField::absolute:
    return raw ? "leading is the address of the next buffer" : "leading is an offset";
  case SmemDescField::lutHalf:
    return raw ? "second 24 bytes of the LUT block" : "first 24 bytes";
  case SmemDescField::swizzle:
    return std::string(name(d.swizzle));
  }
  return "";
}

/// smem_desc_c9, smem_desc_c10: why a code has no meaning.
std::string complaintOf(const SmemDescFieldRow &row, uint64_t raw) {
  if (row.field == SmemDescField::version)
    return joinText("smem_desc_c9: version (bits 46..48) must be 1, got ", raw);
  return joinText("smem_desc_c10: swizzle code must be one of 0 (none), 1 (b128_atom32), 2 (b128), "
                  "4 (b64), 6 (b32), got ",
                  raw);
}

DescriptorView view(Arch arch, uint64_t word, SmemDesc &d) {
  DescriptorView out;
  if (auto refusal = checkArch(arch)) {
    out.problems.push_back(refusal->message);
    return out;
  }
  for (const SmemDescFieldRow &row : kSmemDescFields) {
    FieldView field{row.name, row.low, row.width, row.get(word), "", ""};
    if (!row.exists(arch)) {
      field.name = "reserved";
      if (field.raw) {
        std::string elsewhere =
            row.field == SmemDescField::reserved ? "" : joinText(" (", row.name, " elsewhere)");
        std::string bits = row.width == 1
                               ? joinText("bit ", row.low)
                               : joinText("bits ", row.low, "..", row.low + row.width - 1);
        field.meaning = "reserved" + elsewhere;
        field.problem = joinText("smem_desc_c8: ", bits, " reserved on ", name(arch), elsewhere,
                                 " must be 0, got ", field.raw);
      }
    } else if (setField(row, field.raw, d)) {
      field.meaning = meaningOf(row, field.raw, d);
    } else {
      field.meaning = "illegal";
      field.problem = complaintOf(row, field.raw);
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
  // The plain path makes no text; the view finds out what is wrong.
  SmemDesc desc;
  bool legal = info(arch).smemAddressBits != 0;
  for (const SmemDescFieldRow &row : kSmemDescFields) {
    uint64_t raw = row.get(word);
    legal &= row.exists(arch) ? setField(row, raw, desc) : raw == 0;
  }
  if (legal)
    return desc;
  SmemDesc unused;
  return refuse(view(arch, word, unused).problems.front());
}

} // namespace blockscale::facts
