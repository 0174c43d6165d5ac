//===- Program.h - decoded kernels ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX after decoding: every instruction has a handler, and every operand is the
// place of a vector of 32 lanes, either in the warp's registers or in the
// kernel's constants, so that a handler never asks what kind an operand is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PROGRAM_H
#define BLOCKSCALE_LIB_EMULATOR_PROGRAM_H

#include "SourceLines.h"
#include "Types.h"

#include "blockscale/Emulator/Emulator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace blockscale::emu {

class Warp;
struct Instruction;

/// What a handler did.
enum class Outcome : uint8_t {
  next,    // go on with the next instruction
  jumped,  // the handler changed the program counter or the fragments
  blocked, // the fragment waits; Fragment::wait says for what
  yield,   // go on, but let others run first
  error,   // the launch ends
};
using Handler = Outcome (*)(Warp &, const Instruction &);

/// Lane vectors are made of whole cache lines, so that loops over them use aligned vectors.
struct alignas(64) LaneLine {
  uint8_t bytes[64] = {};
  bool operator==(const LaneLine &) const = default;
};

/// Place of a lane vector: byte offset; the top bit selects the constants.
/// For predicates: an index, or the two constants below.
using Operand = uint32_t;
inline constexpr Operand kNone = ~Operand(0);
inline constexpr Operand kConstantBit = Operand(1) << 31;
/// In Kernel::touched: the register is written.
inline constexpr uint32_t kTouchedWrite = 1;
/// Index 0 of the predicate file is always false, 1 always true.
inline constexpr Operand kPredFalse = 0, kPredTrue = 1;

/// Which lanes must arrive together before an instruction executes.
enum class Converge : uint8_t { no, allLive, memberMask };

/// What an instruction holds beyond its fields; owned by the kernel.
struct Extra {
  virtual ~Extra() = default;
};

struct Instruction {
  Handler run = nullptr;
  uint32_t line = 0;
  Operand guard = kPredTrue;
  bool guardNegated = false;
  Converge converge = Converge::no; // memberMask: the mask is op[memberOp]
  uint8_t memberOp = 0;
  uint8_t sub = 0;     // family specific: vector length, shape, …
  uint32_t target = 0; // branches
  uint32_t flags = 0;  // family specific bits
  Operand op[6] = {kNone, kNone, kNone, kNone, kNone, kNone};
  uint32_t list = 0, listCount = 0; // further operands: Kernel::lists[list..]
  int64_t imm = 0;                  // address offset or immediate
  int64_t imm2 = 0;
  const Extra *extra = nullptr;
  uint32_t touched = 0, touchedCount = 0; // registers read or written: Kernel::touched
};

/// What an instruction can do, as far as others could see it.
enum class Effect : uint8_t {
  any,
  computes, // changes registers of its own lanes, by registers and parameters
  branches,
  exits
};

/// A register that is filled when a warp starts.
struct Preset {
  enum class Kind : uint8_t {
    sharedAddress,
    tidX,
    tidY,
    tidZ,
    ntidX,
    ntidY,
    ntidZ,
    ctaidX,
    ctaidY,
    ctaidZ,
    nctaidX,
    nctaidY,
    nctaidZ,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    gridid,
    clusteridX,
    clusteridY,
    clusteridZ,
    nclusteridX,
    nclusteridY,
    nclusteridZ,
    clusterCtaidX,
    clusterCtaidY,
    clusterCtaidZ,
    clusterNctaidX,
    clusterNctaidY,
    clusterNctaidZ,
    clusterCtarank,
    clusterNctarank,
    isExplicitCluster,
    dynamicSmem,
    totalSmem,
    aggregateSmem,
    lanemaskEq,
    lanemaskLt,
    lanemaskLe,
    lanemaskGt,
    lanemaskGe,
    zero
  };
  Kind kind;
  bool wide = false; // 64-bit register
  Operand slot = kNone;
  uint64_t value = 0;
};

struct Param {
  std::string name;
  uint64_t offset = 0, bytes = 0, align = 1;
};

struct Kernel {
  std::string name;
  uint32_t line = 0;
  std::string refusal; // of its launch: what it holds or calls is PTX, but not executed
  std::vector<Instruction> code;
  std::vector<Effect> effects; // of the instructions, `any` behind its end
  uint32_t entry = 0;          // of the kernel; its functions come before it
  std::vector<Operand> lists;
  std::vector<std::shared_ptr<const Extra>> extras;
  std::vector<uint32_t> touched; // places of registers, with kTouchedWrite
  std::vector<LaneLine> constants;
  uint32_t registerBytes = 0;
  uint32_t predicates = 2;
  std::vector<bool> readPredicates; // by index; may be shorter
  bool reads(Operand predicate) const {
    return predicate < readPredicates.size() && readPredicates[predicate];
  }
  std::vector<Preset> presets;
  std::vector<Param> params;
  uint64_t paramBytes = 0;
  uint64_t staticShared = 0; // bytes, from kSharedBase on
  uint64_t dynamicAlign = 16;
  uint64_t localBytes = 0;
  std::vector<std::string> evidence;   // labels of what has no public model
  bool readsClock = false;             // %clock, %globaltimer, …
  bool commitsReads = false;           // a tcgen05.commit that follows reads of A alone
  std::vector<Operand> wgmmaRegisters; // D and A of its wgmma.mma_async
  bool launchesDependents = false;     // griddepcontrol.launch_dependents
  bool talksThroughGlobal = false;     // atomics, polls or publishing stores on global memory
  unsigned tmemColumns = 0;            // most columns that one allocation takes by a number
  unsigned ctaGroup = 0;               // of its tcgen05 instructions, 0: none
  std::map<std::string, std::vector<uint64_t>> directives;
};

/// A label of results without a published model, once.
inline void noteEvidence(Kernel &kernel, const std::string &label) {
  if (std::find(kernel.evidence.begin(), kernel.evidence.end(), label) == kernel.evidence.end())
    kernel.evidence.push_back(label);
}

class LoadedModule : public Module {
public:
  facts::Arch archValue;
  std::string file;
  std::vector<Kernel> kernelList;
  std::shared_ptr<const SourceLines> source; // of its .loc directives
  std::map<uint64_t, uint64_t> constants;    // .const variables: from, to
  /// By address: the name and the text of the signature.
  std::map<uint64_t, std::pair<std::string, std::string>> functions;

  bool isConstant(uint64_t address) const {
    auto it = constants.upper_bound(address);
    return it != constants.begin() && address < std::prev(it)->second;
  }

  facts::Arch arch() const override { return archValue; }
  std::vector<std::string> kernels() const override {
    std::vector<std::string> out;
    for (const Kernel &k : kernelList)
      out.push_back(k.name);
    return out;
  }
  size_t paramCount(std::string_view kernel) const override {
    const Kernel *k = find(kernel);
    return k ? k->params.size() : 0;
  }
  const Kernel *find(std::string_view kernel) const {
    for (const Kernel &k : kernelList)
      if (k.name == kernel)
        return &k;
    return nullptr;
  }
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_PROGRAM_H
