//===- blockscale-gguf.cpp - lists and makes .gguf files ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights from .npy, .safetensors and .gguf files go into one file, as Q4_K or as they
// are. What is written is what the reader of blockscale-run takes.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Facts/BlockFormat.h"
#include "blockscale/Runtime/Q4K.h"
#include "blockscale/Support/Gguf.h"
#include "blockscale/Support/Output.h"

#include <cstdio>
#include <cstring>

using namespace blockscale;
using rt::Array;
using rt::DType;
using rt::GgufOutput;
using rt::GgufTensor;
using rt::Refusal;
using rt::Result;

namespace {

constexpr const char *kHelp =
    R"(blockscale-gguf: lists and makes .gguf files

  blockscale-gguf FILE.gguf
      lists the tensors: name, type, shape in C order
  blockscale-gguf --out=FILE.gguf [--pad] [--q4_K=[NAME=]WEIGHTS]... [--copy=[NAME=]ARRAY]...
      writes tensors in this order; --q4_K quantises f16, bf16 or f32 weights [rows, k],
      --copy takes an array as it is. A file is x.npy, x.safetensors:member or
      x.gguf:tensor; a tensor without a NAME has the member's. --pad fills rows with
      zeros up to a multiple of 256

example:
  blockscale-gguf --out=ffn.gguf --q4_K=ffn.safetensors:ffn.down.weight
)";

struct Request {
  bool isQ4K;
  std::string name, spec;
};

struct Options {
  std::string list, out;
  bool pad = false;
  std::vector<Request> requests;
};

/// "[NAME=]FILE"; without a name that of the member, or the file's without its ending.
Result<Request> parseRequest(bool isQ4K, const std::string &text) {
  size_t at = text.find('=');
  Request request{isQ4K, at == std::string::npos ? "" : text.substr(0, at),
                  at == std::string::npos ? text : text.substr(at + 1)};
  if (request.name.empty()) {
    size_t colon = request.spec.rfind(':');
    std::string name = request.spec.substr(colon == std::string::npos ? 0 : colon + 1);
    name = name.substr(name.find_last_of('/') + 1);
    request.name = name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
  }
  if (request.name.empty() || request.spec.empty())
    return Refusal{"gguf: a tensor must be given as [NAME=]FILE, got '" + text + "'"};
  return request;
}

Result<Options> parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    size_t at = word.find('=');
    std::string flag = word.substr(0, at);
    std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    if (flag == "--q4_K" || flag == "--copy") {
      Result<Request> request = parseRequest(flag == "--q4_K", value);
      if (!request)
        return request.takeRefusal();
      options.requests.push_back(*request);
    } else if (flag == "--out") {
      if (value.empty() || !options.out.empty())
        return Refusal{"gguf: --out must name one file, got " +
                       (value.empty() ? "none" : "'" + options.out + "' and '" + value + "'")};
      options.out = value;
    } else if (word == "--pad") {
      options.pad = true;
    } else if (flag == "--pad") {
      return Refusal{"gguf: --pad must stand without a value, got '" + value + "'"};
    } else if (word.starts_with("-")) {
      return Refusal{"gguf: flag must be one of --help's, got '" + word + "'"};
    } else if (!options.list.empty()) {
      return Refusal{"gguf: file to list must be one, got '" + options.list + "' and '" + word +
                     "'"};
    } else {
      options.list = word;
    }
  }
  bool isWriting = !options.out.empty() || !options.requests.empty() || options.pad;
  if (isWriting == !options.list.empty())
    return Refusal{"gguf: give a file to list, or --out and tensors"};
  if (isWriting && (options.out.empty() || options.requests.empty()))
    return Refusal{"gguf: --out must stand with --q4_K or --copy"};
  return options;
}

Result<std::vector<float>> readWeights(const Array &array, const std::string &subject) {
  std::vector<float> weights;
  size_t count = array.bytes.size() / rt::info(array.type).bytes;
  weights.reserve(count);
  auto load = [&]<typename T>(size_t i, T) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof value, sizeof value);
    return value;
  };
  for (size_t i = 0; i < count; ++i) {
    if (array.type == DType::f32)
      weights.push_back(load(i, float()));
    else if (array.type == DType::f16)
      weights.push_back(emu::decodeF16(load(i, uint16_t())));
    else if (array.type == DType::bf16)
      weights.push_back(emu::decodeBf16(load(i, uint16_t())));
    else
      return Refusal{subject + " must be f16, bf16 or f32, got " +
                     std::string(rt::name(array.type))};
  }
  return weights;
}

Result<GgufOutput> quantize(const Request &request, const Array &array, bool pad) {
  std::string subject = "gguf: '" + request.spec + "'";
  if (array.shape.empty())
    return Refusal{subject + " must have rows, got a scalar"};
  Result<std::vector<float>> weights = readWeights(array, subject);
  if (!weights)
    return weights.takeRefusal();
  size_t depth = size_t(array.shape.back());
  size_t padded = (depth + facts::kQ4KElements - 1) / facts::kQ4KElements * facts::kQ4KElements;
  if (padded != depth && !pad)
    return Refusal{subject + " must have rows of a multiple of " +
                   std::to_string(facts::kQ4KElements) + " weights, or --pad, got " +
                   std::to_string(depth)};
  std::vector<float> rows;
  for (size_t at = 0; depth && at < weights->size(); at += depth) {
    rows.insert(rows.end(), weights->begin() + at, weights->begin() + at + depth);
    rows.resize(rows.size() + padded - depth);
  }
  Result<std::vector<uint8_t>> blocks = rt::quantizeQ4K(rows);
  if (!blocks)
    return blocks.takeRefusal();
  GgufOutput output{request.name, "Q4_K", array.shape, std::move(*blocks)};
  output.shape.back() = int64_t(padded);
  return output;
}

Result<GgufOutput> copy(const Request &request, Array array) {
  std::string_view type = rt::info(array.type).safetensors; // F32, I8, … in both
  for (const facts::GgufType &row : facts::kGgufTypes)
    if (row.name == type && row.use == facts::GgufUse::plain &&
        array.shape.size() <= facts::kGgufMaxRank)
      return GgufOutput{request.name, type, std::move(array.shape), std::move(array.bytes)};
  return Refusal{"gguf: '" + request.spec + "' must be a type of GGUF with at most " +
                 std::to_string(facts::kGgufMaxRank) + " dimensions, got " +
                 std::string(rt::name(array.type)) + " " + rt::formatShape(array.shape)};
}

Result<bool> write(const Options &options) {
  std::vector<GgufOutput> outputs;
  for (const Request &request : options.requests) {
    Result<Array> array = rt::loadArray(request.spec);
    if (!array)
      return array.takeRefusal();
    Result<GgufOutput> output =
        request.isQ4K ? quantize(request, *array, options.pad) : copy(request, std::move(*array));
    if (!output)
      return output.takeRefusal();
    for (const GgufOutput &other : outputs)
      if (other.name == output->name)
        return Refusal{"gguf: tensors must have names of their own, got '" + other.name +
                       "' twice"};
    outputs.push_back(std::move(*output));
  }
  return rt::writeFile(options.out, rt::formatGguf(outputs, "blockscale"), "gguf");
}

void print(const GgufTensor &tensor) {
  std::string name(tensor.name);
  for (char &c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  std::printf("%s %s %s\n", name.c_str(), std::string(tensor.type->name).c_str(),
              rt::formatShape(tensor.shape).c_str());
}

Result<bool> list(const std::string &path) {
  Result<bool> result = true;
  Result<bool> status = rt::visitGguf(path, [&](std::string_view bytes) {
    Result<std::vector<GgufTensor>> tensors = rt::indexGguf(bytes, path);
    if (!tensors) {
      result = tensors.takeRefusal();
      return;
    }
    for (const GgufTensor &tensor : *tensors)
      print(tensor);
  });
  return status ? result : status;
}

} // namespace

int main(int argc, char **argv) {
  rt::watchStandardOutput("blockscale-gguf");
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--help")) {
      std::fputs(kHelp, stdout);
      return 0;
    }
  Result<Options> options = parse(argc, argv);
  Result<bool> status = !options                ? Result<bool>(options.takeRefusal())
                        : options->list.empty() ? write(*options)
                                                : list(options->list);
  if (status)
    return 0;
  std::fprintf(stderr, "blockscale-gguf: error: %s\n", status.message().c_str());
  return 1;
}
