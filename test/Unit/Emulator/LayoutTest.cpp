//===- LayoutTest.cpp - where bytes lie -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.ld, st and cp against the points of layouts_ref.py, TMA against tables
// written by hand.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <map>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 1024 .b8 buf[8192];\n.shared .align 8 .b8 bar[16];\n"
                    ".shared .align 4 .b8 tm[8];\n";

struct Point {
  std::string shape;
  std::vector<int> in, out;
};

std::vector<Point> points(const std::string &function) {
  std::istringstream file(readFile(std::string(BLOCKSCALE_TEST_DIR) + "/data/layout_vectors.txt"));
  std::vector<Point> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != function)
      continue;
    Point p;
    words >> p.shape;
    bool right = false;
    while (words >> word) {
      if (word == "=")
        right = true;
      else
        (right ? p.out : p.in).push_back(std::stoi(word));
    }
    result.push_back(p);
  }
  return result;
}

std::string registers(int n, const char *prefix = "%v") {
  std::string s = "{";
  for (int i = 0; i < n; ++i)
    s += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return s + "}";
}

std::string allocate(const char *columns) {
  return std::string("setp.ge.u32 %p5, %t, 32; @%p5 bra A; "
                     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], ") +
         columns + "; A: bar.sync 0; ld.shared.b32 %r10, [tm]; .reg .b32 %v<128>; .reg .b32 %c;\n";
}
std::string release(const char *columns) {
  return std::string(
             "bar.sync 0; @%p5 bra Z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, ") +
         columns + "; Z:";
}

/// Every cell of lanes 0..31: lane << 16 | column.
std::string fillCells() {
  std::string s =
      "shl.b32 %r11, %t, 16; mov.u32 %r12, 0; F: add.u32 %r13, %r11, %r12; add.u32 %r14, "
      "%r10, %r12;\n";
  for (int i = 0; i < 32; ++i)
    s += "add.u32 %v" + std::to_string(i) + ", %r13, " + std::to_string(i) + ";";
  return s + "\ntcgen05.st.sync.aligned.32x32b.x32.b32 [%r14], " + registers(32) +
         "; tcgen05.wait::st.sync.aligned; add.u32 %r12, %r12, 32; setp.lt.u32 %p1, %r12, 256; "
         "@%p1 bra "
         "F;\n";
}

int registerCount(const std::string &shape) {
  return shape == "16x256b" ? 128 : shape == "16x128b" ? 64 : 32;
}

std::string storeRegisters(int n) {
  std::string s = "mad.wide.u32 %rd0, %t, " + std::to_string(4 * n) + ", %out;\n";
  for (int i = 0; i < n; ++i)
    s += "st.global.u32 [%rd0+" + std::to_string(4 * i) + "], %v" + std::to_string(i) + ";";
  return s + "\n";
}

TEST(TmemLayout, LoadsOfEveryShape) {
  std::map<std::pair<std::string, int>, std::vector<Point>> groups;
  for (const Point &p : points("ld"))
    groups[{p.shape, p.shape == "16x32bx2" ? p.in[2] : 0}].push_back(p);
  EXPECT_EQ(groups.size() >= 5, true);
  size_t checked = 0;
  for (auto &[key, list] : groups) {
    int n = registerCount(key.first);
    std::string imm = key.first == "16x32bx2" ? ", " + std::to_string(key.second) : "";
    for (bool pack : {false, true}) {
      if (pack && (n == 128 || (!imm.empty() && 2 * (32 + key.second) > 256)))
        continue; // 512 columns
      Scene s;
      s.outWords = 32 * 128;
      Ran r = run(kernel(allocate("256") + fillCells() + "tcgen05.ld.sync.aligned." + key.first +
                             ".x32" + (pack ? ".pack::16b" : "") + ".b32 " + registers(n) +
                             ", [%r10]" + imm + "; tcgen05.wait::ld.sync.aligned;\n" +
                             storeRegisters(n) + release("256"),
                         "sm_100a", kVars),
                  s);
      ASSERT_EQ(r.error, "") << key.first;
      for (const Point &p : list) {
        int t = p.in[0], q = p.in[1];
        if (q >= n)
          continue;
        uint32_t got = r.out[size_t(t * n + q)];
        if (pack)
          EXPECT_EQ(got >> 16, uint32_t(p.out[3]))
              << key.first << " thread " << t << " register " << q;
        else
          EXPECT_EQ(got, uint32_t(p.out[0] << 16 | p.out[1]))
              << key.first << " thread " << t << " register " << q;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000u);
}

TEST(TmemLayout, StoresOfEveryShape) {
  for (const char *shape : {"32x32b", "16x64b", "16x128b", "16x256b"}) {
    int n = shape == std::string("16x256b") ? 8 : shape == std::string("16x128b") ? 4 : 2;
    std::string body = allocate("256") + fillCells();
    for (int i = 0; i < n; ++i)
      body += "mad.lo.u32 %v" + std::to_string(i) + ", %t, 256, " + std::to_string(i) +
              "; add.u32 %v" + std::to_string(i) + ", %v" + std::to_string(i) + ", 0x40000000;";
    body += std::string("tcgen05.st.sync.aligned.") + shape + ".x2.b32 [%r10], " + registers(n) +
            "; tcgen05.wait::st.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x32.b32 " +
            registers(32) + ", [%r10]; tcgen05.wait::ld.sync.aligned;\n" + storeRegisters(32) +
            release("256");
    Scene s;
    s.outWords = 32 * 32;
    Ran r = run(kernel(body, "sm_100a", kVars), s);
    ASSERT_EQ(r.error, "") << shape;
    for (const Point &p : points("ld")) {
      if (p.shape != shape || p.in[1] >= n)
        continue;
      EXPECT_EQ(r.out[size_t(p.out[0] * 32 + p.out[1])],
                0x40000000u + uint32_t(p.in[0] * 256 + p.in[1]))
          << shape;
    }
  }
}

TEST(TmemLayout, CopiesOfEveryShape) {
  std::map<std::string, std::vector<Point>> groups;
  for (const Point &p : points("cp_lanes"))
    groups[p.shape].push_back(p);
  ASSERT_EQ(groups.size(), 6u);
  for (auto &[shape, list] : groups) {
    std::string form = shape == "32x128b"         ? "32x128b.warpx4"
                       : shape == "64x128b.02_13" ? "64x128b.warpx2::02_13"
                       : shape == "64x128b.01_23" ? "64x128b.warpx2::01_23"
                                                  : shape;
    // buf: word i holds i; row r at (r % 8) * 16 + (r / 8) * 128, second chunk 4096 later.
    std::string body =
        allocate("32") +
        "mov.u32 %r0, buf; mov.u32 %r1, %t; G: shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r0; "
        "st.shared.u32 [%r2], %r1; add.u32 %r1, %r1, 128; setp.lt.u32 %p1, %r1, 2048; @%p1 bra G;\n"
        "shl.b32 %r3, %t, 16; and.b32 %r3, %r3, 0x600000; add.u32 %r4, %r10, %r3; mov.u32 %v0, "
        "0xFFFF;\n"
        "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0}; "
        "tcgen05.wait::st.sync.aligned; fence.proxy.async;\n"
        "setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; shr.u32 %r5, "
        "%r0, 4; add.u32 %r5, %r5, 0x01000000; mov.b64 %rd1, {%r5, 0x00004008};\n"
        "mov.u32 %r6, bar; @%p2 tcgen05.cp.cta_group::1." +
        form +
        " [%r10], %rd1; @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
        "[%r6];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r6], 0; @!%p3 bra W;\n"
        "tcgen05.ld.sync.aligned.32x32b.x8.b32 " +
        registers(8) + ", [%r4]; tcgen05.wait::ld.sync.aligned;\n" + storeRegisters(8) +
        release("32");
    Scene s;
    s.block = {128, 1, 1};
    s.outWords = 128 * 8;
    Ran r = run(kernel(body, "sm_100a", kVars), s);
    ASSERT_EQ(r.error, "") << shape;
    std::vector<uint32_t> expected(128 * 8, 0xFFFF);
    for (const Point &p : list)
      for (int i = 0; i < p.out[2]; ++i)
        for (int word = 0; word < p.out[1] / 4; ++word)
          expected[size_t(p.out[3 + size_t(i)] * 8 + word)] =
              uint32_t(p.in[0] % 8 * 4 + p.in[0] / 8 * 32 + word / 4 * 1024 + word % 4);
    EXPECT_EQ(r.out, expected) << shape;
  }
}

struct TmaCase {
  const char *name;
  facts::TmaSwizzle swizzle;
  uint32_t rowBytes;
  // Chunk of 16 bytes of the global row that lies at each place of 8 rows.
  std::vector<std::vector<int>> chunks;
};

class TmaLayout : public ::testing::TestWithParam<TmaCase> {};

TEST_P(TmaLayout, ChunksLieWhereTheTableSays) {
  const TmaCase &c = GetParam();
  Scene s;
  s.in.assign(1024, 0);
  s.outWords = 512;
  s.fill = [&](uint64_t in, uint64_t, std::vector<uint32_t> &words) {
    facts::TensorMap m;
    m.type = facts::TmaType::u16;
    m.address = in + 128;
    m.dims = {c.rowBytes / 2, 7}; // row 7 is outside
    m.strides = {c.rowBytes};
    m.box = {c.rowBytes / 2, 8};
    m.swizzle = c.swizzle;
    auto bytes = encodeTensorMap(facts::Arch::sm_100a, m);
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
    for (uint32_t i = 0; i < 896; ++i)
      words[32 + i] = 0x1000 * (i * 4 / c.rowBytes + 1) + i * 4 % c.rowBytes / 16; // row, chunk
  };
  std::string total = std::to_string(8 * c.rowBytes);
  std::string body =
      "mov.u32 %r0, buf; mov.u32 %r1, bar; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 "
      "[%r1], 1; bar.sync 0;\n"
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], " +
      total +
      ";\n"
      "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], "
      "[%in, {0, 0}], [%r1];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W; mov.u32 %r2, %t;\n"
      "L: shl.b32 %r3, %r2, 2; add.u32 %r4, %r3, %r0; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd0, "
      "%r3; add.u64 %rd0, %rd0, %out; st.global.u32 [%rd0], %r5; add.u32 %r2, %r2, 32; setp.lt.u32 "
      "%p2, %r2, " +
      std::to_string(2 * c.rowBytes) + "; @%p2 bra L;";
  Ran r = run(kernel(body, "sm_100a", kVars), s);
  ASSERT_EQ(r.error, "");
  size_t perRow = c.rowBytes / 16;
  for (size_t row = 0; row < 8; ++row)
    for (size_t place = 0; place < perRow; ++place)
      for (size_t word = 0; word < 4; ++word)
        EXPECT_EQ(r.out[(row * perRow + place) * 4 + word],
                  row == 7 ? 0u : 0x1000 * (row + 1) + uint32_t(c.chunks[row][place]))
            << "row " << row << " place " << place;
}

const TmaCase kTma[] = {
    {"None", facts::TmaSwizzle::none, 32, std::vector<std::vector<int>>(8, {0, 1})},
    {"B32",
     facts::TmaSwizzle::b32,
     32,
     {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}},
    {"B64",
     facts::TmaSwizzle::b64,
     64,
     {{0, 1, 2, 3},
      {0, 1, 2, 3},
      {1, 0, 3, 2},
      {1, 0, 3, 2},
      {2, 3, 0, 1},
      {2, 3, 0, 1},
      {3, 2, 1, 0},
      {3, 2, 1, 0}}},
    {"B128",
     facts::TmaSwizzle::b128,
     128,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1},
      {7, 6, 5, 4, 3, 2, 1, 0}}},
    {"B128Atom32",
     facts::TmaSwizzle::b128Atom32,
     128,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {6, 7, 4, 5, 2, 3, 0, 1},
      {0, 1, 2, 3, 4, 5, 6, 7},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {6, 7, 4, 5, 2, 3, 0, 1}}},
};
INSTANTIATE_TEST_SUITE_P(All, TmaLayout, ::testing::ValuesIn(kTma),
                         [](const auto &info) { return info.param.name; });

TEST(TmaStore, WritesWholeChunksAndClipsRows) {
  // bf16, 5 columns at a pitch of 16 bytes, 3 rows: bytes 10..15 of a row are written too.
  Scene s;
  s.fill = [](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
    facts::TensorMap m;
    m.type = facts::TmaType::bf16;
    m.address = out;
    m.dims = {5, 3};
    m.strides = {16};
    m.box = {16, 4};
    auto bytes = encodeTensorMap(facts::Arch::sm_100a, m);
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
  };
  Ran r = run(kernel("mov.u32 %r0, buf; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r0; st.shared.u32 "
                     "[%r1], %t; fence.proxy.async; setp.eq.u32 %p0, %t, 0; bar.sync 0;\n"
                     "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%in, {0, "
                     "0}], [%r0]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                     "sm_100a", kVars),
              s);
  ASSERT_EQ(r.error, "");
  for (uint32_t row = 0; row < 3; ++row)
    for (uint32_t word = 0; word < 4; ++word)
      EXPECT_EQ(r.out[row * 4 + word], row * 8 + word);
  EXPECT_EQ(r.out[12], 0xAAAAAAAA);
}

TEST(TmaRules, Coordinates) {
  Scene s;
  s.fill = [](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
    facts::TensorMap m;
    m.type = facts::TmaType::u16;
    m.address = out;
    m.dims = {64};
    m.box = {64};
    auto bytes = encodeTensorMap(facts::Arch::sm_100a, m);
    std::memcpy(words.data(), bytes->data(), 128);
  };
  auto store = [&](const char *c) {
    return run(kernel(std::string(
                          "mov.u32 %r0, buf; setp.eq.u32 %p0, %t, 0; @%p0 "
                          "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%in, {") +
                          c + "}], [%r0];",
                      "sm_100a", kVars),
               s)
        .error;
  };
  EXPECT_EQ(
      store("4"),
      "t.ptx:11: tma_coordinate: coordinate 0 must be a multiple of 8 elements (16 bytes), got 4");
  EXPECT_EQ(store("-8"), "t.ptx:11: tma_coordinate: coordinates of a store must not be negative, "
                         "got -8 in dimension 0");
}

TEST(Mma, UnwaitedReaderSeesTheOldAccumulator) {
  // The tile without its wait for the commit; the wait comes before dealloc.
  std::string text =
      readFile(std::string(BLOCKSCALE_TEST_DIR) + "/data/ptx/nvfp4_tile_sm_100a.ptx");
  std::string wait =
      "DONE:\n  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%done], 0;\n  @!%p4 bra DONE;\n";
  size_t at = text.find(wait);
  ASSERT_NE(at, std::string::npos);
  text.erase(at, wait.size());
  at = text.rfind("  bar.sync 0;");
  text.insert(at, wait);
  Options latest = unchecked();
  latest.timing = Timing::latest;
  auto device = makeDevice(latest);
  auto module = load(*device, text, "k.ptx");
  ASSERT_TRUE(bool(module)) << module.message();
  std::vector<uint8_t> bytes(128 * 128, 0x22), scales(2048, 0x38); // ones times ones
  std::vector<float> c(128 * 128, 3.0f);
  auto upload = [&](const void *p, size_t n) {
    uint64_t a = *device->allocate(n);
    (void)!device->write(a, p, n);
    return a;
  };
  facts::TensorMap m;
  m.address = upload(bytes.data(), bytes.size());
  m.dims = m.box.empty() ? std::vector<uint64_t>{128, 128} : m.dims;
  m.strides = {128};
  m.box = {128, 128};
  m.swizzle = facts::TmaSwizzle::b128;
  KernelParam map;
  map.bytes = *encodeTensorMap(facts::Arch::sm_100a, m);
  uint64_t sf = upload(scales.data(), scales.size()), acc = upload(c.data(), c.size() * 4),
           d = upload(c.data(), c.size() * 4);
  LaunchConfig launch;
  launch.block = {128, 1, 1};
  launch.sharedBytes = 36992;
  launch.params = {map,
                   map,
                   param(sf),
                   param(sf),
                   param(acc),
                   param(d),
                   param(uint32_t(1)),
                   param(uint32_t(0x08200480)),
                   param(uint32_t(2 * 16384 + 4096))};
  for (auto [timing, expected] :
       {std::pair{Timing::latest, 3.0f}, std::pair{Timing::earliest, 259.0f}}) {
    Options o = unchecked();
    o.timing = timing;
    device->setOptions(o);
    auto stats = device->launch(**module, "k", launch);
    ASSERT_TRUE(bool(stats)) << stats.message();
    (void)!device->read(d, c.data(), c.size() * 4);
    EXPECT_EQ(c[5 * 128 + 9], expected);
  }
}

} // namespace
