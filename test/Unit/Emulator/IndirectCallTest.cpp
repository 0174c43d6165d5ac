//===- IndirectCallTest.cpp - calls through a register --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function pointers and tables of them, as C++ compilers write them: prototypes, lists of
// targets, virtual functions, lanes that go to different functions. Expected values are
// worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *const kFunctions = R"(
.func (.param .b32 o) plus(.param .b32 a, .param .b32 b) {
  .reg .b32 %x, %y; ld.param.b32 %x, [a]; ld.param.b32 %y, [b]; add.u32 %x, %x, %y;
  st.param.b32 [o], %x; ret; }
.func (.param .b32 o) minus(.param .b32 a, .param .b32 b) {
  .reg .b32 %x, %y; ld.param.b32 %x, [a]; ld.param.b32 %y, [b]; sub.u32 %x, %x, %y;
  st.param.b32 [o], %x; ret; }
.func (.reg .b32 o) times(.reg .b32 a, .reg .b32 b) { mul.lo.u32 o, a, b; ret; }
.func (.param .b64 o) wide(.param .b64 a) { st.param.b64 [o], 1; ret; }
.func nothing() { ret; }
)";

/// Calls what %rd1 holds with the thread and 5; the result is %r0.
std::string callWith(const std::string &declared, const std::string &table = "P") {
  return "{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %t; "
         "st.param.b32 [b], 5;\n" +
         declared + "\ncall (r), %rd1, (a, b), " + table + "; ld.param.b32 %r0, [r]; }\n";
}
std::string byPrototype() {
  return callWith("P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);");
}
std::string byTargets(const std::string &targets) {
  return callWith("P: .calltargets " + targets + ";");
}

const std::string kStore = "st.global.b32 [%po], %r0;";

Ran runWith(const std::string &variables, const std::string &body, const Scene &scene = {}) {
  return run(kernel(body, "sm_100a", kFunctions + variables), scene);
}
std::string errorOf(const std::string &body, const std::string &variables = "") {
  return runWith(variables, body).error;
}

/// %rd1 becomes element %r1 of a table.
std::string element(const std::string &table, const std::string &space = "global") {
  return "mul.wide.u32 %rd1, %r1, 8; mov.u64 %rd2, " + table + "; add.u64 %rd1, %rd1, %rd2; ld." +
         space + ".u64 %rd1, [%rd1];\n";
}

TEST(IndirectCall, ByPrototype) {
  Ran r = runWith("", "mov.u64 %rd1, minus;" + byPrototype() + kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 4u);
}

TEST(IndirectCall, LanesGoToDifferentFunctionsAndMeet) {
  for (const char *space : {"global", "const"})
    for (const Options &options : allTimings()) {
      Scene scene;
      scene.options = options;
      scene.options.hazards.mode = HazardMode::on;
      // The vote behind the call needs all lanes at once.
      Ran r =
          runWith("." + std::string(space) + " .u64 table[3] = {plus, minus, times};\n",
                  "rem.u32 %r1, %t, 3;" + element("table", space) + byPrototype() +
                      "vote.sync.ballot.b32 %r1, 1, -1; mad.lo.u32 %r0, %r1, 1000, %r0;" + kStore,
                  scene);
      ASSERT_EQ(r.error, "");
      for (uint32_t t = 0; t < 32; ++t)
        ASSERT_EQ(r.out[t], uint32_t(-1000) + (t % 3 == 0   ? t + 5
                                               : t % 3 == 1 ? t - 5
                                                            : t * 5))
            << t;
    }
}

TEST(IndirectCall, ByListsOfTargets) {
  EXPECT_EQ(runWith("", "mov.u64 %rd1, plus;" + byTargets("minus, plus, minus") + kStore).out[9],
            14u);
  Ran r = runWith(".const .u64 list[2] = {plus, minus};\n",
                  "ld.const.u64 %rd1, [list+8];" + callWith("", "list") + kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 4u);
}

TEST(IndirectCall, AddressesOf32Bits) {
  Ran r = runWith(".global .u32 table[2] = {minus, plus};\n",
                  "ld.global.u32 %r2, [table+4]; { .reg .b32 %rd1; mov.u32 %rd1, %r2;" +
                      byPrototype() + "}\n" + kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 14u);
}

TEST(IndirectCall, ArgumentsInRegisters) {
  Ran r = runWith("", "mov.u64 %rd1, times; setp.gt.u32 %p1, %t, 3; mov.u32 %r0, 7;\n"
                      "P: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n"
                      "@%p1 call.uni (%r0), %rd1, (%t, 6), P;" +
                          kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 7u);
  EXPECT_EQ(r.out[4], 24u);
}

TEST(IndirectCall, MemoryOfACallToARegisterOfAFunction) {
  Ran r = runWith("", "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t;\n"
                      "call (r), times, (a, a); ld.param.b32 %r0, [r]; }" +
                          kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], 25u);
}

TEST(IndirectCall, NothingInAndNothingOut) {
  Ran r = runWith("", "mov.u64 %rd1, nothing; P: .callprototype _ (); Q: .callprototype () _ ();\n"
                      "R: .callprototype _ .noreturn .abi_preserve 4; mov.u32 %r0, 3;\n"
                      "call %rd1, P; call (), %rd1, (), Q;" +
                          kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], 3u);
}

// Objects with a pointer to a table of functions; those of odd threads lie in shared memory.
TEST(IndirectCall, VirtualFunctions) {
  const char *const variables = R"(
.func (.param .b32 o) square(.param .b64 me, .param .b32 x) {
  .reg .b64 %m; .reg .b32 %x, %s; ld.param.b64 %m, [me]; ld.param.b32 %x, [x];
  ld.u32 %s, [%m+8]; mul.lo.u32 %x, %x, %x; mul.lo.u32 %x, %x, %s; st.param.b32 [o], %x; ret; }
.func (.param .b32 o) line(.param .b64 me, .param .b32 x) {
  .reg .b64 %m; .reg .b32 %x, %s; ld.param.b64 %m, [me]; ld.param.b32 %x, [x];
  ld.u32 %s, [%m+8]; mul.lo.u32 %x, %x, %s; st.param.b32 [o], %x; ret; }
.func (.param .b32 o) name(.param .b64 me) { st.param.b32 [o], 500; ret; }
.global .align 8 .u64 squares[4] = {0, 0, square, name};
.global .align 8 .u64 lines[4] = {0, 0, line, name};
.global .align 8 .u64 object[2] = {lines+16, 3};
.shared .align 8 .b8 other[16];
)";
  Ran r = runWith(variables, R"(
mov.u64 %rd1, squares; cvta.global.u64 %rd1, %rd1; add.u64 %rd1, %rd1, 16;
st.shared.u64 [other], %rd1; st.shared.u32 [other+8], 2; bar.sync 0;
mov.u32 %r1, other; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2;
mov.u64 %rd3, object; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; selp.b64 %rd2, %rd2, %rd3, %p1;
ld.u64 %rd1, [%rd2]; ld.u64 %rd4, [%rd1]; ld.u64 %rd5, [%rd1+8];
{ .param .b64 me; .param .b32 x; .param .b32 o; st.param.b64 [me], %rd2; st.param.b32 [x], %t;
P0: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
call (o), %rd4, (me, x), P0; ld.param.b32 %r0, [o]; }
{ .param .b64 me; .param .b32 o; st.param.b64 [me], %rd2;
P1: .callprototype (.param .b32 _) _ (.param .b64 _);
call (o), %rd5, (me), P1; ld.param.b32 %r1, [o]; }
add.u32 %r0, %r0, %r1;)" + kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[6], 518u);
  EXPECT_EQ(r.out[7], 598u);
}

TEST(IndirectCall, StructsByValue) {
  const char *const functions = R"(
.func (.param .align 8 .b8 o[16]) swap(.param .align 8 .b8 in[16]) {
  .reg .b64 %x, %y; ld.param.v2.b64 {%x, %y}, [in]; st.param.v2.b64 [o], {%y, %x}; ret; }
.func (.param .align 8 .b8 o[16]) twice(.param .align 8 .b8 in[16]) {
  .reg .b64 %x, %y; ld.param.v2.b64 {%x, %y}, [in]; add.u64 %x, %x, %x;
  st.param.v2.b64 [o], {%x, %y}; ret; }
)";
  Ran r = runWith(functions, R"(
mov.u64 %rd1, swap; mov.u64 %rd2, twice; setp.gt.u32 %p1, %t, 15; selp.b64 %rd1, %rd1, %rd2, %p1;
cvt.u64.u32 %rd2, %t;
{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; st.param.v2.b64 [a], {%rd2, 77};
P: .callprototype (.param .align 8 .b8 _[16]) _ (.param .align 8 .b8 _[16]);
call (b), %rd1, (a), P; ld.param.v2.b64 {%rd3, %rd4}, [b]; }
cvt.u32.u64 %r0, %rd3; cvt.u32.u64 %r1, %rd4; mad.lo.u32 %r0, %r0, 1000, %r1;)" +
                                 kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 18077u);
  EXPECT_EQ(r.out[20], 77020u);
}

// Barriers inside functions that warps reach by different calls; every order of warps.
TEST(IndirectCall, BarriersInsideTheFunction) {
  const char *const functions = R"(
.shared .b32 box[64];
.func (.param .b32 o) left(.param .b32 a) { .reg .b32 %x, %p; ld.param.b32 %x, [a];
  mov.u32 %p, box; mad.lo.u32 %p, %x, 4, %p; st.shared.b32 [%p], %x; bar.sync 0;
  ld.shared.b32 %x, [box+252]; st.param.b32 [o], %x; ret; }
.func (.param .b32 o) right(.param .b32 a) { .reg .b32 %x, %p; ld.param.b32 %x, [a];
  mov.u32 %p, box; mad.lo.u32 %p, %x, 4, %p; st.shared.b32 [%p], %x; bar.sync 0;
  ld.shared.b32 %x, [box]; add.u32 %x, %x, 9; st.param.b32 [o], %x; ret; }
.global .u64 sides[2] = {left, right};
)";
  for (const Options &options : allTimings()) {
    Scene scene;
    scene.options = options;
    scene.options.hazards.mode = HazardMode::on;
    scene.block = {64, 1, 1};
    Ran r = runWith(functions,
                    "shr.u32 %r1, %t, 5;" + element("sides") +
                        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t;\n"
                        "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                        "call (r), %rd1, (a), P; ld.param.b32 %r0, [r]; }" +
                        kStore,
                    scene);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[5], 63u);
    EXPECT_EQ(r.out[40], 9u);
  }
}

// Calls in both arms of a branch, where lanes of each arm go to different functions; a table
// with a null that nobody calls.
TEST(IndirectCall, InDivergentArms) {
  for (unsigned threads : {1u, 2u})
    for (const Options &options : allTimings()) {
      Scene scene;
      scene.options = options;
      scene.options.threads = threads;
      scene.options.hazards.mode = HazardMode::on;
      scene.grid = {3, 1, 1};
      scene.block = {64, 1, 1};
      Ran r = runWith(".const .u64 table[4] = {plus, 0, minus, times};\n",
                      "and.b32 %r1, %t, 1; setp.lt.u32 %p1, %t, 16; @%p1 bra low;\n"
                      "add.u32 %r1, %r1, 2;" +
                          element("table", "const") + byPrototype() +
                          "bra done; low: mul.lo.u32 %r1, %r1, 3;" + element("table", "const") +
                          byPrototype() +
                          "add.u32 %r0, %r0, 1000; done: bar.warp.sync -1; bar.sync 0;" + kStore,
                      scene);
      ASSERT_EQ(r.error, "");
      for (uint32_t t = 0; t < 64; ++t)
        ASSERT_EQ(r.out[t], t < 16 ? 1000 + (t & 1 ? t * 5 : t + 5) : t & 1 ? t * 5 : t - 5) << t;
    }
}

TEST(IndirectCall, PointersAreComparedAndPassedOn) {
  const char *const functions = R"(
.func (.param .b32 o) apply(.param .b64 f, .param .b32 a) {
  .reg .b64 %f; .reg .b32 %x; ld.param.b64 %f, [f]; ld.param.b32 %x, [a];
  Q: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
  call (%x), %f, (%x, 3), Q; st.param.b32 [o], %x; ret; }
)";
  Ran r = runWith(functions, R"(
mov.u64 %rd1, plus; mov.u64 %rd2, times; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1;
selp.b64 %rd1, %rd1, %rd2, %p1;
{ .param .b64 f; .param .b32 a; .param .b32 o; st.param.b64 [f], %rd1; st.param.b32 [a], %t;
call (o), apply, (f, a); ld.param.b32 %r0, [o]; }
setp.eq.u64 %p2, %rd1, times; @%p2 add.u32 %r0, %r0, 1000;
setp.ne.u64 %p3, %rd1, 0; @%p3 add.u32 %r0, %r0, 10000;)" +
                                 kStore);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[7], 10010u);
  EXPECT_EQ(r.out[8], 11024u);
}

TEST(IndirectCall, AddressesOfAnotherModuleAreNone) {
  auto device = makeDevice(unchecked());
  const std::string text = kernel("mov.u64 %rd1, plus;" + byPrototype(), "sm_100a", kFunctions);
  auto first = load(*device, text, "t.ptx"),
       second =
           load(*device,
                kernel("mov.u64 %rd1, plus; st.global.b64 [%out], %rd1;", "sm_100a", kFunctions),
                "t.ptx");
  ASSERT_TRUE(first && second);
  uint64_t out = *device->allocate(8), a = 0;
  LaunchConfig c;
  c.params = {param(out), param(out)};
  ASSERT_TRUE(bool(device->launch(**first, "k", c)));
  ASSERT_TRUE(bool(device->launch(**second, "k", c)));
  ASSERT_TRUE(bool(device->read(out, &a, 8)));
  auto third =
      load(*device, kernel("ld.global.b64 %rd1, [%out];" + byPrototype(), "sm_100a", kFunctions),
           "t.ptx");
  ASSERT_TRUE(bool(third));
  auto ran = device->launch(**third, "k", c);
  ASSERT_FALSE(bool(ran));
  EXPECT_NE(ran.message().find("call_target: call through a register must go to a function of the "
                               "module, got 0x"),
            std::string::npos)
      << ran.message();
}

TEST(IndirectCall, FaultsNameTheValue) {
  const std::string none = "t.ptx:20: call_target: call through a register must go to a function "
                           "of the module, got ";
  EXPECT_EQ(errorOf("mov.u64 %rd1, 0;" + byPrototype()), none + "0x0 in thread 0");
  EXPECT_EQ(errorOf("mov.u64 %rd1, plus; setp.eq.u32 %p1, %t, 9; @%p1 add.u64 %rd1, %rd1, 4;" +
                    byPrototype())
                .rfind(none, 0),
            0u);
  EXPECT_EQ(errorOf("mov.u64 %rd1, plus; mov.u64 %rd1, wide;" + byPrototype()),
            "t.ptx:20: call_target: called function must have the results and parameters of the "
            "call, in bytes (4) and (4, 4), got wide with (8) and (8) in thread 0");
  EXPECT_EQ(errorOf("mov.u64 %rd1, plus;" + byTargets("minus, times")),
            "t.ptx:20: call_target: called function must be one of the call's targets, got plus in "
            "thread 0");
  // As address arithmetic finds it.
  EXPECT_EQ(errorOf("mov.u64 %rd1, plus; add.u64 %rd1, %rd1, 16;" + byPrototype()),
            "t.ptx:20: call_target: called function must have its address taken in the module, got "
            "minus in thread 0");
}

TEST(IndirectCall, WhatIsNotExecutedFailsWhereItIsCalled) {
  const std::string functions = ".func (.param .b32 o) prints(.param .b32 a, .param .b32 b)\n"
                                "{ call vprintf; ret; }\n"
                                ".global .u64 table[2] = {plus, prints};\n",
                    body = byPrototype() + kStore;
  EXPECT_EQ(errorOf("ld.global.u64 %rd1, [table];" + body, functions), "");
  const std::string error = errorOf("ld.global.u64 %rd1, [table+8];" + body, functions);
  EXPECT_EQ(error.rfind("t.ptx:23: call_unexecuted: called function must be executed here, got "
                        "prints, refused as t.ptx:15: ptx_unexecuted: call parses but is not "
                        "executed: vprintf prints",
                        0),
            0u)
      << error;
}

TEST(IndirectCall, Refusals) {
  EXPECT_EQ(errorOf("call (%r0), %rd1, (%t);"),
            "t.ptx:18: ptx_call: call through register %rd1 must name a .callprototype, "
            ".calltargets or a table behind its arguments");
  EXPECT_EQ(errorOf("call (%r0), %rd1, (%t), P;"),
            "t.ptx:18: ptx_call: call through a register must name a .callprototype, .calltargets "
            "or an array of functions alone, got P");
  EXPECT_EQ(errorOf("P: .callprototype (.reg .b32 _) _; call (%r0), plus, P;"),
            "t.ptx:18: ptx_call: what a call with P goes to must be a register of 32 or 64 bits, "
            "got plus");
  EXPECT_EQ(errorOf("P: .callprototype (.reg .b32 _) _; call (%r0), %h1, P;"),
            "t.ptx:18: ptx_call: what a call with P goes to must be a register of 32 or 64 bits, "
            "got %h1");
  EXPECT_EQ(errorOf("P: .callprototype (.reg .b32 _) _; call (%r0), %rd1, (%t), P;"),
            "t.ptx:18: ptx_call: call with P must have 0 parameters and 1 results, got 1 and 1");
  EXPECT_EQ(errorOf("P: .callprototype _; P: .callprototype _;"),
            "t.ptx:18: ptx_label: label P must be defined once in a scope");
  EXPECT_EQ(errorOf("P: .callprototype plus;"),
            "t.ptx:18: ptx_syntax: .callprototype must have '_' for the function, got plus");
  EXPECT_EQ(errorOf("P: .callprototype _ () .inline;"),
            "t.ptx:18: ptx_directive: unknown directive .inline of .callprototype");
  EXPECT_EQ(errorOf("T: .calltargets plus, wide; call (%r0), %rd1, (%t, %t), T;"),
            "t.ptx:18: ptx_call: functions of T must have the same results and parameters, in "
            "bytes (4) and (4, 4), got wide with (8) and (8)");
  EXPECT_EQ(errorOf("T: .calltargets k; call %rd1, T;"),
            "t.ptx:18: ptx_call: T must hold functions of the module, got k");
  EXPECT_EQ(errorOf("call (%r0), %rd1, (%t, %t), table;", ".global .u64 table[2] = {plus, 0};\n"),
            "t.ptx:19: ptx_call: call through a register must name a .callprototype, .calltargets "
            "or an array of functions alone, got table");
  EXPECT_EQ(errorOf("mov.u64 %rd1, plus+4;"),
            "t.ptx:18: ptx_operand: address of function plus must have no offset");
  EXPECT_EQ(errorOf("mov.u16 %h1, plus;"),
            "t.ptx:18: ptx_operand: address of function plus must have 32 or 64 bits, got .u16");
  EXPECT_EQ(errorOf("ld.global.u32 %r1, [plus];"),
            "t.ptx:18: ptx_address: address must be of memory, got function plus");
  EXPECT_EQ(errorOf("mov.u64 %rd1, k;"),
            "t.ptx:18: ptx_unexecuted: mov.u64 parses but is not executed: kernel k has no "
            "address, since no kernel launches another here");
  EXPECT_EQ(errorOf("", ".global .u64 table[2] = {plus+4, plus};\n"),
            "t.ptx:14: ptx_initializer: address of function plus must stand alone");
  EXPECT_EQ(errorOf("", ".global .u64 table[2] = {generic(plus), plus};\n"),
            "t.ptx:14: ptx_initializer: address of function plus must stand alone");
  EXPECT_EQ(errorOf("", ".global .b64 table[2] = {plus, plus};\n"),
            "t.ptx:14: ptx_initializer: address of function plus must be in a .u64 or .u32, got "
            ".b64");
  EXPECT_EQ(errorOf("", ".global .u32 plus;\n"),
            "t.ptx:14: ptx_name: plus must be a function or a variable, got both");
}

} // namespace
