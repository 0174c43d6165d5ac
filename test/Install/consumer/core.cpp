//===- core.cpp - uses the installed facts and emulator -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints an instruction descriptor, then runs a kernel that stores one word.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Emulator.h"
#include "blockscale/Facts/IDesc.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

using namespace blockscale;

static const char *const kPtx = R"(
.version 9.4
.target sm_100a
.address_size 64
.visible .entry store(.param .u64 out)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 42;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

static int fail(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

int main() {
  facts::IDesc desc{};
  desc.kind = facts::MmaKind::mxf4nvf4;
  desc.a = desc.b = facts::Format::e2m1;
  desc.scale = facts::ScaleFormat::ue4m3;
  desc.block = 16;
  desc.m = desc.n = desc.k = 128;
  facts::Result<uint32_t> word = facts::encodeIDesc(facts::Arch::sm_107a, desc);
  if (!word)
    return fail(word.message());
  std::printf("idesc 0x%08" PRIx32 "\n", *word);

  auto device = emu::Device::create({});
  auto module = device->load(kPtx, "store.ptx");
  if (!module)
    return fail(module.message());
  auto address = device->allocate(4);
  if (!address)
    return fail(address.message());
  emu::LaunchConfig config;
  config.params.resize(1);
  config.params[0].bytes.resize(8);
  std::memcpy(config.params[0].bytes.data(), &*address, 8);
  auto stats = device->launch(**module, "store", config);
  if (!stats)
    return fail(stats.message());
  uint32_t value = 0;
  auto read = device->read(*address, &value, sizeof(value));
  if (!read)
    return fail(read.message());
  std::printf("stored %" PRIu32 "\n", value);
  return 0;
}
