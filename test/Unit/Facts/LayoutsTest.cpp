//===- LayoutsTest.cpp - every layout against the Python reference --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads test/data/layout_vectors.txt (made by gen_layout_vectors.py from
// layouts_ref.py) and asks the product for each point.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/LayoutsAccumulator.h"
#include "blockscale/Facts/LayoutsCluster.h"
#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/LayoutsTma.h"
#include "blockscale/Facts/LayoutsTmemAccess.h"
#include "blockscale/Facts/LayoutsTmemCopy.h"
#include "blockscale/Facts/LayoutsWarp.h"
#include "blockscale/Facts/ScaleTile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

using namespace blockscale::facts;

namespace {

using Values = std::vector<int64_t>;

/// Arguments of one line, taken in order.
struct Arguments {
  std::vector<std::string> words;
  size_t next = 0;
  std::string word() { return words.at(next++); }
  int number() { return int(std::stoll(word())); }
  Swizzle swizzle() { return *parseSwizzle(word()); }
  SmemDesc desc() {
    SmemDesc d;
    d.start = uint32_t(number());
    d.leadingBytes = uint32_t(number());
    d.strideBytes = uint32_t(number());
    d.swizzle = swizzle();
    return d;
  }
};

Values accumulator(Arguments &in) {
  int m = in.number(), n = in.number(), rows = in.number(), columns = in.number();
  int group = in.number();
  AccumulatorForm form = *parseAccumulatorForm(in.word());
  std::optional<TmemCell> cell = accumulatorCell(m, n, rows, columns, group, form, in.number());
  if (!cell)
    return {};
  return {cell->cta, cell->lane, cell->column, accumulatorColumns(rows, columns, group, form)};
}

Values operandTmem(Arguments &in) {
  int m = in.number(), k = in.number(), rows = in.number(), bits = in.number();
  TmemOperandPlaces places = tmemOperandPlaces(m, k, rows, bits, in.number());
  Values out{places.count};
  for (int i = 0; i < places.count; ++i) {
    const TmemOperandPlace &p = places.places[size_t(i)];
    out.insert(out.end(), {p.cell.cta, p.cell.lane, p.cell.column, p.bit});
  }
  return out;
}

Values ctaRows(Arguments &in) {
  int cta = in.number(), rows = in.number();
  RowRange range = operandRowsOfCta(cta, rows, in.number());
  return {range.first, range.last};
}

Values swizzleOne(Arguments &in) {
  uint32_t address = uint32_t(in.number());
  return {swizzleAddress(address, in.swizzle())};
}

Values kMajor(Arguments &in) {
  int row = in.number(), byte = in.number();
  SmemDesc desc = in.desc();
  desc.baseOffset = in.number();
  return {kMajorAddress(row, byte, desc)};
}

Values mnMajor(Arguments &in) {
  int mn = in.number(), k = in.number(), size = in.number();
  SmemDesc desc = in.desc();
  desc.baseOffset = in.number();
  return {mnMajorAddress(mn, k, size, desc)};
}

Values k96(Arguments &in) {
  int row = in.number(), byte = in.number();
  SmemDesc desc;
  desc.start = uint32_t(in.number());
  desc.leadingBytes = uint32_t(in.number());
  desc.strideBytes = uint32_t(in.number());
  desc.swizzle = Swizzle::b128;
  desc.absolute = true;
  return {kMajorAddressAbsolute(row, byte, desc)};
}

Values bitOfElement(Arguments &in) {
  int k = in.number(), bits = in.number();
  return {elementBit(k, bits, *parseRowPacking(in.word()))};
}

Values element(Arguments &in) {
  int row = in.number(), k = in.number(), bits = in.number();
  RowPacking packing = *parseRowPacking(in.word());
  SmemElement e = kMajorElement(row, k, bits, packing, in.desc());
  return {e.address, e.bit};
}

/// Both directions of a whole descriptor, on a chip with that many address bits.
Values smemDesc(Arguments &in) {
  Arch arch = in.number() == 15 ? Arch::sm_107a : Arch::sm_100a;
  SmemDesc desc = in.desc();
  Result<uint64_t> word = encodeSmemDesc(arch, desc);
  if (!word) {
    ADD_FAILURE() << word.message();
    return {};
  }
  Result<SmemDesc> back = decodeSmemDesc(arch, *word);
  EXPECT_TRUE(back && *back == desc) << back.message();
  return {int64_t(*word)};
}

Values tmaShared(Arguments &in) {
  int i1 = in.number(), i2 = in.number(), count1 = in.number();
  in.number();
  int byte = in.number(), rowBytes = in.number();
  Swizzle swizzle = in.swizzle();
  return {
      tmaSharedAddress(i1 + int64_t(i2) * count1, byte, rowBytes, swizzle, uint32_t(in.number()))};
}

Values tmaBox(Arguments &in) {
  int64_t box[3], stride[3], start[3], index[3];
  for (int64_t *list : {box, stride, start, index})
    for (int i = 0; i < 3; ++i)
      list[i] = in.number();
  Values out;
  for (int i = 0; i < 3; ++i)
    out.push_back(tmaBoxCount(i, box[i], stride[i]));
  for (int i = 0; i < 3; ++i)
    out.push_back(tmaCoordinate(i, start[i], index[i], stride[i]));
  return out;
}

Values tmaRowBytes(Arguments &in) {
  int box = in.number();
  TmaType type = *parseTmaType(in.word());
  return {tmaGlobalRowBytes(type, box), tmaSharedRowBytes(type, box)};
}

Values tmaMbarrier(Arguments &in) {
  int destination = in.number(), mbarrier = in.number();
  return {signalledRank(destination, mbarrier, in.number())};
}

Values cpLanes(Arguments &in) {
  CpShape shape = *parseCpShape(in.word());
  int row = in.number();
  Values out{info(shape).rows, info(shape).rowBytes, info(shape).copies};
  for (int copy = 0; copy < info(shape).copies; ++copy)
    out.push_back(cpLane(shape, row, copy));
  return out;
}

Values cpColumnOf(Arguments &in) {
  int byte = in.number();
  return {cpColumn(byte), cpByteInCell(byte)};
}

Values decompress(Arguments &in) {
  int bits = in.number();
  std::array<uint8_t, 16> unit;
  for (uint8_t &byte : unit)
    byte = uint8_t(in.number());
  Values out;
  for (int i = 0; i < 16; ++i)
    out.push_back(decompressElement(unit, i, bits));
  return out;
}

Values scalePlaceOf(Arguments &in) {
  int row = in.number(), scale = in.number(), rows = in.number();
  ScalePlace p = scalePlace(row, scale, rows, in.number());
  return {p.lane, p.column, p.byte};
}

Values scalePlaceOf2x2(Arguments &in) {
  int n = in.number(), scale = in.number(), columns = in.number();
  ScalePlace2x2 p = scalePlaceB2x2(n, scale, columns, in.number());
  return {p.lanes[0], p.lanes[1], p.column, p.byte};
}

Values scaleTile(Arguments &in) {
  int row = in.number(), scale = in.number();
  return {scaleTileOffset(row, scale, in.number())};
}

Values scaleStepOf(Arguments &in) {
  int i = in.number();
  ScaleStep step = scaleStep(i, in.number());
  return {step.id, step.word};
}

Values ld(Arguments &in) {
  LdShape shape = *parseLdShape(in.word());
  int thread = in.number(), reg = in.number(), split = in.number();
  LdPlace plain = ldPlace(shape, thread, reg, split);
  LdPlace packed = ldPlacePacked(shape, thread, reg, 1, split);
  return {plain.lane, plain.column, packed.lane, packed.column};
}

template <FragmentPlace (*Place)(int, int, int)> Values fragment(Arguments &in) {
  int thread = in.number(), i = in.number();
  FragmentPlace p = Place(thread, i, in.number());
  return {p.row, p.column};
}

Values fragmentOfC(Arguments &in) {
  int thread = in.number();
  FragmentPlace p = fragmentC(thread, in.number());
  return {p.row, p.column};
}

Values ldmatrix(Arguments &in) {
  int thread = in.number(), reg = in.number(), half = in.number();
  LdmatrixPlace p = ldmatrixPlace(thread, reg, half, in.number());
  return {p.thread, p.element};
}

template <WarpScaleSource (*Source)(int, int, int, int, int)> Values warpScale(Arguments &in) {
  int row = in.number(), scale = in.number(), per = in.number(), byte = in.number();
  WarpScaleSource s = Source(row, scale, per, byte, in.number());
  return {s.thread, s.byte};
}

Values cluster(Arguments &in) {
  uint32_t offset = uint32_t(in.number());
  uint32_t address = clusterAddress(offset, in.number());
  EXPECT_EQ(clusterOffset(address), offset);
  return {address, evenCtaAddress(address)};
}

const std::map<std::string, std::function<Values(Arguments &)>> kFunctions{
    {"accumulator", accumulator},
    {"operand_tmem", operandTmem},
    {"cta_rows", ctaRows},
    {"swizzle", swizzleOne},
    {"kmajor", kMajor},
    {"mnmajor", mnMajor},
    {"k96", k96},
    {"element_bit", bitOfElement},
    {"element", element},
    {"smem_desc", smemDesc},
    {"tma_shared", tmaShared},
    {"tma_box", tmaBox},
    {"tma_row_bytes", tmaRowBytes},
    {"tma_mbarrier", tmaMbarrier},
    {"cp_lanes", cpLanes},
    {"cp_column", cpColumnOf},
    {"decompress", decompress},
    {"scale_place", scalePlaceOf},
    {"scale_place_2x2", scalePlaceOf2x2},
    {"scale_tile", scaleTile},
    {"scale_step", scaleStepOf},
    {"ld", ld},
    {"fragment_a", fragment<fragmentA>},
    {"fragment_b", fragment<fragmentB>},
    {"fragment_c", fragmentOfC},
    {"ldmatrix", ldmatrix},
    {"warp_scale_a", warpScale<warpScaleA>},
    {"warp_scale_b", warpScale<warpScaleB>},
    {"cluster", cluster},
};

TEST(Layouts, EqualTheReferenceAtEveryPoint) {
  std::ifstream file(std::filesystem::path(BLOCKSCALE_TEST_DIR) / "data" / "layout_vectors.txt");
  ASSERT_TRUE(file);
  std::map<std::string, int> points;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string function, word;
    words >> function;
    Arguments arguments;
    while (words >> word && word != "=")
      arguments.words.push_back(word);
    Values expected;
    while (words >> word)
      expected.push_back(word[0] == '-' ? std::stoll(word) : int64_t(std::stoull(word)));
    auto row = kFunctions.find(function);
    ASSERT_NE(row, kFunctions.end()) << line;
    ++points[function];
    ASSERT_EQ(row->second(arguments), expected) << line;
  }
  for (const auto &[function, _] : kFunctions)
    EXPECT_GT(points[function], 0) << "no point of " << function;
}

} // namespace
