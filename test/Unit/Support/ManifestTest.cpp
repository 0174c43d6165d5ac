//===- ManifestTest.cpp - manifests, right and wrong ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals are tested by damaging one field of a good manifest at a time; the
// message must name that field by its path.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Manifest.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

const std::string kGood = R"({"version": 1, "arch": "sm_107a",
 "buffers": [{"name": "a", "bytes": 34176, "role": "input"},
             {"name": "d", "bytes": 546816, "role": "output", "dtype": "bf16", "shape": [178, 1536]}],
 "kernels": [{"name": "gemm_0", "grid": [24, 1, 1], "block": [192, 1, 1], "cluster": [1, 1, 1],
   "shared_bytes": 226304, "shared_mode": "default",
   "params": [{"kind": "tensor_map", "buffer": "a", "type": "u8", "dims": [192, 178], "strides": [192],
               "box": [128, 128], "element_strides": [1, 1], "swizzle": "b128", "fill": "zero", "l2": "b128"},
              {"kind": "buffer", "buffer": "d"}, {"kind": "scalar", "type": "f32", "value": 1.5}]}]})";

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kGood;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expectRefusal(const std::string &text, const std::string &message) {
  Result<Manifest> manifest = parseManifest(text, "k.json");
  ASSERT_FALSE(manifest) << "taken, but should be refused: " << message;
  EXPECT_EQ(manifest.message().rfind("manifest: 'k.json' ", 0), 0u) << manifest.message();
  EXPECT_NE(manifest.message().find(message), std::string::npos) << manifest.message();
  EXPECT_EQ(manifest.message().find('\n'), std::string::npos) << manifest.message();
}

TEST(Manifest, readsEveryField) {
  Result<Manifest> manifest = parseManifest(kGood, "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  EXPECT_EQ(manifest->arch, facts::Arch::sm_107a);
  ASSERT_EQ(manifest->buffers.size(), 2u);
  EXPECT_EQ(manifest->buffers[1].role, BufferRole::output);
  EXPECT_EQ(manifest->buffers[1].dtype, DType::bf16);
  EXPECT_EQ(manifest->buffers[1].shape, (std::vector<int64_t>{178, 1536}));
  const ManifestKernel &kernel = manifest->kernels.at(0);
  EXPECT_EQ(kernel.name, "gemm_0");
  EXPECT_EQ(kernel.grid[0], 24u);
  EXPECT_EQ(kernel.block[0], 192u);
  EXPECT_EQ(kernel.sharedBytes, 226304u);
  EXPECT_EQ(kernel.sharedMode, SharedMode::standard);
  ASSERT_EQ(kernel.params.size(), 3u);
  const facts::TensorMap &map = kernel.params[0].map;
  EXPECT_EQ(map.type, facts::TmaType::u8);
  EXPECT_EQ(map.dims, (std::vector<uint64_t>{192, 178}));
  EXPECT_EQ(map.strides, std::vector<uint64_t>{192});
  EXPECT_EQ(map.box, (std::vector<uint32_t>{128, 128}));
  EXPECT_EQ(map.swizzle, facts::TmaSwizzle::b128);
  EXPECT_EQ(map.l2, facts::TmaL2Promotion::b128);
  EXPECT_EQ(kernel.params[1].buffer, "d");
  EXPECT_EQ(kernel.params[2].bits, 0x3FC00000u);
}

TEST(Manifest, writtenTextReadsBackToTheSameText) {
  Result<Manifest> first = parseManifest(kGood, "k.json");
  ASSERT_TRUE(first) << first.message();
  std::string text = formatManifest(*first);
  Result<Manifest> second = parseManifest(text, "k.json");
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ(formatManifest(*second), text);
  for (const char *part : {"\"gemm_0\"", "226304", "\"b128\"", "1.5", "\"bf16\""})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Manifest, launchesThatMayOverlap) {
  Result<Manifest> manifest =
      parseManifest(replaced("\"cluster\": [1, 1, 1]",
                             "\"cluster\": [1, 1, 1], \"programmatic_stream_serialization\": true"),
                    "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  EXPECT_TRUE(manifest->kernels[0].programmaticStreamSerialization);
  Result<Manifest> again = parseManifest(formatManifest(*manifest), "k.json");
  ASSERT_TRUE(again) << again.message();
  EXPECT_TRUE(again->kernels[0].programmaticStreamSerialization);
}

TEST(Manifest, registersOfAThread) {
  Result<Manifest> manifest = parseManifest(
      replaced("\"cluster\": [1, 1, 1]", "\"cluster\": [1, 1, 1], \"registers\": 168"), "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  EXPECT_EQ(manifest->kernels[0].registers, 168u);
  Result<Manifest> again = parseManifest(formatManifest(*manifest), "k.json");
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->kernels[0].registers, 168u);
}

TEST(Manifest, scalarsThatALaunchIsGiven) {
  std::string text =
      replaced(R"("type": "f32", "value": 1.5)", R"("type": "u32", "argument": "count")");
  Result<Manifest> manifest = parseManifest(text, "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  EXPECT_EQ(manifest->kernels[0].params[2].argument, "count");
  ASSERT_EQ(manifest->arguments().size(), 1u);
  EXPECT_EQ(manifest->arguments()[0].name, "count");
  EXPECT_EQ(manifest->arguments()[0].type, ScalarType::u32);
  Result<Manifest> again = parseManifest(formatManifest(*manifest), "k.json");
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(formatManifest(*again), formatManifest(*manifest));
  EXPECT_EQ(again->arguments().size(), 1u);
}

TEST(Manifest, argumentsMeanOneThing) {
  const std::string value = R"("type": "f32", "value": 1.5)";
  expectRefusal(replaced(value, R"("type": "f32", "value": 1.5, "argument": "x")"),
                "kernels[0].params[2].value must not be given, it is unknown here");
  expectRefusal(replaced(value, R"("type": "f32", "argument": "")"),
                "kernels[0].params[2].argument must be a string that is not empty");
  expectRefusal(replaced(value, R"("type": "f32", "argument": "a")"),
                "kernels[0].params[2].argument must have a name of its own, got a buffer's, 'a'");
  expectRefusal(replaced(value, R"("type": "f32", "argument": "x"},)"
                                R"({"kind": "scalar", "type": "i32", "argument": "x")"),
                "kernels[0].params[3].type must be f32 as above for argument 'x', got i32");
}

TEST(Manifest, scalarsOfEveryType) {
  struct Case {
    const char *type, *value;
    uint64_t bits;
  };
  for (const Case &c : {Case{"f32", "-2", 0xC0000000}, Case{"f32", "\"0x7fc00000\"", 0x7FC00000},
                        Case{"f64", "0.5", 0x3FE0000000000000}, Case{"i32", "-1", 0xFFFFFFFF},
                        Case{"u32", "4294967295", 0xFFFFFFFF}, Case{"i64", "-1", ~uint64_t(0)},
                        Case{"u64", "18446744073709551615", ~uint64_t(0)}}) {
    std::string text = replaced("\"type\": \"f32\", \"value\": 1.5",
                                std::string("\"type\": \"") + c.type + "\", \"value\": " + c.value);
    Result<Manifest> manifest = parseManifest(text, "k.json");
    ASSERT_TRUE(manifest) << manifest.message();
    EXPECT_EQ(manifest->kernels[0].params[2].bits, c.bits) << c.type << " " << c.value;
    Result<Manifest> again = parseManifest(formatManifest(*manifest), "k.json");
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(again->kernels[0].params[2].bits, c.bits) << c.type << " " << c.value;
  }
}

TEST(Manifest, refusesWhatIsNotOne) {
  expectRefusal("", "must be valid JSON");
  expectRefusal("[]", "the whole must be an object, got []");
  expectRefusal("{}", "version must be given");
  expectRefusal(std::string(1000000, '['), "must nest at most 64 deep");
}

TEST(Manifest, refusalsNameTheField) {
  expectRefusal(replaced("\"version\": 1", "\"version\": 2"), "version must be 1 to 1, got 2");
  expectRefusal(replaced("sm_107a", "sm_77"), "arch must be one of sm_80, ");
  expectRefusal(replaced("\"arch\"", "\"extra\": 1, \"arch\""), "extra must not be given");
  expectRefusal(replaced("\"name\": \"a\"", "\"name\": \"d\""), "names that differ, got 'd' twice");
  expectRefusal(replaced("34176", "0"), "buffers[0].bytes must be 1 to ");
  expectRefusal(replaced("34176", "-5"), "buffers[0].bytes must be 1 to ");
  expectRefusal(replaced("34176", "1e30"), "buffers[0].bytes must be 1 to ");
  expectRefusal(replaced("\"input\"", "\"in\""),
                "buffers[0].role must be one of input, output, inout, scratch, zeroed, got 'in'");
  expectRefusal(replaced("\"bf16\"", "\"bf17\""), "buffers[1].dtype must be one of u8");
  expectRefusal(replaced("[178, 1536]", "[178, 1535]"),
                "buffers[1].bytes must be the size of bf16 [178, 1535], got 546816");
  expectRefusal(replaced("[178, 1536]", "[178, -1]"), "buffers[1].shape[1] must be 0 to ");
  expectRefusal(replaced("\"gemm_0\"", "7"), "kernels[0].name must be a string");
  expectRefusal(replaced("[24, 1, 1]", "[24, 0, 1]"),
                "kernels[0].grid[1] must be 1 to 65535, got 0");
  expectRefusal(replaced("[24, 1, 1]", "[24, 1]"), "kernels[0].grid must be a list of 3 elements");
  expectRefusal(replaced("[192, 1, 1]", "[192, 6, 1]"), "kernels[0].block must have at most 1024");
  expectRefusal(replaced("\"cluster\": [1, 1, 1]", "\"cluster\": [5, 1, 1]"),
                "kernels[0].grid[0] must be a multiple of the cluster's 5, got 24");
  expectRefusal(replaced("\"cluster\": [1, 1, 1]", "\"cluster\": [8, 4, 1]"),
                "kernels[0].cluster must have at most 16 blocks, got 32");
  auto preferring = [](const std::string &size) {
    return replaced("\"cluster\": [1, 1, 1]",
                    "\"cluster\": [2, 1, 1], \"preferred_cluster\": " + size);
  };
  expectRefusal(preferring("[3, 1, 1]"),
                "kernels[0].preferred_cluster[0] must be a multiple of the cluster's 2, got 3");
  expectRefusal(preferring("[16, 1, 1]"),
                "kernels[0].preferred_cluster[0] must divide the grid's 24, got 16");
  expectRefusal(preferring("[8, 4, 1]"),
                "kernels[0].preferred_cluster must have at most 16 blocks, got 32");
  expectRefusal(preferring("[8, 0, 1]"), "kernels[0].preferred_cluster[1] must be 1 to 16, got 0");
  expectRefusal(replaced("\"cluster\": [1, 1, 1]",
                         "\"cluster\": [1, 1, 1], \"programmatic_stream_serialization\": 1"),
                "kernels[0].programmatic_stream_serialization must be true or false, got 1");
  for (const char *registers : {"0", "256"})
    expectRefusal(replaced("\"cluster\": [1, 1, 1]",
                           "\"cluster\": [1, 1, 1], \"registers\": " + std::string(registers)),
                  "kernels[0].registers must be 1 to 255, got " + std::string(registers));
  expectRefusal(replaced("226304", "\"x\""), "kernels[0].shared_bytes must be 0 to ");
  expectRefusal(replaced("\"default\"", "\"big\""),
                "kernels[0].shared_mode must be one of default, oversized, got 'big'");
  expectRefusal(replaced("\"tensor_map\"", "\"map\""), "kernels[0].params[0].kind must be one of");
  expectRefusal(replaced("\"buffer\": \"a\"", "\"buffer\": \"x\""),
                "kernels[0].params[0].buffer must name a buffer of the manifest, got 'x'");
  expectRefusal(replaced("\"u8\"", "\"u7\""), "kernels[0].params[0].type must be one of u8, u16");
  expectRefusal(replaced("[192, 178]", "[1, 2, 3, 4, 5, 6]"),
                "kernels[0].params[0].dims must be a list of 1 to 5 elements");
  expectRefusal(replaced("\"strides\": [192]", "\"strides\": []"),
                "kernels[0].params[0].strides must be a list of 1 elements, got []");
  expectRefusal(replaced("[128, 128]", "[128, 257]"),
                "kernels[0].params[0].box[1] must be 1 to 256, got 257");
  expectRefusal(replaced("\"element_strides\": [1, 1]", "\"element_strides\": [1, 9]"),
                "kernels[0].params[0].element_strides[1] must be 1 to 8, got 9");
  expectRefusal(replaced("\"swizzle\": \"b128\"", "\"swizzle\": \"b96\""),
                "kernels[0].params[0].swizzle must be one of none, b32");
  expectRefusal(replaced("\"zero\"", "\"one\""), "kernels[0].params[0].fill must be one of zero");
  expectRefusal(replaced("\"l2\": \"b128\"", "\"l2\": \"b512\""),
                "kernels[0].params[0].l2 must be one of none, b64");
  expectRefusal(replaced("\"l2\": \"b128\"", "\"l3\": \"b128\""),
                "kernels[0].params[0].l2 must be given");
  expectRefusal(replaced("\"type\": \"f32\"", "\"type\": \"f8\""),
                "kernels[0].params[2].type must be one of f32");
  for (const char *value : {"true", "1e39", "\"1.5\"", "\"0x1ffffffff\"", "[]"})
    expectRefusal(replaced("\"value\": 1.5", std::string("\"value\": ") + value),
                  "kernels[0].params[2].value must be a number of type f32");
}

const std::string kStruct = R"({"kind": "bytes", "value": "01000000 0000 0000  0000000000000000 ff",
  "pointers": [{"at": 8, "buffer": "d", "offset": 16}]})";
const std::string kBuffer = R"({"kind": "buffer", "buffer": "d"})";

TEST(Manifest, structsByValue) {
  Result<Manifest> manifest = parseManifest(replaced(kBuffer, kStruct), "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  const ManifestParam &param = manifest->kernels.at(0).params.at(1);
  EXPECT_EQ(param.bytes,
            (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255}));
  ASSERT_EQ(param.pointers.size(), 1u);
  EXPECT_EQ(param.pointers[0].at, 8u);
  EXPECT_EQ(param.pointers[0].buffer, "d");
  EXPECT_EQ(param.pointers[0].offset, 16u);
  std::string text = formatManifest(*manifest);
  Result<Manifest> again = parseManifest(text, "k.json");
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(formatManifest(*again), text);
  EXPECT_EQ(again->kernels[0].params[1].bytes, param.bytes);
  EXPECT_EQ(again->kernels[0].params[1].pointers.at(0).offset, 16u);
}

TEST(Manifest, mapsInStructs) {
  std::string zeros(2 * 136, '0');
  std::string map =
      R"("buffer": "a", "offset": 32, "type": "u8", "dims": [64], "strides": [], "box": [64],
    "element_strides": [1], "swizzle": "none", "fill": "zero", "l2": "none", "interleave": "none"})";
  auto with = [&](const std::string &at) {
    return replaced(kBuffer, R"({"kind": "bytes", "value": ")" + zeros +
                                 R"(", "tensor_maps": [{"at": )" + at + ", " + map + "]}");
  };
  Result<Manifest> manifest = parseManifest(with("8"), "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  const ManifestMap &parsed = manifest->kernels.at(0).params.at(1).maps.at(0);
  EXPECT_EQ(parsed.address.at, 8u);
  EXPECT_EQ(parsed.address.offset, 32u);
  EXPECT_EQ(parsed.map.dims, (std::vector<uint64_t>{64}));
  EXPECT_EQ(formatManifest(*parseManifest(formatManifest(*manifest), "k.json")),
            formatManifest(*manifest));
  expectRefusal(with("9"), "kernels[0].params[1].tensor_maps[0].at must be 0 to 8, got 9");
}

TEST(Manifest, refusesWrongStructs) {
  auto with = [](const std::string &from, const std::string &to) {
    std::string text = kStruct;
    size_t at = text.find(from);
    return replaced(kBuffer, text.replace(at, from.size(), to));
  };
  const std::string path = "kernels[0].params[1].";
  expectRefusal(
      with("ff\"", "f\""),
      path + "value must be at most 32764 bytes of two hexadecimal digits, got 'f' after 16");
  expectRefusal(with("ff\"", "fg\""), "got 'fg' after 16");
  expectRefusal(with("\"at\": 8", "\"at\": 10"), path + "pointers[0].at must be 0 to 9, got 10");
  expectRefusal(with("01000000 0000 0000  0000000000000000 ff", "00"),
                path + "pointers[0].at must leave room for 8 bytes of the value's 1");
  expectRefusal(with("\"d\"", "\"e\""),
                path + "pointers[0].buffer must name a buffer of the manifest, got 'e'");
  expectRefusal(with("\"offset\": 16", "\"offset\": 546817"),
                path + "pointers[0].offset must be 0 to 546816, got 546817");
  expectRefusal(with("\"offset\": 16", "\"by\": 16"), path + "pointers[0].by must not be given");
  expectRefusal(replaced("\"swizzle\"", "\"interleave\": \"16b\", \"swizzle\""),
                "params[0].interleave must be one of none, got '16b'");
}

} // namespace
