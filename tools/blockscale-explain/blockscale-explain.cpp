//===- blockscale-explain.cpp - descriptors and layouts, in words ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needs neither MLIR nor a GPU: everything comes from the facts tables.
//
//===----------------------------------------------------------------------===//

#include "Command.h"

#include <cstring>

namespace {

constexpr const char *kHelp =
    R"(blockscale-explain: what a descriptor says, and what is wrong with it

  blockscale-explain idesc --arch=CHIP --kind=KIND [--block=16|32] WORD...
      decodes 32-bit instruction descriptors of tcgen05.mma
  blockscale-explain idesc --arch=CHIP --kind=KIND [--block=16|32] --encode FIELD=VALUE...
      encodes one; fields: a b d scale m n k sfa_id sfb_id negate_a negate_b
      transpose_a transpose_b sparse sparse_selector max_shift sfa_layout cta_group
  blockscale-explain smem-desc --arch=CHIP WORD...
      decodes 64-bit shared-memory descriptors
  blockscale-explain smem-desc --arch=CHIP --encode FIELD=VALUE...
      encodes one; fields: start leading stride swizzle base_offset absolute
      lut_half tile_base
  blockscale-explain scale-tile [--rows=R] [--scales=S] ROW,SCALE...
      where a scale lies in a tiled buffer and in tensor memory
  blockscale-explain docs
      prints docs/Facts.md
  blockscale-explain docs hazards
      prints docs/Hazards.md

kinds: mxf8f6f4 mxf4 mxf4nvf4 f8f6f4 f16
exit status: 0 legal, 1 illegal (everything is printed first), 2 cannot be read

examples:
  blockscale-explain idesc --arch=sm_107a --kind=mxf4nvf4 --block=16 0x08200488
  blockscale-explain idesc --arch=sm_100a --kind=mxf8f6f4 0x04a00000
  blockscale-explain idesc --arch=sm_107a --kind=mxf8f6f4 --encode a=e2m1 b=e4m3 m=128 n=128 k=64
  blockscale-explain smem-desc --arch=sm_100a 0x4000404000010200
  blockscale-explain smem-desc --arch=sm_107a --encode start=0x2000 leading=16 stride=1024 swizzle=b128
  blockscale-explain scale-tile --rows=130 --scales=5 33,1 129,4
)";

struct Command {
  const char *name;
  int (*run)(const blockscale::explain::Arguments &);
};
constexpr Command kCommands[] = {
    {"idesc", blockscale::explain::runIDesc},
    {"smem-desc", blockscale::explain::runSmemDesc},
    {"scale-tile", blockscale::explain::runScaleTile},
    {"docs", blockscale::explain::runDocs},
};

/// What was printed must have arrived; C's streams say nothing by themselves.
int finish(int status) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return status;
  (void)blockscale::explain::usageError(
      "explain_output: standard output must be writable, got a write error");
  return blockscale::explain::kIllegal;
}

} // namespace

int main(int argc, char **argv) {
  using namespace blockscale::explain;
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) {
      std::fputs(kHelp, stdout);
      return finish(kLegal);
    }
  if (argc < 2)
    return usageError(
        "explain_command: command must be one of idesc, smem-desc, scale-tile, docs; see --help");
  for (const Command &command : kCommands)
    if (!std::strcmp(argv[1], command.name)) {
      auto arguments = Arguments::parse(argc - 2, argv + 2);
      return finish(arguments ? command.run(*arguments) : usageError(arguments.message()));
    }
  return usageError(
      std::string(
          "explain_command: command must be one of idesc, smem-desc, scale-tile, docs, got '") +
      argv[1] + "'; see --help");
}
