//===- CallTest.cpp - device functions ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with parameters by value, in registers and as structs; nested, under
// divergence, from several places. Expected values are worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::string withFunctions(const std::string &functions, const std::string &body) {
  return kernel(body, "sm_100a", functions);
}

const char *const kScale = R"(
.func (.param .b32 result) scale(.param .b32 x, .param .b32 by)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [by];
  mul.lo.u32 %r3, %r1, %r2;
  st.param.b32 [result], %r3;
  ret;
}
)";

const char *const kCallScale = R"(
  {
    .param .b32 p0; .param .b32 p1; .param .b32 r0;
    st.param.b32 [p0], %r1;
    st.param.b32 [p1], %r2;
    call.uni (r0), scale, (p0, p1);
    ld.param.b32 %r0, [r0];
  }
)";

TEST(Call, ParametersAndResult) {
  Ran r = run(withFunctions(kScale, "mov.u32 %r1, %t; mov.u32 %r2, 3;" + std::string(kCallScale) +
                                        "st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 0u);
  EXPECT_EQ(r.out[31], 93u);
}

TEST(Call, ByAnAlias) {
  const std::string other = ".func (.param .b32 r) times(.param .b32 x, .param .b32 by);\n"
                            ".alias times, scale;\n";
  std::string body = kCallScale;
  body.replace(body.find("scale"), 5, "times");
  body = "mov.u32 %r1, %t; mov.u32 %r2, 3;" + body + "st.global.b32 [%po], %r0;";
  Ran r = run(withFunctions(kScale + other, body));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[31], 93u);
  for (auto [alias, refusal] :
       {std::pair(".alias times, scala;", "ptx_alias: function must be defined ahead of its alias"),
        {".alias times, scale; .alias times, scale;", "ptx_alias: name must be one function's"},
        {".alias times scale;", "ptx_syntax: "},
        {".alias", "ptx_syntax: "}})
    EXPECT_NE(run(withFunctions(std::string(kScale) + alias, "")).error.find(refusal),
              std::string::npos)
        << alias;
}

TEST(Call, FromTwoPlacesReturnsToEach) {
  Ran r = run(withFunctions(kScale, "mov.u32 %r1, %t; mov.u32 %r2, 3;" + std::string(kCallScale) +
                                        "add.u32 %r1, %r0, 1; mov.u32 %r2, 10;" + kCallScale +
                                        "st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[7], 220u); // (7 * 3 + 1) * 10
}

TEST(Call, DivergedLanesReturnToTheirOwnPlaces) {
  std::string body = "mov.u32 %r1, %t; setp.lt.u32 %p1, %t, 16; @%p1 bra low; mov.u32 %r2, 100;" +
                     std::string(kCallScale) + "bra done; low: mov.u32 %r2, 2;" + kCallScale +
                     "add.u32 %r0, %r0, 1000; done: bar.sync 0; st.global.b32 [%po], %r0;";
  Ran r = run(withFunctions(kScale, body));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[5], 1010u);
  EXPECT_EQ(r.out[20], 2000u);
}

TEST(Call, GuardedCallLeavesOthersAlone) {
  Ran r = run(withFunctions(
      ".func (.reg .b32 out) twice(.reg .b32 in) { add.u32 out, in, in; ret; }\n",
      "mov.u32 %r0, 7; setp.eq.u32 %p1, %t, 3; @%p1 call (%r0), twice, (%t); st.global.b32 "
      "[%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 6u);
  EXPECT_EQ(r.out[4], 7u);
}

TEST(Call, NestedWithEarlyReturn) {
  const char *functions = R"(
.func (.param .b32 out) leaf(.param .b32 x) {
  .reg .pred %p1; .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  setp.gt.u32 %p1, %r1, 10;
  @%p1 bra big;
  st.param.b32 [out], 1;
  ret;
big:
  add.u32 %r2, %r1, 500;
  st.param.b32 [out], %r2;
  ret;
}
.func (.param .b32 out) outer(.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), leaf, (a); ld.param.b32 %r2, [b]; }
  add.u32 %r3, %r2, %r1;
  st.param.b32 [out], %r3;
  ret;
}
)";
  Ran r = run(withFunctions(functions, "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call "
                                       "(b), outer, (a); ld.param.b32 %r0, [b]; }"
                                       "st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[4], 5u);    // 1 + 4
  EXPECT_EQ(r.out[20], 540u); // 20 + 500 + 20
}

TEST(Call, StructByValue) {
  const char *functions = R"(
.func (.param .align 8 .b8 out[16]) swap(.param .align 8 .b8 in[16]) {
  .reg .b64 %rd<3>;
  ld.param.v2.b64 {%rd1, %rd2}, [in];
  st.param.b64 [out], %rd2;
  st.param.b64 [out+8], %rd1;
  ret;
}
)";
  Ran r = run(withFunctions(
      functions,
      "cvt.u64.u32 %rd1, %t; mov.b64 %rd2, 77; { .param .align 8 .b8 a[16]; .param .align 8 .b8 "
      "b[16]; st.param.v2.b64 [a], {%rd1, %rd2}; call.uni (b), swap, (a); ld.param.v2.b64 {%rd3, "
      "%rd4}, [b]; } cvt.u32.u64 %r0, %rd3; cvt.u32.u64 %r1, %rd4; mad.lo.u32 %r0, %r0, 1000, %r1; "
      "st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 77009u);
}

// A function gives its stack back, so that each call gets the same, wherever it stands.
TEST(Call, GivesBackItsStack) {
  const char *functions = R"(
.func (.reg .b32 at) take(.reg .b32 x) {
  .reg .b32 %p;
  alloca.u32 %p, x, 16;
  st.local.b32 [%p], x;
  mov.b32 at, %p;
  setp.gt.u32 %late, x, 40;
  @%late ret;
  stacksave.u32 %p;
  ret;
}
)";
  std::string text = functions;
  text.replace(text.find(".reg .b32 %p;"), 13, ".reg .b32 %p; .reg .pred %late;");
  Ran r = run(withFunctions(
      text,
      "stacksave.u32 %r4; mov.u32 %r1, 32; call (%r2), take, (%r1); mov.u32 %r1, 48;"
      "call (%r3), take, (%r1); alloca.u32 %r5, 16; stacksave.u32 %r6;\n"
      "sub.u32 %r2, %r4, %r2; sub.u32 %r3, %r4, %r3; sub.u32 %r5, %r4, %r5;\n"
      "sub.u32 %r6, %r4, %r6; mad.lo.u32 %r0, %r2, 1000, %r3; mad.lo.u32 %r0, %r0, 100, %r5;\n"
      "mad.lo.u32 %r0, %r0, 100, %r6; st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[9], 320481616u);
}

TEST(Call, NoParametersAndExit) {
  Ran r = run(withFunctions(".func stop() { exit; }\n",
                            "st.global.b32 [%po], 1; setp.gt.u32 %p1, %t, 3; @%p1 call stop; "
                            "st.global.b32 [%po], 2;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], 2u);
  EXPECT_EQ(r.out[4], 1u);
}

TEST(Call, Refusals) {
  auto error = [](const std::string &functions, const std::string &body) {
    return run(withFunctions(functions, body)).error;
  };
  EXPECT_EQ(error("", "alloca.u32 %r0, 8, 12;"),
            "t.ptx:8: ptx_immediate: alignment of alloca must be a power of 2 up to 8388608, got "
            "12");
  EXPECT_EQ(error("", "call nothing;"), "t.ptx:8: ptx_unexecuted: call parses but is not executed: "
                                        "function nothing is not defined in the module");
  EXPECT_EQ(error(kScale, "{ .param .b32 a; call scale, (a); }"),
            "t.ptx:18: ptx_call: scale must have 2 parameters and 1 results, got 1 and 0");
  EXPECT_EQ(error(kScale, "{ .param .b64 a; .param .b32 b; call (b), scale, (a, b); }"),
            "t.ptx:18: ptx_call: parameter a must have the callee's 4 bytes, got 8");
  EXPECT_NE(error(".extern .func __assertfail(.param .b64 m);\n", "call __assertfail, (%in);")
                .find("t.ptx:9: trap: kernel must not fail an assertion"),
            std::string::npos);
}

TEST(Call, AssertionSaysItsText) {
  const std::string functions =
      ".global .align 1 .b8 text[6] = {97, 32, 62, 32, 48, 0};\n"
      ".global .align 1 .b8 file[4] = {107, 46, 104, 0};\n"
      ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l);\n";
  const std::string body =
      "mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, "
      "%rd2; { .param .b64 m; .param .b64 f; .param .b32 l; st.param.b64 [m], %rd1; st.param.b64 "
      "[f], %rd2; st.param.b32 [l], 12; call __assertfail, (m, f, l); }";
  EXPECT_EQ(
      run(withFunctions(functions, body)).error,
      "t.ptx:11: trap: kernel must not fail an assertion, cta 0,0,0 thread 0 did: k.h:12: a > "
      "0");
}

TEST(Call, UncalledFunctionsAreChecked) {
  EXPECT_EQ(run(withFunctions(".func f() { bogus; ret; }\n", "")).error,
            "t.ptx:4: ptx_instruction: unknown instruction bogus");
}

} // namespace
