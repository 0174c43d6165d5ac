//===- ArrayFilesTest.cpp - .npy and .safetensors, right and wrong --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of good files are written out by hand or come from other writers; every
// damaged one must be refused with one line.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Npy.h"
#include "blockscale/Support/Safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace blockscale::rt;

namespace {

std::string npy(const std::string &header, const std::string &data, char major = 1) {
  std::string text("\x93NUMPY", 6);
  text += {major, '\0', char(header.size() & 0xFF), char(header.size() >> 8)};
  if (major > 1)
    text += std::string(2, '\0');
  return text + header + data;
}

void expectRefusal(const Result<Array> &result, const std::string &part) {
  ASSERT_FALSE(result);
  EXPECT_NE(result.message().find(part), std::string::npos) << result.message();
  EXPECT_EQ(result.message().find('\n'), std::string::npos) << result.message();
}

std::string safetensors(const std::string &header, const std::string &data) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += char(uint64_t(header.size()) >> (8 * i));
  return text + header + data;
}

TEST(Npy, readsWhatNumPyWrites) {
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, -6]], numpy.int32), header as
  // NumPy 2 pads it.
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  header += std::string(128 - 10 - header.size() - 1, ' ') + "\n";
  std::string data("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\xfa\xff\xff\xff", 24);
  for (char major : {1, 2, 3}) {
    Result<Array> array = parseNpy(npy(header, data, major), "x.npy");
    ASSERT_TRUE(array) << array.message();
    EXPECT_EQ(array->type, DType::i32);
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array->bytes[20], 0xfa);
  }
}

TEST(Npy, readsScalarsVectorsAndEmptyArrays) {
  Result<Array> scalar = parseNpy(
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", std::string(8, 'x')), "s");
  ASSERT_TRUE(scalar) << scalar.message();
  EXPECT_TRUE(scalar->shape.empty());
  Result<Array> vector =
      parseNpy(npy("{'shape': (3,), 'fortran_order': True, 'descr': '|u1'}", "abc"), "v");
  ASSERT_TRUE(vector) << vector.message();
  EXPECT_EQ(vector->shape, std::vector<int64_t>{3});
  Result<Array> empty =
      parseNpy(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (4, 0), }\n", ""), "e");
  ASSERT_TRUE(empty) << empty.message();
  EXPECT_TRUE(empty->bytes.empty());
}

TEST(Npy, writesTheBytesThatNumPyWrites) {
  std::string text = formatNpy({DType::f32, {2, 1}, {0, 0, 128, 63, 0, 0, 0, 64}});
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(text.size(), 128u + 8);
  EXPECT_EQ(text.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }");
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(formatNpy({DType::u8, {5}, {1, 2, 3, 4, 5}}).substr(10, 57),
            "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }");
}

TEST(Npy, everyTypeComesBack) {
  for (const DTypeInfo &row : kDTypes) {
    Array array{row.type, {3}, std::vector<uint8_t>(3 * row.bytes, 7)};
    Result<Array> back = parseNpy(formatNpy(array), "x");
    ASSERT_TRUE(back) << back.message();
    EXPECT_EQ(back->bytes, array.bytes);
    // NumPy has no bf16: its bits come back as uint16.
    EXPECT_EQ(back->type, row.type == DType::bf16 ? DType::u16 : row.type);
  }
}

TEST(Npy, takesTruthValuesAsBytes) {
  Result<Array> array =
      parseNpy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", {1, 0}), "x");
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(array->type, DType::u8);
  EXPECT_EQ(array->bytes, (std::vector<uint8_t>{1, 0}));
}

TEST(Npy, refusesTypesThatNoKernelTakes) {
  for (const char *descr : {"<c8", "|S4", "<U1", "|O", ">u4", "<M8[s]", "|V3", "<f16"})
    expectRefusal(parseNpy(npy("{'descr': '" + std::string(descr) +
                                   "', 'fortran_order': False, 'shape': (2,), }",
                               "12345678"),
                           "x"),
                  "must have a dtype among |u1, |i1, <u2, <i2, <u4, <i4, <u8, <i8, <f2, <f4, <f8, "
                  "got " +
                      std::string(descr));
}

TEST(Npy, refusesDamagedFiles) {
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
  expectRefusal(parseNpy("", "x"), "must start with the magic");
  expectRefusal(parseNpy("PK\3\4 not an array", "x"), "must start with the magic");
  expectRefusal(parseNpy(npy(good, "", 9), "x"), "format version 1 to 3, got 9");
  expectRefusal(parseNpy(npy(good, "").substr(0, 30), "x"), "must hold a header of");
  expectRefusal(parseNpy(npy(good, std::string(15, 'x')), "x"),
                "must hold 16 bytes of data for f32 [2, 2], got 15");
  expectRefusal(parseNpy(npy(good, std::string(17, 'x')), "x"), "got 17");
  for (const char *header :
       {"", "{", "{}", "{'descr': '<f4'}", "[1]",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"})
    expectRefusal(parseNpy(npy(header, "xxxxxxxx"), "x"), "must have a header with");
  expectRefusal(
      parseNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "12345678"), "x"),
      "must have a dtype among |u1");
  expectRefusal(
      parseNpy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", "12345678"), "x"),
      "must be in C order, got Fortran order");
  // A product that wraps around 64 bits is no size.
  expectRefusal(
      parseNpy(
          npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999), }",
              ""),
          "x"),
      "a possible number of bytes");
}

TEST(Npy, refusesMissingFiles) {
  expectRefusal(readNpy("/nonexistent/x.npy"), "must be a readable file, got no such file");
  expectRefusal(readNpy("/"), "got a folder");
  expectRefusal(readNpy("/dev/zero"), "got a device");
}

TEST(Safetensors, readsTheLayerInTestData) {
  std::string path = BLOCKSCALE_TEST_DIR "/data/minilm_ffn.safetensors";
  Result<Array> bias = loadArray(path + ":ffn.down.bias");
  ASSERT_TRUE(bias) << bias.message();
  EXPECT_EQ(bias->type, DType::f32);
  EXPECT_EQ(bias->shape, std::vector<int64_t>{384});
  Result<Array> weight = loadArray(path + ":ffn.up.weight");
  ASSERT_TRUE(weight) << weight.message();
  EXPECT_EQ(weight->type, DType::f16);
  EXPECT_EQ(weight->shape, (std::vector<int64_t>{1536, 384}));
  expectRefusal(loadArray(path + ":ffn.wrong"),
                "must have a member 'ffn.wrong', got ffn.down.bias, ffn.down.weight");
  expectRefusal(loadArray(path), "must be followed by ':'");
}

TEST(Safetensors, takesNarrowTypesAsBytes) {
  Result<Array> array =
      parseSafetensors(safetensors(R"({"s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[1,3]},
                     "b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},
                     "e":{"dtype":"F32","shape":[0,4],"data_offsets":[1,1]},
                     "__metadata__":{"format":"pt"}})",
                                   "abc"),
                       "x", "s");
  ASSERT_TRUE(array) << array.message();
  EXPECT_EQ(array->type, DType::u8);
  EXPECT_EQ(array->bytes, (std::vector<uint8_t>{'b', 'c'}));
}

/// D11: one producer stores amax / (448 * 6), the other its reciprocal.
TEST(Safetensors, D11GlobalScaleOfEitherProducer) {
  auto read = [](const std::string &members, std::initializer_list<float> values) {
    std::string data(reinterpret_cast<const char *>(values.begin()), values.size() * 4);
    return parseSafetensors(safetensors("{" + members + "}", data), "x", "l:global");
  };
  auto member = [](const std::string &name, int at, const std::string &shape = "[]") {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[)" +
           std::to_string(at) + "," + std::to_string(at + 4) + "]}";
  };
  for (const Result<Array> &array : {read(member("l.weight_scale_2", 0), {0x1p-8f}),
                                     read(member("l.weight_global_scale", 0, "[1]"), {256.0f})}) {
    ASSERT_TRUE(array) << array.message();
    EXPECT_EQ(array->type, DType::f32);
    EXPECT_TRUE(array->shape.empty());
    float value = 0;
    std::memcpy(&value, array->bytes.data(), sizeof value);
    EXPECT_EQ(value, 0x1p-8f);
  }
  expectRefusal(
      read(member("l.weight_scale_2", 0) + "," + member("l.weight_global_scale", 4), {1, 1}),
      "must have weight_scale_2 or weight_global_scale, whose meanings are opposite, got both");
  expectRefusal(read(member("m.weight_scale_2", 0), {1}), "got neither");
  expectRefusal(read(member("l.weight_global_scale", 0), {0}), "must be positive and finite");
  expectRefusal(
      read(R"("l.weight_scale_2":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})", {1, 1}),
      "must be one f32, got F32 [2]");
}

TEST(Safetensors, refusesDamagedFiles) {
  auto member = [](const std::string &header, const std::string &data = "12345678") {
    return parseSafetensors(safetensors(header, data), "x", "t");
  };
  expectRefusal(parseSafetensors("1234567", "x", "t"), "must hold the 8 bytes");
  expectRefusal(parseSafetensors("\xff\xff\xff\xff\xff\xff\xff\xff{}", "x", "t"),
                "must have a header of at most 2 bytes, got 18446744073709551615");
  expectRefusal(member("{"), "must be valid JSON");
  expectRefusal(member("[]"), "must have an object as header");
  expectRefusal(member("{}", ""), "must have a member 't'");
  expectRefusal(member(R"({"t":{"shape":[2],"data_offsets":[0,8]}})"), "known dtype, got none");
  expectRefusal(member(R"({"t":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})"), "got Q4");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"),
                "non-negative");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})"),
                "non-negative");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})"),
                "within the 8 bytes of data");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"), "within");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0]}})"), "within");
  expectRefusal(member(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})"),
                "must hold 4 bytes for f32 [1], got 8");
  // No hole before, between or after members, no overlap, no key twice.
  auto pair = [&](const std::string &t, const std::string &u) {
    return member(R"({"t":{"dtype":"U8","shape":[4],"data_offsets":)" + t +
                  R"(},"u":{"dtype":"U8","shape":[4],"data_offsets":)" + u + "}}");
  };
  EXPECT_TRUE(pair("[0,4]", "[4,8]"));
  EXPECT_TRUE(pair("[4,8]", "[0,4]"));
  expectRefusal(pair("[0,4]", "[0,4]"), "'u' must start at byte 4, where the one before ends");
  expectRefusal(pair("[3,7]", "[0,4]"), "'t' must start at byte 4, where the one before ends");
  expectRefusal(member(R"({"t":{"dtype":"U8","shape":[7],"data_offsets":[1,8]}})"),
                "'t' must start at byte 0, where the one before ends, got 1");
  expectRefusal(member(R"({"t":{"dtype":"U8","shape":[7],"data_offsets":[0,7]}})"),
                "must end with its last member at byte 7 of the data, got 8 bytes");
  expectRefusal(member(R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"u":[]})"),
                "member 'u' must be an object");
  for (const char *metadata : {"5", "[]", "null", R"({"a":1})"})
    expectRefusal(member(R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"__metadata__":)" +
                         std::string(metadata) + "}"),
                  "must have an object of strings as __metadata__");
  EXPECT_TRUE(member(R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"__metadata__":{}})"));
  expectRefusal(member(R"({"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                       R"("t":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}})"),
                "must give each key of an object once, got one twice");
  expectRefusal(member(R"( {"t":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"),
                "must have a header that starts with '{'");
  // Deep nesting must not exhaust the stack.
  expectRefusal(member(std::string(1000000, '[')), "must nest at most 64 deep");
}

} // namespace
