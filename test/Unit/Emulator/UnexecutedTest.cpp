//===- UnexecutedTest.cpp - PTX that is not executed ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refuses the launch of the kernel that holds or calls it, by its line, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *const kRight = ".entry right(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p];\n"
                           "st.global.b32 [%a], 7; ret; }\n";

struct Launched {
  std::string load, launch; // refusals
  uint32_t value = 0;
};

/// Loads the module and launches one of its kernels with a pointer to a word.
Launched launch(const std::string &text, const char *name) {
  Launched out;
  const std::string ptx = header("sm_100a") + text;
  keepForFuzzing(ptx);
  auto device = makeDevice(unchecked());
  auto module = load(*device, ptx, "t.ptx");
  if (!module) {
    out.load = module.message();
    return out;
  }
  uint64_t word = *device->allocate(4);
  LaunchConfig config;
  config.params.assign((*module)->paramCount(name), param(word));
  if (auto stats = device->launch(**module, name, config); !stats)
    out.launch = stats.message();
  (void)!device->read(word, &out.value, sizeof out.value);
  return out;
}

const std::string kRefused =
    "t.ptx:7: ptx_unexecuted: call parses but is not executed: function nowhere is not defined in "
    "the module";

TEST(Unexecuted, OtherKernelsOfTheModuleRun) {
  const std::string text =
      std::string(kRight) + ".entry wrong() { bar.sync 0;\n\ncall nowhere; ret; }\n";
  const std::string refused = "t.ptx:8" + kRefused.substr(7);
  Launched right = launch(text, "right");
  EXPECT_EQ(right.load + right.launch, "");
  EXPECT_EQ(right.value, 7u);
  Launched wrong = launch(text, "wrong");
  EXPECT_EQ(wrong.load, "");
  EXPECT_EQ(wrong.launch, refused);
}

TEST(Unexecuted, InAFunctionOfTwoCalls) {
  const std::string text =
      ".func inner() {\n\n\ncall nowhere; ret; }\n.func outer() { call inner; ret; }\n" +
      std::string(kRight) + ".entry wrong() { call outer; ret; }\n";
  EXPECT_EQ(launch(text, "right").value, 7u);
  EXPECT_EQ(launch(text, "wrong").launch, kRefused);
}

TEST(Unexecuted, InAFunctionThatNobodyCalls) {
  EXPECT_EQ(launch(std::string(kRight) + ".func f() { call nowhere; ret; }\n", "right").value, 7u);
}

TEST(Unexecuted, ModuleWithoutAnotherKernelIsRefusedAtLoad) {
  const std::string wrong = ".entry a() {\n\n\ncall nowhere; ret; }\n";
  EXPECT_EQ(launch(wrong, "a").load, kRefused);
  EXPECT_EQ(launch(wrong + ".entry b() { call elsewhere; ret; }\n", "b").load, kRefused);
  EXPECT_EQ(launch(".func f() {\n\n\ncall nowhere; ret; }\n", "a").load, kRefused);
}

TEST(Unexecuted, WhatIsNoPtxRefusesTheModule) {
  EXPECT_EQ(
      launch(std::string(kRight) + ".entry wrong() { call nowhere; frobnicate; ret; }\n", "right")
          .load,
      "t.ptx:6: ptx_instruction: unknown instruction frobnicate");
}

TEST(Unexecuted, RegistersOfTheDriver) {
  EXPECT_EQ(run(kernel("mov.b32 %r0, %envreg31;")).error,
            "t.ptx:8: ptx_unexecuted: mov.b32 parses but is not executed: %envreg31 holds what a "
            "driver chose to put there, and no driver launches here; pass the value as a "
            "parameter");
  for (const char *name : {"%envreg32", "%envreg", "%envreg1x"})
    EXPECT_EQ(run(kernel("mov.b32 %r0, " + std::string(name) + ";")).error,
              "t.ptx:8: ptx_name: unknown register " + std::string(name));
}

TEST(Unexecuted, Vprintf) {
  const std::string declared =
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n";
  EXPECT_EQ(run(kernel("{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd0;\n"
                       "st.param.b64 [b], %rd0; call.uni (c), vprintf, (a, b); }",
                       "sm_100a", declared))
                .error,
            "t.ptx:10: ptx_unexecuted: call.uni parses but is not executed: vprintf prints through "
            "a buffer of the driver, and no driver launches here; store the values and read them "
            "after the launch");
}

} // namespace
