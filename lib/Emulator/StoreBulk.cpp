//===- StoreBulk.cpp - st.bulk --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills shared memory of the own CTA with zeros. By the manual nothing about it is
// asynchronous: a weak store of the generic proxy, in program order, of many bytes.
//
//===----------------------------------------------------------------------===//

#include "StoreBulk.h"

#include "AsyncOps.h"
#include "Hazards/Hazards.h"

#include "blockscale/Facts/ArchInfo.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

constexpr uint64_t kUnit = 8, kMostBytes = 16777216;

constexpr uint32_t kWideAddress = 1, kGeneric = 2, kWideSize = 4; // in Instruction::flags

std::string badSize(uint64_t size) {
  if (size % kUnit == 0 && size <= kMostBytes)
    return {};
  return "bulk_size: size of st.bulk must be a multiple of 8 up to 16777216, got " +
         dec(int64_t(size));
}

// op: 0 address, 1 size
Outcome storeBulk(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    uint64_t address = addressAt(w, in.op[0], in.flags & kWideAddress, in.imm, l);
    const uint64_t size =
        in.flags & kWideSize ? w.reg<uint64_t>(in.op[1])[l] : w.reg<uint32_t>(in.op[1])[l];
    if (std::string e = badSize(size); !e.empty())
      return w.fail(in, Fault(e).at(sharedBytes(address & kSharedOffsetMask, size)));
    if ((in.flags & kGeneric) && classify(address, address) != Space::sharedCluster)
      return w.fail(in, Fault("mem_shared: st.bulk must write shared memory, got generic address " +
                              hex(addressAt(w, in.op[0], in.flags & kWideAddress, in.imm, l)))
                            .at(globalBytes(address, size)));
    if (address >> kClusterShift != w.cta->rank)
      return w.fail(in, Fault("mem_shared: address of shared::cta must be the CTA's own, got " +
                              hex(address) + " in CTA rank " + dec(w.cta->rank))
                            .at(sharedBytes(address, size)));
    if (!size)
      continue;
    uint8_t *to = w.resolveShared(in, address, unsigned(size));
    if (!to)
      return Outcome::error;
    if (w.hazards) {
      const bool isSame = std::all_of(to, to + size, [](uint8_t b) { return b == 0; });
      w.hazards->access(w, in, isSame ? Touch::storeSame : Touch::store, Space::shared, address,
                        unsigned(size), unsigned(l));
    }
    std::memset(to, 0, size);
  }
  ++w.cta->cluster->progress;
  return Outcome::next;
}

} // namespace

bool decodeStoreBulk(Decoder &d) {
  d.take("weak");
  const bool isGeneric = !d.take("shared::cta");
  d.take("weak");
  if (!d.expectOperands(3))
    return false;
  const auto value = d.immediate(d.operand(2));
  if (!value || *value)
    return d.fail("ptx_immediate: value of st.bulk must be 0" +
                  (value ? ", got " + dec(*value) : std::string()));
  const PtxOperand &size = d.operand(1);
  if (const auto bytes = d.immediate(size))
    if (std::string e = badSize(uint64_t(*bytes)); !e.empty())
      return d.fail(e);
  const bool isWide = !d.isRegister(size) || d.declaredBits(size) == 64;
  if (!isWide && d.version < facts::PtxRelease{9, 0})
    return d.fail("ptx_version: a 32-bit size of st.bulk must have .version 9.0 or later");
  const AddressOperand a = d.address(d.operand(0));
  Instruction in;
  in.op[0] = a.base;
  in.imm = a.offset;
  in.op[1] = d.source(1, isWide ? Type::u64 : Type::u32);
  in.flags = (a.wide ? kWideAddress : 0) | (isGeneric ? kGeneric : 0) | (isWide ? kWideSize : 0);
  in.run = storeBulk;
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
