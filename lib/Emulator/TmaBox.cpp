//===- TmaBox.cpp - checks of tensor maps and of shared memory ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28. What the instruction says of the map, the coordinates and
// the shared address; what the map itself may be was checked when it was encoded.
//
//===----------------------------------------------------------------------===//

#include "Tma.h"

namespace blockscale::emu {

/// sm_107: base, sizes and strides of the instruction stand in place of the map's. The four
/// upper bits of the stride of dimension i lie in bits 4 (i - 1) of one operand.
static bool overrideBox(Warp &w, const Instruction &in, const CopyForm &form, int lane, Box &b) {
  if (!form.overridesAddress)
    return true;
  uint64_t address = w.reg<uint64_t>(form.overrideAddress)[lane];
  if (address % 16) {
    w.fail(in, Fault("tma_override: address must be a multiple of 16 bytes, got " + hex(address))
                   .at(globalBytes(address, facts::kTmaWindow)));
    return false;
  }
  if (!w.launch->memory.find(address).covers(address, facts::kTmaWindow)) {
    w.fail(in, Fault("tma_override: " + dec(int64_t(facts::kTmaWindow)) +
                     " bytes from the address on must be mapped, got " + hex(address))
                   .at(globalBytes(address, facts::kTmaWindow)));
    return false;
  }
  b.map.address = address;
  for (unsigned i = 0; form.overridesShape && i < form.rank; ++i) {
    uint32_t size = w.reg<uint32_t>(form.overrideSizes[i])[lane] & 0xFFFF;
    if (size < 1 || size > 255) {
      w.fail(in, "tma_override: size of dimension " + dec(i) + " must be from 1 to 255, got " +
                     dec(size));
      return false;
    }
    if (w.reg<int32_t>(form.coords[i])[lane]) {
      w.fail(in, "tma_override: coordinates with sizes and strides must be 0, got " +
                     dec(w.reg<int32_t>(form.coords[i])[lane]) + " in dimension " + dec(i));
      return false;
    }
    b.map.dims[i] = size - 1;
    if (i) {
      uint64_t upper = w.reg<uint32_t>(form.overrideUpper)[lane] >> (4 * (i - 1)) & 15;
      b.map.strides[i - 1] = (upper << 32 | w.reg<uint32_t>(form.overrideStrides[i - 1])[lane])
                             << 4;
    }
  }
  return true;
}

bool readBox(Warp &w, const Instruction &in, const CopyForm &form, uint64_t mapAddress, int lane,
             Box &b) {
  auto mapBytes = [&] { return describeBytes(Space::generic, mapAddress, facts::kTmaMapBytes); };
  if (mapAddress % facts::kTmaMapAlignment) {
    w.fail(in, Fault("tma_map: tensor map must lie at a multiple of " +
                     dec(facts::kTmaMapAlignment) + " bytes, got " + hex(mapAddress))
                   .at(mapBytes()));
    return false;
  }
  uint64_t a;
  Space space = classify(mapAddress, a);
  const uint8_t *p = nullptr;
  if (space == Space::param || space == Space::global)
    p = w.resolve(in, space, a, 64, unsigned(lane));
  else
    w.fail(in, Fault("tma_map: tensor map must lie in parameter, constant or global memory, got " +
                     hex(mapAddress))
                   .at(mapBytes()));
  if (!p || !w.resolve(in, space, a + 64, 64, unsigned(lane)))
    return false;
  std::memcpy(&b.map, p, sizeof b.map);
  b.mapAddress = space == Space::global ? a : 0;
  if (b.map.mark != TensorMapImage::kMark) {
    w.fail(in, Fault("tma_map: tensor map must be made by the encode call, got other bytes at " +
                     hex(mapAddress))
                   .at(mapBytes()));
    return false;
  }
  // Most copies use the map of the one before.
  thread_local TensorMapImage checked;
  thread_local facts::Arch checkedFor;
  facts::Arch arch = w.launch->module.archValue;
  if (checkedFor != arch || std::memcmp(&checked, &b.map, sizeof checked) != 0) {
    if (std::string e = checkImage(arch, b.map); !e.empty()) {
      w.fail(in, Fault(e + " (map at " + hex(mapAddress) + ")").at(mapBytes()));
      return false;
    }
    checked = b.map;
    checkedFor = arch;
  }
  if (b.map.rank != form.rank) {
    w.fail(in, Fault("tma_rank: tensor map must have rank " + dec(form.rank) + ", got " +
                     dec(b.map.rank))
                   .at(mapBytes()));
    return false;
  }
  auto type = facts::TmaType(b.map.type);
  b.element = facts::info(type);
  b.swizzle = swizzleOf(b.map);
  if (!overrideBox(w, in, form, lane, b))
    return false;
  b.gather = form.gather;
  unsigned coordinates = form.gather ? 5 : form.rank;
  int32_t c[5];
  for (unsigned i = 0; i < coordinates; ++i)
    c[i] = w.reg<int32_t>(form.coords[i])[lane];
  bool isLoad = form.kind == CopyForm::Kind::load;
  for (unsigned i = 0; i < coordinates; ++i)
    if (!isLoad && c[i] < 0) {
      w.fail(in, Fault("tma_coordinate: coordinates of a store must not be negative, got " +
                       dec(c[i]) + " in dimension " + dec(i))
                     .at("the box by the map in " + mapBytes()));
      return false;
    }
  // Padded types start at whole groups of 128 elements.
  unsigned step =
      b.isPadded() ? facts::kTmaPaddedBox : facts::kTmaRowStep * 8 / unsigned(b.element.bits);
  if (c[0] % int32_t(step)) {
    w.fail(in, Fault("tma_coordinate: coordinate 0 must be a multiple of " + dec(step) +
                     " elements (16 bytes), got " + dec(c[0]))
                   .at("the box by the map in " + mapBytes()));
    return false;
  }
  for (unsigned i = 0; i < form.rank; ++i)
    b.start[i] = c[i];
  if (form.gather) {
    if (b.map.box[1] != 1) {
      w.fail(in,
             Fault("tma_gather4: box must have one row, got " + dec(b.map.box[1])).at(mapBytes()));
      return false;
    }
    for (int i = 0; i < facts::kTmaGather4Rows; ++i)
      b.gatherRows[i] = c[1 + i];
    b.rows = unsigned(facts::kTmaGather4Rows);
  } else {
    for (unsigned i = 1; i < form.rank; ++i) {
      b.counts[i] = uint32_t(facts::tmaBoxCount(int(i), b.map.box[i], b.map.elementStrides[i]));
      b.rows *= b.counts[i];
    }
  }
  b.globalRow = unsigned(facts::tmaGlobalRowBytes(type, b.map.box[0]));
  b.sharedRow = unsigned(facts::tmaSharedRowBytes(type, b.map.box[0]));
  b.pitch = unsigned(facts::tmaRowPitch(b.sharedRow, b.swizzle));
  return true;
}

bool checkBulkShared(Warp &w, const Instruction &in, uint64_t address, uint64_t bytes,
                     bool isTensor) {
  unsigned align = isTensor ? facts::kTmaSharedAlignment : kBulkUnit;
  if (address % align) {
    w.fail(in, Fault("tma_align: shared address must be a multiple of " + dec(align) +
                     " bytes, got " + hex(address))
                   .at(describeBytes(Space::sharedCluster, address, bytes)));
    return false;
  }
  return w.resolveShared(in, address, unsigned(bytes)) != nullptr;
}

} // namespace blockscale::emu
