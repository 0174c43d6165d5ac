//===- AtomicFormsTest.cpp - atomics of every order, scope and space ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread, so that old and new value of each operation are known; what orders and scopes
// forbid is the subject of the hazard tests.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

struct Operation {
  const char *name, *type;
  unsigned bytes;
  uint32_t initial, operand, result; // low words; the others are zero
  bool compares = false;             // with the initial value
  bool hasReduction = true;
};

const Operation kOperations[] = {
    {"add", "u32", 4, 40, 2, 42},
    {"min", "u32", 4, 9, 5, 5},
    {"max", "u64", 8, 9, 15, 15},
    {"inc", "u32", 4, 3, 7, 4},
    {"dec", "u32", 4, 3, 7, 2},
    {"and", "b32", 4, 6, 3, 2},
    {"xor", "b64", 8, 6, 3, 5},
    {"exch", "b32", 4, 6, 3, 3, false, false},
    {"exch", "b128", 16, 6, 3, 3, false, false},
    {"cas", "b32", 4, 6, 3, 3, true, false},
    {"cas", "b128", 16, 6, 3, 3, true, false},
    {"add.noftz", "f16", 2, 0x3C00, 0x4000, 0x4200}, // 1 + 2
};

struct Place {
  const char *modifiers; // between opcode and operation
  bool isShared;
};

const Place kPlaces[] = {
    {".relaxed.cta.global", false},
    {".relaxed.cluster.global", false},
    {".relaxed.gpu.global", false},
    {".relaxed.sys.global", false},
    {".acquire.gpu.global", false},
    {".release.gpu.global", false},
    {".acq_rel.gpu.global", false},
    {"", false},
    {".shared", true},
    {".shared::cta", true},
    {".relaxed.shared::cluster", true},
};

std::string valueOf(const Operation &op, const std::string &name, uint32_t value) {
  const std::string number = std::to_string(value);
  switch (op.bytes) {
  case 2:
    return ".reg .b16 " + name + "; mov.b16 " + name + ", " + number + ";\n";
  case 16:
    return ".reg .b128 " + name + "; mov.b64 %rd20, " + number + "; mov.b64 %rd21, 0; mov.b128 " +
           name + ", {%rd20, %rd21};\n";
  default:
    return ".reg .b" + std::to_string(8 * op.bytes) + " " + name + "; mov.b" +
           std::to_string(8 * op.bytes) + " " + name + ", " + number + ";\n";
  }
}

/// Stores the low word of a register to `out` at an offset.
std::string tell(const Operation &op, const std::string &name, unsigned offset) {
  const std::string to = "[%out+" + std::to_string(offset) + "]";
  switch (op.bytes) {
  case 2:
    return "cvt.u32.u16 %r20, " + name + "; st.global.b32 " + to + ", %r20;\n";
  case 4:
    return "st.global.b32 " + to + ", " + name + ";\n";
  case 8:
    return "cvt.u32.u64 %r20, " + name + "; st.global.b32 " + to + ", %r20;\n";
  default:
    return "mov.b128 {%rd20, %rd21}, " + name + "; cvt.u32.u64 %r20, %rd20; st.global.b32 " + to +
           ", %r20;\n";
  }
}

void expectOperation(const Operation &op, const Place &place, bool isReduction, bool isHinted) {
  const std::string modifiers = place.modifiers;
  if (isReduction && modifiers.find("acq") != std::string::npos)
    return; // red neither acquires nor returns
  const std::string opcode = std::string(isReduction ? "red" : "atom") + modifiers + "." + op.name +
                             (isHinted && op.bytes != 2 ? ".L2::cache_hint." : ".") + op.type +
                             (isHinted && op.bytes == 2 ? ".L2::cache_hint" : "");
  SCOPED_TRACE(opcode);
  const std::string space = place.isShared ? ".shared" : ".global",
                    at = place.isShared ? "[buf]" : "[%out+128]";
  std::string body;
  for (unsigned i = 0; i < 16; i += 4) // the low word, then zeros
    body += "st" + space + ".b32 " +
            (place.isShared ? "[buf+" + std::to_string(i) : "[%out+" + std::to_string(128 + i)) +
            "], " + std::to_string(i ? 0 : op.initial) + ";\n";
  body += valueOf(op, "%initial", op.initial) + valueOf(op, "%operand", op.operand) +
          valueOf(op, "%old", 77) + "mov.b64 %rd22, 0;\n" + opcode +
          (isReduction ? " " : " %old, ") + at + (op.compares ? ", %initial" : "") + ", %operand" +
          (isHinted ? ", %rd22" : "") + ";\nld" + space + ".b32 %r21, " + at +
          "; st.global.b32 [%out+4], %r21;\n" + tell(op, "%old", 0);
  Scene s;
  s.block = {1, 1, 1};
  const Ran r = run(kernel(body, "sm_100a", ".shared .align 16 .b8 buf[64];\n"), s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], isReduction ? 77 : op.initial);
  EXPECT_EQ(r.out[1], op.result);
}

TEST(AtomicForms, EveryOrderScopeAndSpace) {
  for (const Operation &op : kOperations)
    for (const Place &place : kPlaces)
      for (bool isReduction : {false, true})
        if (!isReduction || op.hasReduction)
          expectOperation(op, place, isReduction, /*isHinted=*/false);
}

TEST(AtomicForms, CacheHints) {
  for (const Operation &op : kOperations)
    for (bool isReduction : {false, true})
      if (!isReduction || op.hasReduction)
        expectOperation(op, {".relaxed.gpu.global", false}, isReduction, /*isHinted=*/true);
}

} // namespace
