//===- GgufTest.cpp - .gguf files, right and wrong ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are built by hand from the format's description, and one comes from PyPI
// gguf; every damaged one must be refused with one line.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

/// The bytes of a file, as its fields are put.
struct Builder {
  std::string text;

  template <typename T> Builder &put(T value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Builder &putString(std::string_view value) {
    put(uint64_t(value.size())).text += value;
    return *this;
  }
  Builder &head(uint64_t tensors, uint64_t values, uint32_t version = 3) {
    text += "GGUF";
    return put(version).put(tensors).put(values);
  }
  Builder &tensor(std::string_view name, std::vector<uint64_t> dims, uint32_t type,
                  uint64_t offset) {
    putString(name).put(uint32_t(dims.size()));
    for (uint64_t dim : dims)
      put(dim);
    return put(type).put(offset);
  }
  Builder &pad(size_t alignment = 32) {
    text.append((alignment - text.size() % alignment) % alignment, '\0');
    return *this;
  }
  Builder &bytes(size_t count, char fill = 'x') {
    text.append(count, fill);
    return *this;
  }
};

void expectRefusal(const std::string &text, const std::string &part,
                   const std::string &member = "a") {
  Result<Array> result = parseGguf(text, "f", member);
  ASSERT_FALSE(result);
  EXPECT_NE(result.message().find(part), std::string::npos) << result.message();
  EXPECT_EQ(result.message().find('\n'), std::string::npos) << result.message();
}

/// One tensor "a" of type I8 and shape [2, 3] in C order.
Builder small() { return Builder().head(1, 0).tensor("a", {3, 2}, 24, 0).pad().bytes(6); }

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Gguf, readsATensorByName) {
  Result<Array> array = parseGguf(small().text, "f", "a");
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(array->type, DType::i8);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3})); // the file has the row first
  EXPECT_EQ(array->bytes, std::vector<uint8_t>(6, 'x'));
  Builder old = Builder().head(1, 0, 2).tensor("a", {}, 0, 0).pad().put(1.5f);
  Result<Array> scalar = parseGguf(old.text, "f", "a");
  ASSERT_TRUE(scalar) << scalar.message();
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->bytes.size(), 4u);
}

TEST(Gguf, stepsOverMetadataOfEveryType) {
  Builder file;
  file.head(1, 4).putString("general.alignment").put(4u).put(64u);
  file.putString("s").put(8u).putString("text");
  file.putString("strings").put(9u).put(8u).put(uint64_t(2)).putString("x").putString("");
  file.putString("nested").put(9u).put(9u).put(uint64_t(1)).put(11u).put(uint64_t(2)).bytes(16);
  file.tensor("a", {2}, 24, 64).pad(64).bytes(64).bytes(2, 'y');
  Result<Array> array = parseGguf(file.text, "f", "a");
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(array->bytes, std::vector<uint8_t>(2, 'y'));
}

TEST(Gguf, refusesEveryTruncation) {
  std::string text = readAll(BLOCKSCALE_TEST_DIR "/data/gguf/types.gguf");
  ASSERT_GT(text.size(), 1000u);
  for (size_t size = 0; size < text.size() - 64; size += size < 1500 ? 1 : 97) {
    Result<Array> array = parseGguf(std::string_view(text).substr(0, size), "f", "f32");
    ASSERT_FALSE(array) << size;
    ASSERT_EQ(array.message().find('\n'), std::string::npos);
  }
  EXPECT_TRUE(parseGguf(text, "f", "f32"));
}

TEST(Gguf, refusesWhatTheHeaderMayNotSay) {
  expectRefusal("GGML", "must start with the magic of a .gguf file, got 4 other bytes");
  expectRefusal(Builder().head(0, 0, 1).text, "must have version 2 or 3, got 1");
  expectRefusal(Builder().head(0, 0, 4).text, "must have version 2 or 3, got 4");
  expectRefusal(Builder().head(0, 0, 3u << 24).text, "must be little-endian, got big-endian");
  expectRefusal(Builder().head(UINT64_MAX, 0).text,
                "must hold the name of tensor 0 of 18446744073709551615, got its end at byte 24");
  expectRefusal(Builder().head(0, UINT64_MAX).text, "must hold the key of value 0");
  expectRefusal(Builder().head(0, 1).putString(std::string(65536, 'k')).put(0u).text,
                "must have keys of at most 65535 bytes, got 65536");
  expectRefusal(Builder().head(0, 1).putString("k\n").put(13u).text,
                "must have values of types 0 to 12, got 13 for 'k?'");
  expectRefusal(Builder().head(0, 1).putString("k").put(9u).put(10u).put(UINT64_MAX / 4).text,
                "must hold all of value 0 of 1, 'k', got its end or no value");
  Builder nested = Builder().head(0, 1).putString("k").put(9u);
  for (int i = 0; i < 6; ++i)
    nested.put(9u).put(uint64_t(1));
  expectRefusal(nested.text, "must hold all of value 0 of 1, 'k'");
}

TEST(Gguf, refusesAnAlignmentThatIsNone) {
  auto aligned = [](uint32_t type, auto value, int times = 1) {
    Builder file = Builder().head(0, times);
    for (int i = 0; i < times; ++i)
      file.putString("general.alignment").put(type).put(value);
    return file.text;
  };
  for (uint32_t value : {0u, 24u, 1u << 31})
    expectRefusal(aligned(4, value), "one power of two as u32 in general.alignment");
  expectRefusal(aligned(10, uint64_t(32)), "one power of two as u32");
  expectRefusal(aligned(4, 32u, 2), "one power of two as u32");
  expectRefusal(aligned(4, 8u), "must have a tensor 'a', got none"); // the nearest right one
}

TEST(Gguf, refusesWhatATensorMayNotSay) {
  auto one = [](std::vector<uint64_t> dims, uint32_t type, uint64_t offset, size_t data = 6) {
    return Builder().head(1, 0).tensor("a", dims, type, offset).pad().bytes(data).text;
  };
  expectRefusal(one({1, 1, 1, 1, 1}, 24, 0), "must have at most 4 dimensions, got 5");
  expectRefusal(one({UINT64_MAX}, 24, 0), "must have dimensions below 2^63");
  expectRefusal(one({1ull << 32, 1ull << 32}, 24, 0), "must have a shape that fits memory");
  expectRefusal(one({3}, 4, 0), "must have a known type, got 4");
  expectRefusal(one({3}, 999, 0), "must have a known type, got 999");
  expectRefusal(one({255}, 12, 0), "rows of whole blocks of 256 for Q4_K, got 255");
  expectRefusal(one({6}, 24, 8), "must start at a multiple of 32, got 8");
  expectRefusal(one({7}, 24, 0), "must lie within the 6 bytes of data, got 7 bytes at 0");
  expectRefusal(one({6}, 24, 32), "must lie within the 6 bytes of data, got 6 bytes at 32");
  expectRefusal(one({6}, 24, UINT64_MAX - 31), "must lie within the 6 bytes of data");
  expectRefusal(one({32}, 8, 0, 34), "must have one of the types F32, F16, Q4_K, I8, I32, I64, "
                                     "F64, BF16, MXFP4, NVFP4, got Q8_0");
  expectRefusal(one({1}, 25, 0), "got I16");
  EXPECT_TRUE(parseGguf(one({6}, 24, 0), "f", "a"));
  EXPECT_TRUE(parseGguf(one({0}, 24, 0, 0), "f", "a"));
}

TEST(Gguf, refusesNamesThatAreNotThereOnce) {
  expectRefusal(small().text, "must have a tensor 'b', got a", "b");
  expectRefusal(small().text, "must have a tensor '', got a", "");
  Builder twice = Builder().head(2, 0).tensor("a", {1}, 24, 0).tensor("a", {1}, 24, 0);
  expectRefusal(twice.pad().bytes(1).text, "must have one tensor 'a', got 2");
  expectRefusal(small().text, "must be of MXFP4 or NVFP4 to have scales apart, got I8", "a:scales");
  // A tensor may have the name itself.
  Builder named = Builder().head(1, 0).tensor("a:scales", {1}, 24, 0).pad().bytes(1);
  EXPECT_TRUE(parseGguf(named.text, "f", "a:scales"));
}

TEST(Gguf, takesMxfp4Apart) {
  Builder file = Builder().head(1, 0).tensor("a", {32}, 39, 0).pad();
  file.put(uint8_t(130));
  for (int i = 0; i < 16; ++i) // element i is i, element 16 + i is 15 - i
    file.put(uint8_t(i | (15 - i) << 4));
  Result<Array> elements = parseGguf(file.text, "f", "a");
  ASSERT_TRUE(elements) << elements.message();
  EXPECT_EQ(elements->shape, std::vector<int64_t>{16});
  EXPECT_EQ(elements->bytes,
            (std::vector<uint8_t>{0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE, 0xEF, 0xCD, 0xAB,
                                  0x89, 0x67, 0x45, 0x23, 0x01}));
  Result<Array> scales = parseGguf(file.text, "f", "a:scales");
  ASSERT_TRUE(scales) << scales.message();
  EXPECT_EQ(scales->shape, std::vector<int64_t>{1});
  EXPECT_EQ(scales->bytes, std::vector<uint8_t>{130});
}

TEST(Gguf, takesNvfp4Apart) {
  auto make = [](uint8_t scale) {
    Builder file = Builder().head(1, 0).tensor("a", {64}, 40, 0).pad();
    file.put(uint8_t(0x38)).put(uint8_t(0x7F)).put(uint8_t(0)).put(scale);
    for (int group = 0; group < 4; ++group)
      for (int i = 0; i < 8; ++i) // element i of a group is group, 8 + i is i
        file.put(uint8_t(group | i << 4));
    return file.text;
  };
  Result<Array> elements = parseGguf(make(0x7E), "f", "a");
  ASSERT_TRUE(elements) << elements.message();
  EXPECT_EQ(elements->shape, std::vector<int64_t>{32});
  for (unsigned group = 0; group < 4; ++group)
    for (unsigned i = 0; i < 8; ++i)
      EXPECT_EQ(elements->bytes[group * 8 + i],
                i < 4 ? group * 0x11 : (2 * i - 8) | (2 * i - 7) << 4);
  Result<Array> scales = parseGguf(make(0x7E), "f", "a:scales");
  ASSERT_TRUE(scales) << scales.message();
  EXPECT_EQ(scales->bytes, (std::vector<uint8_t>{0x38, 0, 0, 0x7E})); // ggml's zero is zero
  expectRefusal(make(0x80), "must have scales without a sign, got a byte above 0x7F");
  expectRefusal(make(0x80), "must have scales without a sign", "a:scales");
}

TEST(Gguf, readsWhatPyPiGgufWrites) {
  std::string path = BLOCKSCALE_TEST_DIR "/data/gguf/types.gguf";
  struct Row {
    const char *member;
    DType type;
    std::vector<int64_t> shape;
  };
  const Row rows[] = {
      {"f32", DType::f32, {2, 3}},   {"f16", DType::f16, {2, 3}},
      {"i8", DType::i8, {2, 3}},     {"i32", DType::i32, {2, 3}},
      {"bf16", DType::bf16, {2, 3}}, {"q4_K", DType::u8, {3, 288}},
      {"mxfp4", DType::u8, {3, 32}}, {"mxfp4:scales", DType::u8, {3, 2}},
      {"nvfp4", DType::u8, {2, 64}}, {"nvfp4:scales", DType::u8, {2, 8}},
  };
  for (const Row &row : rows) {
    Result<Array> array = loadArray(path + ":" + row.member);
    ASSERT_TRUE(array) << array.message();
    EXPECT_EQ(array->type, row.type) << row.member;
    EXPECT_EQ(array->shape, row.shape) << row.member;
  }
  float values[6];
  std::memcpy(values, loadArray(path + ":f32")->bytes.data(), sizeof values);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(values[i], float(i) - 1.5f);
  Result<Array> refused = loadArray(path + ":q8_0");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.message().find("got Q8_0"), std::string::npos);
}

TEST(Gguf, refusesPathsThatAreNoFiles) {
  for (const char *spec : {"none.gguf:a", "x.gguf", "missing/x.gguf:a"}) {
    Result<Array> array = loadArray(spec);
    ASSERT_FALSE(array);
    EXPECT_EQ(array.message().rfind("gguf: '", 0), 0u) << array.message();
  }
}

TEST(Gguf, writesWhatItReads) {
  std::vector<uint8_t> blocks(288);
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = uint8_t(i * 7);
  std::string text =
      formatGguf({{"w", "Q4_K", {2, 256}, blocks}, {"b", "F32", {1}, {1, 2, 3, 4}}}, "test");
  Result<Array> w = parseGguf(text, "f", "w");
  ASSERT_TRUE(w) << w.message();
  EXPECT_EQ(w->shape, (std::vector<int64_t>{2, 144}));
  EXPECT_EQ(w->bytes, blocks);
  Result<Array> b = parseGguf(text, "f", "b");
  ASSERT_TRUE(b) << b.message();
  EXPECT_EQ(b->bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
}

} // namespace
