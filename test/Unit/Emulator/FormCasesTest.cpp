//===- FormCasesTest.cpp - every executed form, and that it matters -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs test/data/form-cases/cases.txt, whose expected values Python worked out. Each
// case runs twice: as it is, and with its form disabled, when it must go wrong.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

constexpr unsigned kLanes = 8, kWarp = 32;

struct FormCase {
  std::string form, body;
  std::vector<uint64_t> in, out;
};

void PrintTo(const FormCase &c, std::ostream *out) { *out << c.form; }

std::vector<uint64_t> words(std::istringstream &line) {
  std::vector<uint64_t> out;
  for (uint64_t v; line >> std::hex >> v;)
    out.push_back(v);
  return out;
}

std::vector<FormCase> readCases() {
  std::ifstream file(BLOCKSCALE_TEST_DIR "/data/form-cases/cases.txt");
  std::vector<FormCase> cases;
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream rest(line);
    rest >> word;
    if (word == "case")
      rest >> cases.emplace_back().form;
    else if (word == "ptx")
      cases.back().body = line.substr(4);
    else if (word == "in")
      cases.back().in = words(rest);
    else if (word == "out")
      cases.back().out = words(rest);
  }
  return cases;
}

std::string text(const std::string &body) {
  return header("sm_107a") + R"(
.global .align 16 .b8 g[4096];
.shared .align 16 .b8 s[4096];
.const .align 8 .u64 c[8] = {1000, 1002, 1004, 1006, 1008, 1010, 1012, 1014};
.func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret;
}
.func (.reg .b32 r) triple(.reg .b32 x) { mul.lo.u32 r, x, 3; ret; }
.func (.param .b64 r) same(.param .b64 x) {
  .reg .b64 %a; ld.param.u64 %a, [x]; st.param.u64 [r], %a; ret;
}
.func (.param .align 16 .b8 r[16]) same16(.param .align 16 .b8 x[16]) {
  .reg .b64 %a, %b; ld.param.v2.b64 {%a, %b}, [x]; st.param.v2.b64 [r], {%a, %b}; ret;
}
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p<8>; .reg .b8 %q<4>; .reg .b16 %h<40>; .reg .b32 %r<40>, %j, %jj; .reg .f32 %f<40>;
.reg .f64 %d<40>; .reg .b64 %rd<40>, %pi, %po, %jw, %lane, %g; .reg .b128 %x<2>;
.local .align 16 .b8 l[4096];
ld.param.u64 %pi, [in]; ld.param.u64 %po, [out];
mov.u32 %jj, %tid.x; and.b32 %j, %jj, 7; mul.wide.u32 %jw, %j, 8;
add.u64 %pi, %pi, %jw; mul.wide.u32 %lane, %jj, 1; mul.wide.u32 %rd0, %jj, 8;
add.u64 %po, %po, %rd0; mov.u64 %g, g;
)" + body +
         "\nret;\n}\n";
}

/// Empty when all lanes gave what was expected.
std::string difference(const FormCase &c, const Options &options) {
  Scene scene;
  scene.options = options;
  scene.outWords = kWarp * 2;
  scene.in.resize(c.in.size() * 2);
  std::memcpy(scene.in.data(), c.in.data(), c.in.size() * 8);
  scene.fill = [](uint64_t, uint64_t, std::vector<uint32_t> &) {};
  Ran r = run(text(c.body), scene);
  if (!r.error.empty())
    return r.error;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    uint64_t got = r.out[2 * lane] | uint64_t(r.out[2 * lane + 1]) << 32;
    // What a store of fewer bytes leaves is the fill pattern.
    uint64_t want = c.out[lane % kLanes], fill = 0xAAAAAAAAAAAAAAAA;
    auto same = [&](unsigned bits) {
      uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
      return got == ((want & mask) | (fill & ~mask)) && !(want & ~mask);
    };
    if (!same(8) && !same(16) && !same(32) && !same(64)) {
      std::ostringstream message;
      message << "lane " << lane << ": expected " << std::hex << want << ", got " << got;
      return message.str();
    }
  }
  return {};
}

class Forms : public ::testing::TestWithParam<FormCase> {};

TEST_P(Forms, GivesWhatTheManualSays) {
  EXPECT_EQ(difference(GetParam(), {}), "") << GetParam().body;
}

TEST_P(Forms, GoesWrongWithoutItsHandler) {
  Options options;
  options.disabledForm = GetParam().form.c_str();
  options.maxInstructions = 100000;
  EXPECT_NE(difference(GetParam(), options), "") << GetParam().body;
}

std::string caseName(const ::testing::TestParamInfo<FormCase> &info) {
  std::string name = std::to_string(info.index) + "_" + info.param.form;
  for (char &c : name)
    if (!isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Forms, ::testing::ValuesIn(readCases()), caseName);

} // namespace
