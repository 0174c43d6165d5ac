//===- LoadStore.cpp - ld and st ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.8 to 9.7.10.12. Cache and eviction qualifiers are hints.
// Loads that ask for an ordering (acquire, relaxed, volatile) let other warps run
// before the next instruction, since somebody may poll with them.
//
//===----------------------------------------------------------------------===//

#include "Hazards/Hazards.h"
#include "Lanes.h"
#include "Polls.h"
#include "StoreAsync.h"
#include "StoreBulk.h"

#include <cstring>

namespace blockscale::emu {
namespace {

// flags
enum : uint32_t {
  kWideBase = 1,
  kWideReg = 2,
  kSigned = 4,
  kPoll = 8,
  kNarrowReg = 16,
  kReadOnly = 32, // ld.nc
  kWide = 64      // strong at gpu or sys scope
};
constexpr unsigned kOrderShift = 8;

uint64_t laneAddress(const Warp &w, const Instruction &in, int l) {
  uint64_t base =
      in.flags & kWideBase ? w.reg<uint64_t>(in.op[0])[l] : w.reg<uint32_t>(in.op[0])[l];
  return base + uint64_t(in.imm);
}

/// The part of an address space that the last lane hit: most lanes hit it again.
struct Window {
  uint64_t begin = 0, size = 0;
  uint8_t *host = nullptr;
  uint8_t *find(uint64_t address, unsigned bytes) const {
    uint64_t offset = address - begin;
    return offset < size && bytes <= size - offset && !(address & (bytes - 1)) ? host + offset
                                                                               : nullptr;
  }
};

Window sharedWindow(const Warp &w, uint64_t base) {
  return {base + (uint64_t(w.cta->rank) << kClusterShift) + kSharedBase,
          w.launch->sharedBytes - kSharedBase, w.cta->shared.data() + kSharedBase};
}

/// The window to try first for an instruction's space; empty where lanes differ.
Window firstWindow(const Warp &w, Space space, Warp::Access access = Warp::Access::read) {
  switch (space) {
  case Space::shared:
  case Space::sharedCluster:
    return sharedWindow(w, 0);
  case Space::param:
    return {kParamBase, w.launch->params.size(), w.launch->params.data()};
  case Space::local:
    return {};
  default:
    if (access == Warp::Access::write && w.cache.isConstant)
      return {};
    return {w.cache.begin, w.cache.end > w.cache.begin ? w.cache.end - w.cache.begin : 0,
            w.cache.host};
  }
}

/// The slow way, which reports; remembers where a generic or global address led.
uint8_t *resolveLane(Warp &w, const Instruction &in, uint64_t address, unsigned bytes, int l,
                     Window &window, Warp::Access access) {
  Space space = Space(in.imm2);
  uint8_t *p = w.resolve(in, space, address, bytes, unsigned(l), access);
  if (space == Space::generic && address >> kWindowShift == kSharedWindow >> kWindowShift)
    window = sharedWindow(w, kSharedWindow);
  else if (space == Space::generic || space == Space::global || space == Space::constant)
    window = firstWindow(w, Space::global, access);
  return p;
}

/// Host address of 32 consecutive words that a whole warp touches, or null.
uint8_t *consecutiveWords(const Warp &w, const Instruction &in, const Window &window) {
  if (w.mask != ~0u)
    return nullptr;
  uint64_t first = laneAddress(w, in, 0);
  uint32_t differs = 0;
  if (in.flags & kWideBase) {
    const uint64_t *a = w.reg<uint64_t>(in.op[0]);
    uint64_t any = 0;
    for (unsigned l = 0; l < 32; ++l)
      any |= a[l] ^ (a[0] + 4 * l);
    differs = any != 0;
  } else {
    const uint32_t *a = w.reg<uint32_t>(in.op[0]);
    for (unsigned l = 0; l < 32; ++l)
      differs |= a[l] ^ (a[0] + 4 * l);
  }
  uint64_t offset = first - window.begin;
  return !differs && !(first & 3) && offset < window.size && window.size - offset >= 128
             ? window.host + offset
             : nullptr;
}

/// Tells the hazard checks of every lane's access of n elements; strong ones count singly.
void note(Warp &w, const Instruction &in, Touch touch, unsigned bytes, unsigned n,
          uint32_t same = 0) {
  if (in.flags & kReadOnly)
    return;
  uint64_t addresses[32] = {};
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    addresses[l] = laneAddress(w, in, l);
  }
  const auto order = Order(in.flags >> kOrderShift);
  if (order == Order::weak) {
    bytes *= n;
    n = 1;
  }
  for (unsigned i = 0; i < n; ++i) {
    w.hazards->accesses(w, in, touch, Space(in.imm2), addresses, bytes, same, order,
                        in.flags & kWide);
    for (uint64_t &a : addresses)
      a += bytes;
  }
}

/// Elements of `bytes` bytes, in.sub of them, registers in lists[list..].
template <unsigned bytes> Outcome load(Warp &w, const Instruction &in) {
  const Operand *regs = w.kernel->lists.data() + in.list;
  unsigned n = in.sub;
  Window window = firstWindow(w, Space(in.imm2));
  Outcome done = in.flags & kPoll ? Outcome::yield : Outcome::next;
  if (bytes == 4 && n == 1 && !(in.flags & (kWideReg | kNarrowReg)) && regs[0] != kNone)
    if (const uint8_t *p = consecutiveWords(w, in, window)) {
      if (w.hazards)
        note(w, in, Touch::load, 4, 1);
      std::memcpy(w.reg<uint32_t>(regs[0]), p, 128);
      return done;
    }
  // Addresses first: a destination may be the base register.
  const uint8_t *from[32];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address = laneAddress(w, in, l);
    from[l] = window.find(address, bytes * n);
    if (!from[l])
      from[l] = resolveLane(w, in, address, bytes * n, l, window, Warp::Access::read);
    if (!from[l])
      return Outcome::error;
  }
  if (w.hazards)
    note(w, in, Touch::load, bytes, n);
  for (unsigned i = 0; i < n; ++i) {
    if (regs[i] == kNone)
      continue;
    for (uint32_t m = w.mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      const uint8_t *p = from[l] + i * bytes;
      if constexpr (bytes == 16) {
        std::memcpy(w.reg<uint8_t>(regs[i]) + 16 * l, p, 16);
      } else {
        uint64_t v = 0;
        std::memcpy(&v, p, bytes);
        if (in.flags & kSigned)
          v = uint64_t(int64_t(v << (64 - 8 * bytes)) >> (64 - 8 * bytes));
        if (in.flags & kWideReg)
          w.reg<uint64_t>(regs[i])[l] = v;
        else
          w.reg<uint32_t>(regs[i])[l] = in.flags & kNarrowReg ? uint16_t(v) : uint32_t(v);
      }
    }
  }
  return done;
}

/// Copies, and tells whether that changed anything.
bool put(uint8_t *to, const void *from, size_t bytes) {
  bool changed = std::memcmp(to, from, bytes) != 0;
  std::memcpy(to, from, bytes);
  return changed;
}

/// Lanes whose word is in memory already.
uint32_t sameWords(const uint8_t *memory, const uint32_t *words) {
  uint32_t same = 0;
  for (unsigned l = 0; l < 32; ++l)
    same |= uint32_t(std::memcmp(memory + 4 * l, words + l, 4) == 0) << l;
  return same;
}

/// Tells the hazard checks of the values of an ordinary store to global memory, where they ask;
/// comes back with the lanes that change nothing.
template <unsigned bytes> uint32_t noteValues(Warp &w, const Instruction &in, uint32_t same) {
  const Space space = Space(in.imm2);
  if (!w.hazards->keepsValues() || Order(in.flags >> kOrderShift) != Order::weak ||
      (space != Space::global && space != Space::generic))
    return same;
  const Operand *regs = w.kernel->lists.data() + in.list;
  const unsigned n = in.sub, size = bytes * n;
  uint8_t values[32 * 32];
  uint64_t begin = 0;
  unsigned lanes[32], count = 0; // of the neighbours that are being collected
  auto tell = [&] {
    uint32_t theirs = 0;
    for (unsigned i = 0; i < count; ++i)
      theirs |= (same >> lanes[i] & 1) << i;
    const uint32_t now = count ? w.hazards->stored(begin, size, count, values, theirs) : 0;
    for (unsigned i = 0; i < count; ++i)
      same = (same & ~(1u << lanes[i])) | (now >> i & 1) << lanes[i];
    count = 0;
  };
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const auto l = unsigned(__builtin_ctz(m));
    uint64_t address = laneAddress(w, in, int(l));
    if (space == Space::generic && classify(address, address) != Space::global)
      continue;
    if (address != begin + uint64_t(size) * count || !count) {
      tell();
      begin = address;
    }
    uint8_t *to = values + size_t(size) * count;
    lanes[count++] = l;
    for (unsigned i = 0; i < n; ++i)
      std::memcpy(to + size_t(i) * bytes,
                  w.reg<uint8_t>(regs[i]) + (bytes == 16           ? 16
                                             : in.flags & kWideReg ? 8
                                                                   : 4) *
                                                size_t(l),
                  bytes);
  }
  tell();
  return same;
}

/// Tells the hazard checks of lanes that another lane of the same store has overwritten.
template <unsigned bytes> void noteCollisions(Warp &w, const Instruction &in, Window window) {
  const Operand *regs = w.kernel->lists.data() + in.list;
  const unsigned n = in.sub;
  uint64_t addresses[32] = {};
  uint32_t lost = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    addresses[l] = laneAddress(w, in, l);
    const uint8_t *p = window.find(addresses[l], bytes * n);
    if (!p)
      p = resolveLane(w, in, addresses[l], bytes * n, l, window, Warp::Access::write);
    bool differs = false;
    for (unsigned i = 0; i < n; ++i, p += bytes) {
      const void *value = bytes == 16 ? static_cast<const void *>(w.reg<uint8_t>(regs[i]) + 16 * l)
                          : in.flags & kWideReg
                              ? static_cast<const void *>(w.reg<uint64_t>(regs[i]) + l)
                              : static_cast<const void *>(w.reg<uint32_t>(regs[i]) + l);
      differs |= std::memcmp(p, value, bytes) != 0;
    }
    lost |= uint32_t(differs) << l;
  }
  if (lost)
    w.hazards->lanesCollided(w, in, "st", Space(in.imm2), addresses, bytes * n, w.mask, lost);
}

template <unsigned bytes> Outcome store(Warp &w, const Instruction &in) {
  const Operand *regs = w.kernel->lists.data() + in.list;
  unsigned n = in.sub;
  bool changed = false;
  uint32_t same = 0; // lanes that change nothing
  Window window = firstWindow(w, Space(in.imm2), Warp::Access::write);
  if (bytes == 4 && n == 1 && !(in.flags & kWideReg))
    if (uint8_t *p = consecutiveWords(w, in, window)) {
      if (w.hazards)
        note(w, in, Touch::store, 4, 1,
             noteValues<4>(w, in, sameWords(p, w.reg<uint32_t>(regs[0]))));
      w.cta->cluster->progress += put(p, w.reg<uint32_t>(regs[0]), 128);
      return Outcome::next;
    }
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address = laneAddress(w, in, l);
    uint8_t *p = window.find(address, bytes * n);
    if (!p)
      p = resolveLane(w, in, address, bytes * n, l, window, Warp::Access::write);
    if (!p)
      return Outcome::error;
    bool differs = false;
    for (unsigned i = 0; i < n; ++i, p += bytes) {
      if constexpr (bytes == 16)
        differs |= put(p, w.reg<uint8_t>(regs[i]) + 16 * l, 16);
      else if (in.flags & kWideReg)
        differs |= put(p, w.reg<uint64_t>(regs[i]) + l, bytes);
      else
        differs |= put(p, w.reg<uint32_t>(regs[i]) + l, bytes);
    }
    changed |= differs;
    same |= uint32_t(!differs) << l;
  }
  if (w.hazards) {
    note(w, in, Touch::store, bytes, n, noteValues<bytes>(w, in, same));
    if (Order(in.flags >> kOrderShift) == Order::weak && Space(in.imm2) != Space::local)
      noteCollisions<bytes>(w, in, window);
  }
  // Local memory belongs to the state of the warp.
  w.cta->cluster->progress += changed && Space(in.imm2) != Space::local;
  return Outcome::next;
}

/// Parameters of functions and calls live in local memory, those of kernels do not.
bool isLocalParam(const Decoder &d, const PtxOperand &address) {
  const std::string &base = address.items.empty() ? address.name : address.items[0].name;
  return d.localParam(base) || (d.function && !base.empty() && base[0] == '%');
}

Space takeSpace(Decoder &d, bool isStore) {
  switch (d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                       "param::entry", "const"})) {
  case 0:
    return Space::global;
  case 1:
  case 2:
    return Space::shared;
  case 3:
    return Space::sharedCluster;
  case 4:
    return Space::local;
  case 5:
  case 6:
    if (isLocalParam(d, d.operand(isStore ? 0 : 1)))
      return Space::local;
    if (isStore)
      d.fail("ptx_space: st must not write .param of a kernel");
    return Space::param;
  case 7:
    if (isStore)
      d.fail("ptx_space: st must not write .const");
    return Space::constant;
  default:
    return Space::generic;
  }
}

Handler loadOf(unsigned bytes) {
  switch (bytes) {
  case 1:
    return load<1>;
  case 2:
    return load<2>;
  case 4:
    return load<4>;
  case 8:
    return load<8>;
  default:
    return load<16>;
  }
}
Handler storeOf(unsigned bytes) {
  switch (bytes) {
  case 1:
    return store<1>;
  case 2:
    return store<2>;
  case 4:
    return store<4>;
  case 8:
    return store<8>;
  default:
    return store<16>;
  }
}

bool decodeLoadStore(Decoder &d) {
  bool isStore = d.raw->opcode == "st";
  if (isStore && d.take("async"))
    return decodeStoreAsync(d, /*reduces=*/false);
  if (isStore && d.take("bulk"))
    return decodeStoreBulk(d);
  int ordering = d.takeOneOf({"acquire", "relaxed", "volatile", "mmio", "release"});
  bool poll = ordering >= 0;
  Order order = ordering < 0    ? Order::weak
                : ordering == 0 ? Order::acquire
                : ordering == 4 ? Order::release
                                : Order::relaxed;
  d.take("mmio");
  d.take("weak");
  int scope = d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  bool nonCoherent = d.take("nc");
  bool uniform = d.raw->opcode == "ldu";
  Space space = takeSpace(d, isStore);
  bool wide = ordering == 2 || scope >= 2; // volatile, or a scope beyond the cluster
  d.kernel.talksThroughGlobal |=
      poll && wide && (space == Space::global || space == Space::generic);
  if (nonCoherent && space != Space::global)
    return d.fail("ptx_space: ld.nc must read .global");
  nonCoherent |= d.take("nc");
  d.takeHints();
  bool policy = d.take("L2::cache_hint");
  d.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  int vec = d.takeOneOf({"v2", "v4", "v8"});
  unsigned n = vec < 0 ? 1 : 2u << vec;
  Type t = d.takeType();
  unsigned bytes = bits(t) / 8;
  if (bytes == 0 || t > Type::f64 || uniform)
    return false;
  if (n * bytes > 32 || (n == 8 && bytes != 4))
    return d.fail("ptx_vector: " + d.raw->opcode + " must move at most 32 bytes, got " +
                  dec(n * bytes));
  if (!d.expectOperands(policy ? 3 : 2))
    return false;
  const PtxOperand &address = d.operand(isStore ? 0 : 1), &data = d.operand(isStore ? 1 : 0);
  AddressOperand a = d.address(address);
  Instruction in;
  in.op[0] = a.base;
  in.imm = a.offset;
  in.imm2 = int64_t(space);
  in.sub = uint8_t(n);
  in.flags = (a.wide ? uint32_t(kWideBase) : 0) | (poll && !isStore ? uint32_t(kPoll) : 0) |
             (isSigned(t) ? uint32_t(kSigned) : 0) | uint32_t(order) << kOrderShift |
             (nonCoherent ? uint32_t(kReadOnly) : 0) |
             (ordering == 2 || (poll && scope >= 2) ? uint32_t(kWide) : 0);
  std::vector<Operand> regs;
  // A single register may stand in braces, too.
  bool isList = data.kind == PtxOperand::Kind::vector;
  if ((n > 1 && !isList) || (isList && data.items.size() != n))
    return d.fail("ptx_operand: " + d.raw->opcode + " must have " + dec(n) + " data operands");
  RegClass common = RegClass::r32;
  for (unsigned i = 0; i < n; ++i) {
    const PtxOperand &o = isList ? data.items[i] : data;
    RegClass cls = regClass(bits(t));
    Operand r = !isStore && o.kind == PtxOperand::Kind::sink ? kNone
                : isStore                                    ? d.wideSource(o, t, cls)
                                                             : d.wideDest(o, t, cls);
    if (!d.error.empty())
      return false;
    if (laneBytes(cls) < bytes)
      return d.fail("ptx_operand: register " + o.name + " must hold ." + std::string(name(t)));
    if (r != kNone)
      common = cls;
    regs.push_back(r);
  }
  if (common == RegClass::r64)
    in.flags |= kWideReg;
  if (common == RegClass::r128 && bytes != 16)
    return d.fail("ptx_operand: a 128-bit register must be moved by .b128");
  in.list = uint32_t(d.kernel.lists.size());
  in.listCount = n;
  d.kernel.lists.insert(d.kernel.lists.end(), regs.begin(), regs.end());
  in.run = isStore ? storeOf(bytes) : loadOf(bytes);
  // Lanes of 16-bit registers keep their upper bits zero; wider ones are filled by the sign.
  if (isSigned(t) && !isStore && d.declaredBits(isList ? data.items[0] : data) == 16)
    in.flags |= kNarrowReg;
  d.emit(in);
  return true;
}

constexpr int64_t kCacheLine = 128;

Outcome nothing(Warp &, const Instruction &) { return Outcome::next; }

/// prefetch, prefetchu, applypriority, discard: hints on addresses.
bool decodePrefetch(Decoder &d) {
  d.takeOneOf({"global", "local", "param", "const"});
  d.takeHints();
  d.takeOneOf({"L1", "L2", "tensormap"});
  const bool sized = d.raw->opcode == "applypriority" || d.raw->opcode == "discard";
  if (!d.expectOperands(sized ? 2 : 1))
    return false;
  d.address(d.operand(0));
  if (sized) {
    auto bytes = d.immediate(d.operand(1));
    if (!bytes || *bytes != kCacheLine)
      return d.fail("ptx_immediate: size of " + d.raw->opcode + " must be 128" +
                    (bytes ? ", got " + dec(*bytes) : std::string()));
  }
  Instruction in;
  in.run = nothing;
  d.emit(in);
  return d.error.empty();
}

Outcome createPolicy(Warp &w, const Instruction &in) {
  uint64_t *d = w.reg<uint64_t>(in.op[0]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    d[__builtin_ctz(m)] = 0;
  return Outcome::next;
}
bool decodeCreatePolicy(Decoder &d) {
  d.takeOneOf({"fractional", "range"});
  d.take("global");
  d.takeHints();
  if (d.takeType() != Type::b64)
    return false;
  Instruction in;
  in.run = createPolicy;
  in.op[0] = d.dest(0, Type::b64);
  d.emit(in);
  return d.error.empty();
}

} // namespace

Polled polledByLoad(Warp &w, const Instruction &in, uint32_t lanes) {
  for (unsigned bytes : {1u, 2u, 4u, 8u, 16u})
    if (in.run == loadOf(bytes)) {
      const unsigned lane = unsigned(__builtin_ctz(lanes));
      std::string word = describeWord(w, in, laneAddress(w, in, int(lane)), bytes, lane);
      if (!word.empty())
        return {in.flags & kPoll ? 2u : 1u, " reads" + word};
    }
  return {};
}

DecodeFn findLoadStore(std::string_view opcode) {
  if (opcode == "ld" || opcode == "st" || opcode == "ldu")
    return decodeLoadStore;
  if (opcode == "prefetch" || opcode == "prefetchu" || opcode == "applypriority" ||
      opcode == "discard")
    return decodePrefetch;
  if (opcode == "createpolicy")
    return decodeCreatePolicy;
  return nullptr;
}

} // namespace blockscale::emu
