//===- Compare.cpp - two devices' bytes, side by side ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace blockscale::silicon {

using rt::BufferRole;
using rt::ManifestBuffer;

namespace {

constexpr size_t kExamples = 12;
constexpr int kMostUlps = 9; // what lies further off is counted there

std::string hex(const uint8_t *bytes, size_t size) {
  std::string text = "0x";
  for (size_t i = size; i-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

size_t elementBytes(const ManifestBuffer &buffer) {
  return buffer.dtype ? rt::info(*buffer.dtype).bytes : 1;
}

/// The inputs that an element of an output was computed from, when they are as many.
std::string inputsOf(const Case &program, uint64_t index, uint64_t count) {
  std::string text;
  for (const ManifestBuffer &buffer : program.manifest.buffers) {
    size_t size = elementBytes(buffer);
    if (buffer.role != BufferRole::input || buffer.bytes != count * size)
      continue;
    text += ", " + buffer.name + " = " +
            hex(program.initial.at(buffer.name).data() + index * size, size);
  }
  return text;
}

uint32_t word(const Bytes &bytes, uint64_t index) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

/// Places on the line of all f32 values, so that neighbours differ by one.
int64_t place(uint32_t bits) { return bits >> 31 ? -int64_t(bits & 0x7FFFFFFF) : int64_t(bits); }

} // namespace

Comparison compare(const Case &program, const Buffers &first, const Buffers &second,
                   const char *firstName, const char *secondName) {
  Comparison result;
  for (const ManifestBuffer &buffer : program.manifest.buffers) {
    auto it = first.find(buffer.name);
    if (it == first.end())
      continue;
    const Bytes &a = it->second, &b = second.at(buffer.name);
    size_t size = elementBytes(buffer);
    uint64_t count = a.size() / size;
    result.bytes += a.size();
    result.elements += count;
    for (uint64_t i = 0; i < count; ++i) {
      if (std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0)
        continue;
      ++result.mismatches;
      if (buffer.dtype == rt::DType::f32) {
        int64_t apart = place(word(a, i)) - place(word(b, i));
        ++result.ulps[int(std::clamp<int64_t>(apart, -kMostUlps, kMostUlps))];
      }
      if (result.examples.size() < kExamples)
        result.examples.push_back(buffer.name + "[" + std::to_string(i) + "]: " + firstName + " " +
                                  hex(a.data() + i * size, size) + ", " + secondName + " " +
                                  hex(b.data() + i * size, size) + inputsOf(program, i, count));
    }
  }
  return result;
}

uint64_t hashOf(const Buffers &outputs) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const auto &entry : outputs)
    for (uint8_t byte : entry.second)
      hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

void formatDifferences(const Bytes &first, const Bytes &second, Bytes &differences,
                       Bytes &escapes) {
  for (uint64_t i = 0; i < first.size() / sizeof(uint32_t); ++i) {
    int32_t difference = int32_t(word(first, i) - word(second, i));
    bool isShort = difference >= -127 && difference <= 127;
    differences.push_back(uint8_t(isShort ? difference : -128));
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&difference);
    if (!isShort)
      escapes.insert(escapes.end(), bytes, bytes + sizeof difference);
  }
}

} // namespace blockscale::silicon
