//===- HazardScene.h - small kernels with one mistake each ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text between [- and -] stands in the wrong kernel only, between [+ and +] in its
// right twin only. Both run in four warps with shared memory `buf`, mbarriers `bar`
// and, for tensor memory, 256 columns at %tm and descriptors of a small MMA.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_EMULATOR_HAZARDSCENE_H
#define BLOCKSCALE_TEST_UNIT_EMULATOR_HAZARDSCENE_H

#include "Harness.h"

namespace blockscale::emu::test {

enum class Setup : uint8_t { shared, tensor };

struct HazardCase {
  std::string label, body; // a label may go on behind a '_', to tell its cases apart
  Setup setup = Setup::shared;
  HazardLevel level = HazardLevel::error;
  HazardOptions options{}; // of the wrong kernel
  bool sameText = false;   // the right twin is the same text under the default options
  Dim3 cluster{};
  bool freesItself = false; // the body ends with the deallocation
  std::string target = "sm_100a";
  uint64_t shared = 0;
  Dim3 grid{0, 0, 0}; // where it is not one cluster
  std::string rule() const { return label.substr(0, label.find('_')); }
  std::string mark() const {
    std::string text("[");
    text += rule();
    return text += ']';
  }
  std::string name{};          // where a rule has several cases
  bool touchesNothing = false; // control flow: no memory has a part in it
  bool isAlone = false;        // one access has no other party
};

/// Keeps what stands between `open` and `close`, drops what the other marks enclose.
inline std::string twin(std::string text, bool isRight) {
  auto cut = [&text](const std::string &open, const std::string &close, bool keep) {
    for (size_t at; (at = text.find(open)) != std::string::npos;) {
      size_t end = text.find(close, at);
      std::string inner = text.substr(at + open.size(), end - at - open.size());
      text.replace(at, end + close.size() - at, keep ? inner : std::string());
    }
  };
  cut("[-", "-]", !isRight);
  cut("[+", "+]", isRight);
  return text;
}

inline std::string wait(int barrier, int parity, const std::string &order = "") {
  static int number = 0;
  std::string l("W");
  l += std::to_string(number++);
  return l + ": mbarrier.try_wait.parity" + order + ".shared::cta.b64 %p3, [bar+" +
         std::to_string(8 * barrier) + "], " + std::to_string(parity) + "; @!%p3 bra " + l + ";\n";
}

/// Runs once in warp `w` by an elected lane.
inline std::string elected(int w, const std::string &text) {
  static int number = 0;
  std::string l("E");
  l += std::to_string(number++);
  return "setp.ne.u32 %p4, %w, " + std::to_string(w) + "; @%p4 bra " + l +
         "; elect.sync _|%p4, -1; @!%p4 bra " + l + ";\n" + text + l + ": bar.warp.sync -1;\n";
}

inline std::string inWarp(int w, const std::string &text) {
  static int number = 0;
  std::string l("I");
  l += std::to_string(number++);
  return "setp.ne.u32 %p4, %w, " + std::to_string(w) + "; @%p4 bra " + l + ";\n" + text + l +
         ": bar.warp.sync -1;\n";
}

inline std::string mma(const std::string &d = "%tm", const std::string &input = "%p7") {
  return "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [" + d +
         "], %da, %db, %id, [%sa], [%sb], " + input + ";\n";
}

inline std::string commit(int barrier) {
  return "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+" +
         std::to_string(8 * barrier) + "];\n";
}

/// The kernel of a case.
inline std::string hazardKernel(const HazardCase &c, bool isRight) {
  std::string vars = ".shared .align 1024 .b8 buf[20480];\n.shared .align 8 .b8 bar[64];\n.shared "
                     ".align 4 .b8 tm[8];\n";
  if (c.shared)
    vars += ".extern .shared .align 1024 .b8 big[];\n";
  std::string head =
      ".reg .b32 %w, %b, %tm, %id, %sa, %sb, %la, %cr; .reg .b64 %da, %db, %ds;\n"
      "shr.u32 %w, %t, 5; mov.u32 %b, buf; mov.u32 %la, %laneid; setp.ne.u32 %p7, %t, %t;\n"
      "setp.eq.u32 %p6, %t, 0; setp.eq.u32 %p5, %w, 0;\n";
  if (c.rule() != "MB1" && c.rule() != "MB2" && c.rule() != "MB2w")
    head += "@%p6 mbarrier.init.shared::cta.b64 [bar], 1; @%p6 mbarrier.init.shared::cta.b64 "
            "[bar+8], 1; @%p6 mbarrier.init.shared::cta.b64 [bar+16], 1;\nbar.sync 0;\n";
  const bool isPair = c.cluster.x == 2;
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  if (isPair)
    head += "mov.u32 %cr, %cluster_ctarank;\n" + sync;
  std::string tail;
  if (c.setup == Setup::tensor) {
    // Scales of zero in columns 128..159; A and B are whatever shared memory holds.
    head += inWarp(0, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 256;\n"
                      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n") +
            "bar.sync 0; ld.shared.b32 %tm, [tm]; shl.b32 %r0, %w, 21; add.u32 %r1, %tm, %r0;\n"
            "mov.u32 %r2, 0;\n"
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r1+128], {%r2,%r2,%r2,%r2,%r2,%r2,%r2,%r2};\n"
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r1+136], {%r2,%r2,%r2,%r2,%r2,%r2,%r2,%r2};\n"
            "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;\n"
            "tcgen05.fence::after_thread_sync;\n"
            "shr.u32 %r3, %b, 4; and.b32 %r3, %r3, 0x3fff; or.b32 %r4, %r3, 0x10000;\n"
            "mov.b64 %da, {%r4, 0x40004040}; mov.b64 %db, {%r4, 0x40004040}; mov.b64 %ds, {%r3, "
            "0x00004008};\n"
            "mov.u32 %id, 0x08080480; add.u32 %sa, %tm, 128; add.u32 %sb, %tm, 136;\n";
    if (!c.freesItself)
      tail = "tcgen05.wait::ld.sync.aligned; tcgen05.wait::st.sync.aligned;\n"
             "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n" +
             inWarp(0, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 256;\n");
  }
  std::string body = head + twin(c.body, isRight) + tail;
  if (isPair) { // the same with both CTAs
    auto replace = [&body](const std::string &from, const std::string &to) {
      for (size_t at = 0; (at = body.find(from, at)) != std::string::npos; at += to.size())
        body.replace(at, from.size(), to);
    };
    replace("cta_group::1", "cta_group::2");
    replace("0x08080480", "0x10080480"); // M = 256
    replace("bar.sync 0;", "bar.sync 0; " + sync);
  }
  return kernel(body, c.target, vars);
}

inline Ran runCase(const HazardCase &c, bool isRight, const Options &options) {
  Scene s;
  s.block = {128, 1, 1};
  s.grid = c.grid.x ? c.grid : c.cluster;
  s.cluster = c.cluster;
  s.shared = c.shared;
  s.oversized = c.shared != 0;
  s.options = options;
  s.options.hazards = c.options;
  if (isRight && c.sameText)
    s.options.hazards = {};
  return run(hazardKernel(c, isRight), s);
}

/// The report of a rule, from its place to the line with its label.
inline std::string reportOf(const std::string &text, const std::string &mark) {
  const size_t end = text.find(mark);
  if (end == std::string::npos)
    return {};
  const size_t begin = text.rfind("\nt.ptx:", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

/// A report names the memory with its bytes or columns, both accesses by their lines, and what
/// is missing or wrong.
inline void expectWhole(const HazardCase &c, const std::string &report) {
  const HazardRule *rule = nullptr;
  for (const HazardRule &r : hazardRules())
    if (r.label == c.rule())
      rule = &r;
  ASSERT_NE(rule, nullptr);
  const size_t lack = std::max(report.rfind("\n  missing: ") + 1, report.rfind("\n  wrong: ") + 1);
  EXPECT_NE(lack, 0u) << report;
  EXPECT_EQ(report.find('\n', lack), std::string::npos) << "the label ends this line: " << report;
  auto names = [&](std::initializer_list<const char *> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char *w) { return report.find(w) != std::string::npos; });
  };
  if (!c.touchesNothing)
    EXPECT_TRUE(
        names({" bytes", " columns ", "mbarrier 0x", "register", "collector buffer", "operand"}))
        << report;
  if (!c.isAlone)
    EXPECT_TRUE(names({" at t.ptx:", "another cluster"})) << report;
}

/// Each kind of timing, and whatever the operations land like, finds the mistake.
inline void expectReported(const HazardCase &c) {
  const std::string mark = c.mark();
  for (const Options &o : allTimings()) {
    Ran r = runCase(c, /*isRight=*/false, o);
    std::string text = r.error;
    if (c.level != HazardLevel::error) {
      EXPECT_EQ(r.error, "");
      for (const std::string &w : r.stats.warnings)
        text += w + "\n";
    }
    EXPECT_NE(text.find(mark), std::string::npos)
        << "timing " << int(o.timing) << " seed " << o.seed << ": " << text;
    expectWhole(c, reportOf(text, mark));
  }
}

inline void expectSilent(const HazardCase &c) {
  const std::string mark = c.mark();
  for (const Options &o : allTimings()) {
    Ran r = runCase(c, /*isRight=*/true, o);
    EXPECT_EQ(r.error, "") << "timing " << int(o.timing) << " seed " << o.seed;
    for (const std::string &w : r.stats.warnings)
      EXPECT_EQ(w.find(mark), std::string::npos) << w;
  }
}

} // namespace blockscale::emu::test

#endif // BLOCKSCALE_TEST_UNIT_EMULATOR_HAZARDSCENE_H
