//===- RecursionTest.cpp - functions that call themselves -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directly, by way of others and through registers; lanes at different depths. Expected
// values are worked out by hand or by the same recursion in C++.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const std::string kStore = "st.global.b32 [%po], %r0;";

Ran runWith(const std::string &functions, const std::string &body, const Scene &scene = {}) {
  return run(kernel(body + kStore, "sm_100a", functions), scene);
}

std::string callOf(const std::string &name, const std::string &argument) {
  return "{ .param .b32 a; .param .b32 r; st.param.b32 [a], " + argument + "; call.uni (r), " +
         name + ", (a); ld.param.b32 %r0, [r]; }\n";
}

const char *const kFib = R"(
.func (.param .b32 out) fib(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %x<5>;
  ld.param.b32 %x0, [n];
  setp.lt.u32 %p, %x0, 2;
  @%p st.param.b32 [out], %x0;
  @%p ret;
  sub.u32 %x1, %x0, 1;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %x1; call (r), fib, (a); ld.param.b32 %x2, [r]; }
  ld.param.b32 %x0, [n]; // the caller's again
  sub.u32 %x1, %x0, 2;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %x1; call (r), fib, (a); ld.param.b32 %x3, [r]; }
  add.u32 %x2, %x2, %x3;
  st.param.b32 [out], %x2;
  ret;
}
)";

uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

TEST(Recursion, LanesAtDifferentDepths) {
  for (unsigned threads : {1u, 3u})
    for (const Options &options : allTimings()) {
      Scene scene;
      scene.options = options;
      scene.options.hazards.mode = HazardMode::on;
      scene.options.threads = threads;
      scene.grid = {4, 1, 1};
      Ran r = runWith(kFib,
                      "rem.u32 %r1, %t, 14;" + callOf("fib", "%r1") +
                          "vote.sync.ballot.b32 %r1, 1, -1; not.b32 %r1, %r1;"
                          "add.u32 %r0, %r0, %r1;",
                      scene);
      ASSERT_EQ(r.error, "");
      for (uint32_t t = 0; t < 32; ++t)
        ASSERT_EQ(r.out[t], fib(t % 14)) << t;
    }
}

// Arguments and results in registers that change places.
TEST(Recursion, ArgumentsThatSwap) {
  const char *const functions = R"(
.func (.reg .b32 o) mix(.reg .b32 a, .reg .b32 b)
{
  .reg .pred %p; .reg .b32 %x, %y;
  setp.eq.u32 %p, a, 0;
  @%p mov.b32 o, b;
  @%p ret;
  mov.b32 %y, a;
  sub.u32 a, a, 1;
  call (b), mix, (a, b);
  call (o), mix, (a, b);
  mad.lo.u32 o, o, 3, %y;
  ret;
}
)";
  struct Mix {
    static uint32_t of(uint32_t a, uint32_t b) {
      if (!a)
        return b;
      b = of(a - 1, b);
      return of(a - 1, b) * 3 + a;
    }
  };
  Ran r = runWith(functions, "and.b32 %r1, %t, 7; call (%r0), mix, (%r1, %t);");
  ASSERT_EQ(r.error, "");
  for (uint32_t t = 0; t < 32; ++t)
    ASSERT_EQ(r.out[t], Mix::of(t & 7, t)) << t;
}

TEST(Recursion, OfTwoFunctionsAndAHelper) {
  const char *const functions = R"(
.func (.param .b32 o) less(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; sub.u32 %x, %x, 1;
  st.param.b32 [o], %x; ret; }
.func (.param .b32 o) odd(.param .b32 n);
.func (.param .b32 o) even(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %x, %y;
  ld.param.b32 %x, [n]; setp.eq.u32 %p, %x, 0; @%p st.param.b32 [o], 1; @%p ret;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %x; call (r), less, (a); ld.param.b32 %y, [r]; }
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %y; call (r), odd, (a); ld.param.b32 %y, [r]; }
  mad.lo.u32 %y, %x, 2, %y;
  st.param.b32 [o], %y; ret;
}
.func (.param .b32 o) odd(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %x, %y;
  ld.param.b32 %x, [n]; setp.eq.u32 %p, %x, 0; @%p st.param.b32 [o], 0; @%p ret;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %x; call (r), less, (a); ld.param.b32 %y, [r]; }
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %y; call (r), even, (a); ld.param.b32 %y, [r]; }
  mad.lo.u32 %y, %x, 3, %y;
  st.param.b32 [o], %y; ret;
}
)";
  struct Walk {
    static uint32_t of(uint32_t n, bool isEven) {
      return n == 0 ? isEven : of(n - 1, !isEven) + n * (isEven ? 2 : 3);
    }
  };
  Ran r = runWith(functions, callOf("even", "%t"));
  ASSERT_EQ(r.error, "");
  for (uint32_t t = 0; t < 32; ++t)
    ASSERT_EQ(r.out[t], Walk::of(t, true)) << t;
}

// Each call has variables of its own, which a callee may reach by their address: every call
// adds its number to the array of the one that called it.
TEST(Recursion, AddressesOfVariables) {
  const char *const functions = R"(
.func (.param .b32 out) down(.param .b32 n, .param .b64 above)
{
  .local .align 16 .b8 mine[16];
  .reg .pred %p; .reg .b32 %x<4>; .reg .b64 %d<4>;
  ld.param.b32 %x0, [n]; ld.param.b64 %d0, [above];
  ld.u32 %x1, [%d0+4]; add.u32 %x1, %x1, %x0; st.u32 [%d0+4], %x1;
  st.local.u32 [mine+4], 100;
  setp.eq.u32 %p, %x0, 0; @%p bra end;
  mov.u64 %d1, mine; cvta.local.u64 %d1, %d1;
  sub.u32 %x2, %x0, 1;
  { .param .b32 a; .param .b64 b; .param .b32 r; st.param.b32 [a], %x2; st.param.b64 [b], %d1;
    call (r), down, (a, b); ld.param.b32 %x3, [r]; }
  mov.u64 %d2, mine+4; ld.local.u32 %x1, [%d2];
  mad.lo.u32 %x1, %x3, 3, %x1;
  st.param.b32 [out], %x1; ret;
end:
  ld.local.u32 %x1, [mine+4]; st.param.b32 [out], %x1; ret;
}
)";
  struct Down {
    static uint32_t of(uint32_t n, uint32_t &above) {
      above += n;
      uint32_t mine = 100;
      return n == 0 ? mine : of(n - 1, mine) * 3 + mine;
    }
  };
  Ran r = runWith(functions, R"(
.local .align 8 .b8 top[8]; st.local.u32 [top+4], 7; mov.u64 %rd1, top; cvta.local.u64 %rd1, %rd1;
{ .param .b32 a; .param .b64 b; .param .b32 r; and.b32 %r1, %t, 15; st.param.b32 [a], %r1;
st.param.b64 [b], %rd1; call (r), down, (a, b); ld.param.b32 %r0, [r]; }
ld.local.u32 %r1, [top+4]; add.u32 %r0, %r0, %r1;
)");
  ASSERT_EQ(r.error, "");
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t top = 7, result = Down::of(t & 15, top);
    ASSERT_EQ(r.out[t], result + top) << t;
  }
}

TEST(Recursion, ThroughARegister) {
  const char *const functions = R"(
.func (.param .b32 o) one(.param .b64 f, .param .b32 n);
.func (.param .b32 o) two(.param .b64 f, .param .b32 n);
.const .u64 both[2] = {one, two};
.func (.param .b32 o) one(.param .b64 f, .param .b32 n)
{
  .reg .pred %p; .reg .b32 %x<3>; .reg .b64 %f, %g;
  ld.param.b32 %x0, [n]; ld.param.b64 %f, [f]; mov.b32 %x1, 5; setp.eq.u32 %p, %x0, 0; @%p bra end;
  sub.u32 %x1, %x0, 1; and.b32 %x2, %x1, 1; mul.wide.u32 %g, %x2, 8; add.u64 %g, %g, both;
  ld.const.u64 %g, [%g];
  { .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %g; st.param.b32 [b], %x1;
    P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
    call (r), %f, (a, b), P; ld.param.b32 %x1, [r]; }
  mad.lo.u32 %x1, %x1, 3, %x0;
end: st.param.b32 [o], %x1; ret;
}
.func (.param .b32 o) two(.param .b64 f, .param .b32 n)
{
  .reg .pred %p; .reg .b32 %x<2>; .reg .b64 %f;
  ld.param.b32 %x0, [n]; ld.param.b64 %f, [f]; mov.b32 %x1, 6; setp.lt.u32 %p, %x0, 2; @%p bra end;
  sub.u32 %x1, %x0, 2;
  { .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %f; st.param.b32 [b], %x1;
    P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
    call (r), %f, (a, b), P; ld.param.b32 %x1, [r]; }
  mad.lo.u32 %x1, %x1, 5, %x0;
end: st.param.b32 [o], %x1; ret;
}
)";
  struct Both {
    static uint32_t one(int f, uint32_t n) {
      return n == 0 ? 5 : call(f, int(n - 1) & 1, n - 1) * 3 + n;
    }
    static uint32_t two(int f, uint32_t n) { return n < 2 ? 6 : call(f, f, n - 2) * 5 + n; }
    static uint32_t call(int which, int f, uint32_t n) { return which ? two(f, n) : one(f, n); }
  };
  for (const Options &options : allTimings()) {
    Scene scene;
    scene.options = options;
    scene.options.hazards.mode = HazardMode::on;
    Ran r = runWith(functions, R"(
and.b32 %r1, %t, 1; mul.wide.u32 %rd1, %r1, 8; add.u64 %rd1, %rd1, both; ld.const.u64 %rd1, [%rd1];
shr.u32 %r1, %t, 1; and.b32 %r1, %r1, 1; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd2, both;
ld.const.u64 %rd2, [%rd2];
{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b32 [b], %t;
P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
call (r), %rd1, (a, b), P; ld.param.b32 %r0, [r]; }
)",
                    scene);
    ASSERT_EQ(r.error, "");
    for (uint32_t t = 0; t < 32; ++t)
      ASSERT_EQ(r.out[t], Both::call(t & 1, int(t >> 1 & 1), t)) << t;
  }
}

// What was taken of the stack is given back by every return.
TEST(Recursion, WithAStack) {
  const char *const functions = R"(
.func (.reg .b32 o) deep(.reg .b32 n)
{
  .reg .pred %p; .reg .b32 %a, %x;
  alloca.u32 %a, 16; st.local.b32 [%a], n;
  mov.b32 o, 0; setp.eq.u32 %p, n, 0; @%p ret;
  sub.u32 %x, n, 1; call (o), deep, (%x);
  ld.local.b32 %x, [%a]; add.u32 o, o, %x; ret;
}
)";
  Ran r = runWith(functions, "stacksave.u32 %r2; call (%r0), deep, (%t); stacksave.u32 %r3;\n"
                             "sub.u32 %r3, %r3, %r2; add.u32 %r0, %r0, %r3;");
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[31], 496u);
}

// Barriers at every depth, and lanes that leave for good.
TEST(Recursion, BarriersInside) {
  const char *const functions = R"(
.shared .b32 sum;
.func (.reg .b32 o) level(.reg .b32 n)
{
  .reg .pred %p; .reg .b32 %x;
  bar.warp.sync -1; atom.shared.add.u32 %x, [sum], 1; bar.sync 0;
  ld.shared.b32 o, [sum]; bar.sync 0; setp.eq.u32 %p, n, 0; @%p ret;
  sub.u32 %x, n, 1; call (%x), level, (%x); mad.lo.u32 o, %x, 100, o; ret;
}
)";
  for (const Options &options : allTimings()) {
    Scene scene;
    scene.options = options;
    scene.block = {64, 1, 1};
    Ran r =
        runWith(functions, "st.shared.b32 [sum], 0; bar.sync 0; call (%r0), level, (2);", scene);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[40], (192u * 100 + 128) * 100 + 64);
  }
}

// A load of tensor memory that a call finds in flight writes the registers of the caller.
TEST(Recursion, LoadsInFlight) {
  const char *const functions = R"(
.shared .b32 tm;
.func (.reg .b32 o) each(.reg .b32 n, .reg .b32 at)
{
  .reg .pred %p; .reg .b32 %v, %x, %y;
  mov.b32 o, 0; setp.eq.u32 %p, n, 0; @%p ret;
  add.u32 %y, at, 1; sub.u32 %x, n, 1;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [at];
  call (o), each, (%x, %y);
  tcgen05.wait::ld.sync.aligned;
  mad.lo.u32 o, o, 10, %v; ret;
}
)";
  for (const Options &options : allTimings()) {
    Scene scene;
    scene.options = options;
    Ran r = runWith(functions, R"(
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 32; ld.shared.b32 %r1, [tm];
mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u32 %r4, 3; mov.u32 %r5, 4;
tcgen05.st.sync.aligned.32x32b.x4.b32 [%r1], {%r2, %r3, %r4, %r5};
tcgen05.wait::st.sync.aligned;
call (%r0), each, (4, %r1);
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
)",
                    scene);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[9], 4321u);
  }
}

TEST(Recursion, BeyondTheStackOfAThread) {
  const std::string functions = ".func (.param .b32 r) f(.param .b32 a) {\n"
                                ".reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [a];\n"
                                "setp.eq.u32 %p, %x, 0; @%p ret; sub.u32 %x, %x, 1;\n"
                                "{ .param .b32 b; .param .b32 c; st.param.b32 [b], %x;\n"
                                "call (c), f, (b); ld.param.b32 %x, [c]; add.u32 %x, %x, 1; }\n"
                                "st.param.b32 [r], %x; ret; }\n";
  EXPECT_EQ(runWith(functions, callOf("f", "500")).out[3],
            500u - 0u + runWith(functions, callOf("f", "0")).out[3]);
  const std::string error = runWith(functions, callOf("f", "-1")).error;
  EXPECT_EQ(
      error.rfind("t.ptx:8: call_depth: open calls of functions that call themselves must fit "
                  "the 65536 bytes of a thread's call stack, got call ",
                  0),
      0u)
      << error;
  EXPECT_NE(error.find(" of f in thread 0"), std::string::npos) << error;
  // For ever, through a register.
  const std::string forEver = runWith(".func g() {\n.reg .b64 %f; mov.u64 %f, g;\n"
                                      "P: .callprototype _; call %f, P; ret; }\n",
                                      "call g;")
                                  .error;
  EXPECT_EQ(forEver.rfind("t.ptx:6: call_depth: ", 0), 0u) << forEver;
  // A pointer to a variable of a call that has returned.
  const std::string gone =
      runWith(".func (.reg .b64 o) g(.reg .b32 n) { .local .b32 v; .reg .pred %p;\n"
              "mov.u64 o, v; cvta.local.u64 o, o; setp.eq.u32 %p, n, 0; @%p ret;\n"
              "sub.u32 n, n, 1; call (o), g, (n); ret; }\n",
              "call (%rd1), g, (3); ld.u32 %r0, [%rd1];")
          .error;
  EXPECT_EQ(gone.rfind("t.ptx:11: mem_local: local access of 4 bytes must lie in ", 0), 0u) << gone;
}

TEST(Recursion, WhatIsNotExecutedRefusesAllOfThem) {
  const std::string functions = ".func b();\n.func a() { call b; ret; }\n"
                                ".func b() { call a;\ncall vprintf; ret; }\n";
  const std::string refusal = "t.ptx:7: ptx_unexecuted: call parses but is not executed: vprintf";
  for (const char *callee : {"a", "b"})
    EXPECT_EQ(runWith(functions, "call " + std::string(callee) + ";").error.rfind(refusal, 0), 0u);
}

} // namespace
