//===- LimitsTest.cpp - short texts that ask for much ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a module makes of memory is bounded in sum, and what it only declares is free.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::string number(uint64_t n) { return std::to_string(n); }

std::string errorOf(const std::string &variables, const std::string &body = "") {
  return run(kernel(body, "sm_100a", variables)).error;
}

TEST(Limits, DeclaredRegistersAreFree) {
  std::string body;
  for (int i = 0; i < 2000; ++i)
    body += ".reg .b64 %v" + number(i) + "x<1048576>; .reg .pred %q" + number(i) + "x<1048576>;\n";
  body += "mov.u64 %v1999x1048575, 40; mov.u64 %v0x0, 2; setp.eq.u32 %q7x9, %t, %t;\n"
          "@%q7x9 add.u64 %v0x0, %v0x0, %v1999x1048575; st.global.b64 [%out], %v0x0;";
  Ran r = run(kernel(body));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 42u);
}

TEST(Limits, NamesOfARange) {
  // The text ahead of the number may end with a digit; the inner scope's range comes first.
  Ran r = run(kernel(".reg .b32 %k<3>, %k1<20>; mov.u32 %k2, 5; mov.u32 %k115, 7;\n"
                     "{ .reg .b32 %k<3>; mov.u32 %k2, 9; add.u32 %k115, %k115, %k2; }\n"
                     "add.u32 %r0, %k2, %k115; st.global.b32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 21u);
  for (const char *name : {"%k3", "%k02", "%k", "%k120", "%k1_"})
    EXPECT_EQ(errorOf("", ".reg .b32 %k<3>, %k1<20>; mov.u32 " + std::string(name) + ", 1;"),
              "t.ptx:8: ptx_operand: destination of mov must be a register of type .u32, got " +
                  std::string(name));
}

TEST(Limits, UsedRegisters) {
  // Each register of a warp takes 256 bytes.
  std::string body = ".reg .b64 %v<300000>;\n";
  for (int i = 0; i < 300000; ++i)
    body += "mov.b64 %v" + number(i) + ", %rd0;";
  EXPECT_EQ(errorOf("", body),
            "t.ptx:9: ptx_registers: kernel must use at most 64 MiB of lane registers");
}

TEST(Limits, Variables) {
  EXPECT_EQ(errorOf(".global .b8 a[3000000000];\n.global .b64 b[100000000];\n"), "");
  EXPECT_EQ(errorOf(".global .b8 a[3000000000];\n.global .b8 b[3000000000];\n"),
            "t.ptx:5: ptx_size: variables of a module must take at most 4 GiB together, b goes "
            "beyond");
  // Bytes count, also behind an extent that is left out, where products could wrap around.
  const std::string tooLarge = "t.ptx:4: ptx_size: variable a must be at most 4 GiB";
  EXPECT_EQ(errorOf(".global .b64 a[1000000000];\n"), tooLarge);
  EXPECT_EQ(errorOf(".global .b64 a[4294967296][4294967296];\n"), tooLarge);
  EXPECT_EQ(
      errorOf(".global .b64 a[][3][5][17][257][641][65537][6700417] = {{{{{{{{{}, 1}}}}}}}};\n"),
      tooLarge);
}

TEST(Limits, Initializers) {
  const std::string half = "[2][150000000] = {{}, {1}};\n";
  EXPECT_EQ(errorOf(".global .b8 a" + half + ".global .b8 b" + half),
            "t.ptx:5: ptx_size: initialisers of a module must reach at most 268435456 bytes "
            "together, b goes beyond");
}

TEST(Limits, FunctionsInManyKernels) {
  // 2,000 constants take 512 KiB in each kernel.
  std::string text = header("sm_100a") + ".func f() { .reg .b64 %a;\n";
  for (int i = 0; i < 2000; ++i)
    text += "mov.b64 %a, " + number(i) + ";";
  text += "ret; }\n";
  for (int i = 0; i < 200; ++i)
    text += ".entry k" + number(i) + "() { call f; ret; }\n";
  const std::string error = run(text).error, name = "t.ptx:";
  EXPECT_EQ(error.rfind(name, 0), 0u) << error;
  EXPECT_NE(error.find("ptx_size: kernels of a module must take at most 16 MiB and 256 times their "
                       "text decoded, each with the functions that it calls, k"),
            std::string::npos)
      << error;
}

TEST(Limits, LabelsOfBranchTables) {
  std::string body = "L: T: .branchtargets L";
  for (int i = 1; i < 2000; ++i)
    body += ", L";
  body += ";\n";
  for (int i = 0; i < 600; ++i)
    body += "brx.idx %r0, T;";
  EXPECT_EQ(errorOf("", body), "t.ptx:9: ptx_targets: branch tables of a kernel must have at most "
                               "1048576 labels, counted at each brx.idx");
}

TEST(Limits, AKernelStopsCloseToItsLimit) {
  Options options = unchecked();
  options.maxInstructions = 20000;
  auto device = makeDevice(options);
  auto module = load(
      *device, kernel("L: red.global.add.u32 [%out], 1; add.u32 %r1, %r1, 1; bra L;"), "t.ptx");
  ASSERT_TRUE(bool(module)) << module.message();
  uint64_t out = *device->allocate(4);
  uint32_t count = 0;
  LaunchConfig config;
  config.block = {256, 1, 1};
  config.params = {param(out), param(out)};
  EXPECT_FALSE(bool(device->launch(**module, "k", config)));
  ASSERT_TRUE(bool(device->read(out, &count, sizeof count)));
  EXPECT_GT(count, 4000u);
  EXPECT_LT(count, 8000u);
}

} // namespace
