//===- CallGraph.h - which functions of a module call which ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 7.1 and 9.7.14.5. A call through a register reaches the functions of its
// .calltargets or table; with a .callprototype all those whose address the module takes
// and whose results and parameters agree with it. Functions that can come back to
// themselves form a component; those need a frame for each open call.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_CALLGRAPH_H
#define BLOCKSCALE_LIB_EMULATOR_CALLGRAPH_H

#include "Ptx.h"

#include <compare>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace blockscale::emu {

/// What a caller and a function must agree in. That a parameter stands in a register or in
/// .param is no difference: the assembler passes both alike.
struct Signature {
  struct Formal {
    uint64_t bytes = 0, align = 1;
    auto operator<=>(const Formal &) const = default;
  };
  std::vector<Formal> returns, params;
  Signature() = default;
  Signature(const std::vector<PtxVariable> &returns, const std::vector<PtxVariable> &params);
  auto operator<=>(const Signature &) const = default;
  /// "(4) and (8, 16 at 8)": the bytes of results and parameters, for messages.
  std::string text() const;
};

/// What stands behind the arguments of a call through a register, else empty.
const std::string &tableOfCall(const PtxInstruction &call);
/// The operand that a call goes to: a function or a register; null where there is none.
const PtxOperand *calleeOfCall(const PtxInstruction &call);

class CallGraph {
public:
  explicit CallGraph(const PtxModule &module);

  /// The functions that a kernel or function may call, directly or through others, callees
  /// first; those of a component stand together.
  std::vector<const PtxKernel *> reachedFrom(const PtxKernel &source) const;
  /// Equal for functions of one component.
  uint32_t componentOf(const PtxKernel &function) const;
  /// It can come back to itself before it returns.
  bool isRecursive(const PtxKernel &function) const;
  /// Functions that a call with this prototype may reach.
  std::vector<const PtxKernel *> candidates(const Signature &signature) const;

private:
  using Node = uint32_t;
  std::vector<const PtxKernel *> bodies; // by node; behind them a node for each signature
  std::unordered_map<const PtxKernel *, Node> nodeOf;
  std::unordered_map<std::string, Node> functions; // by name
  std::map<Signature, Node> signatures;            // of prototypes
  std::vector<std::vector<Node>> edges;
  std::vector<uint32_t> component; // callees have the lower number
  std::vector<bool> recursive;

  void addCalls(Node caller, const std::unordered_map<std::string, const PtxVariable *> &tables);
  void addCandidates(const PtxModule &module);
  void findComponents();
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_CALLGRAPH_H
