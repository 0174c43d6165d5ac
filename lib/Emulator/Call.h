//===- Call.h - what calls of both kinds share ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments and results are copied between places: a register, or bytes of local memory
// at an address or in the frame of the running function.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_CALL_H
#define BLOCKSCALE_LIB_EMULATOR_CALL_H

#include "CallStack.h"
#include "Decoder.h"

namespace blockscale::emu {

/// A function as calls through registers reach it.
struct CallEntry : Extra {
  std::string name, refusal; // refusal: of what it holds or calls
  uint64_t address = 0;
  uint32_t entry = 0;
  Operand link = kNone;
  std::shared_ptr<const Frame> frame;          // null: it needs none
  std::vector<Instruction> arguments, results; // copies from and to where callers put and find them
};

/// What one call through a register may reach.
struct CallTable : Extra {
  std::vector<std::shared_ptr<CallEntry>> entries; // by address
  std::string expected;                            // signature, for messages
  bool isList = false;                             // of .calltargets or a table
  bool hasFrames = false;
};

/// The executing lanes of `lanes` go on in a function and come back to `back`.
void enterFunction(Warp &w, Operand link, uint32_t entry, uint32_t lanes, uint32_t back);
/// Splits lanes: the lanes of `rest` whose value is that of its first one.
template <typename T> uint32_t sameLanes(const T *values, uint32_t rest) {
  const T value = values[__builtin_ctz(rest)];
  uint32_t same = 0;
  for (uint32_t m = rest; m; m &= m - 1)
    same |= uint32_t(values[__builtin_ctz(m)] == value) << __builtin_ctz(m);
  return same;
}

/// Between two formals of one size.
Instruction copyOfFormal(const FunctionCode::Formal &to, const FunctionCode::Formal &from);
/// Between what the caller names and what the callee takes or gives; false: refused.
bool copyArgument(Decoder &d, const PtxOperand &actual, const FunctionCode::Formal &formal,
                  bool toCallee);

/// call through a register: `callee` and the table behind the arguments.
bool decodeIndirectCall(Decoder &d, const PtxOperand &callee, const std::string &table,
                        const std::vector<PtxOperand> &arguments,
                        const std::vector<PtxOperand> &results);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_CALL_H
