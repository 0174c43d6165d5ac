//===- Wgmma.cpp - checks of the registers of wgmma -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.16: wgmma.fence orders earlier uses of D's registers, and of those
// of A, before the products behind it; wgmma.wait_group gives them back. Products of
// one shape that add up in the same registers need neither between them. Kernels
// without wgmma pay nothing: a warp is watched from its first fence or product on.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "../Text.h"

namespace blockscale::emu {

/// The registers of the kernel's products, once the warp has come to the first of them.
Hazards::WgmmaState &Hazards::wgmmaOf(Warp &w) {
  WarpState &s = stateOf(w);
  if (!s.wgmma) {
    s.wgmma = std::make_unique<WgmmaState>();
    for (Operand r : w.kernel->wgmmaRegisters)
      s.wgmma->registers.emplace(r, WgmmaRegister());
    w.watched = true;
  }
  return *s.wgmma;
}

void Hazards::fenceWgmma(Warp &w) {
  WgmmaState &all = wgmmaOf(w);
  all.isFenced = true;
  for (auto &[place, r] : all.registers)
    r.use = WgmmaRegister::Use::none;
}

void Hazards::reportWgmma(const Warp &w, uint32_t line, uint32_t otherLine, HazardLevel level,
                          const std::string &what, const char *missing) {
  report(Rule::OS9, level, line, otherLine, "(warp " + dec(w.id) + ") " + what, missing);
}

/// A register that a product may still be at work on.
void Hazards::reportUnwaited(const Warp &w, uint32_t line, const WgmmaRegister &r, const char *does,
                             HazardLevel level) {
  reportWgmma(w, line, r.line, level,
              std::string(does) + " a register of wgmma.mma_async at " +
                  cluster.launch.module.file + ":" + dec(r.line) + " that was not waited for",
              "wgmma.commit_group behind it and wgmma.wait_group before its registers are used");
}

/// The registers of a product that is about to be issued, with its shape.
void Hazards::multiplies(Warp &w, const Instruction &in, std::span<const Operand> d,
                         std::span<const Operand> a, uint32_t shape) {
  using Use = WgmmaRegister::Use;
  constexpr const char *kFence = "wgmma.fence.sync.aligned behind the last use of its registers";
  WgmmaState &all = wgmmaOf(w);
  const uint32_t count = components[component(stateOf(w), Agent::wgmma)].count + 1;
  if (!all.isFenced)
    reportWgmma(w, in.line, 0, HazardLevel::error, "wgmma.mma_async with no wgmma.fence before it",
                kFence);
  auto isInFlight = [&](const WgmmaRegister &r) { return r.count > all.done && r.count != count; };
  auto reportUnfenced = [&](const WgmmaRegister &r) {
    const char *was = r.use == Use::write     ? "written"
                      : r.use == Use::read    ? "read"
                      : r.use == Use::operand ? "a part of A"
                                              : "an accumulator of another product";
    reportWgmma(w, in.line, r.useLine, HazardLevel::error,
                "wgmma.mma_async uses a register that was " + std::string(was) + " at " +
                    cluster.launch.module.file + ":" + dec(r.useLine) +
                    ", with no wgmma.fence between",
                kFence);
  };
  for (Operand place : a) {
    auto at = all.registers.find(place);
    if (at == all.registers.end()) // an immediate
      continue;
    WgmmaRegister &r = at->second;
    if (isInFlight(r) && !r.isOperand)
      reportUnwaited(w, in.line, r, "reads", HazardLevel::error);
    else if (r.use == Use::write || r.use == Use::accumulator) // reads need no order
      reportUnfenced(r);
    else if (r.use == Use::none)
      r.use = Use::operand, r.useLine = in.line;
    r.isOperand = true, r.count = count, r.line = in.line;
  }
  for (Operand place : d) {
    auto at = all.registers.find(place);
    if (at == all.registers.end())
      continue;
    WgmmaRegister &r = at->second;
    const bool addsUp = r.use == Use::accumulator && r.shape == shape;
    if (isInFlight(r) && (r.isOperand || r.shape != shape))
      reportUnwaited(w, in.line, r, "writes", HazardLevel::error);
    else if (r.use != Use::none && !addsUp)
      reportUnfenced(r);
    r.use = Use::accumulator, r.useLine = in.line;
    r.isOperand = false, r.shape = shape, r.count = count, r.line = in.line;
  }
}

/// What other instructions do with these registers.
void Hazards::watchWgmma(Warp &w, const Instruction &in) {
  using Use = WgmmaRegister::Use;
  WgmmaState &all = *stateOf(w).wgmma;
  for (uint32_t i = 0; i < in.touchedCount; ++i) {
    const uint32_t touched = w.kernel->touched[in.touched + i];
    auto at = all.registers.find(touched & ~kTouchedWrite);
    if (at == all.registers.end())
      continue;
    WgmmaRegister &r = at->second;
    const bool writes = touched & kTouchedWrite;
    // Both only read A: the manual asks for the wait here, too, but nothing can go wrong.
    if (r.count > all.done)
      reportUnwaited(w, in.line, r, writes ? "writes" : "reads",
                     r.isOperand && !writes ? HazardLevel::warning : HazardLevel::error);
    if (writes || r.use != Use::write)
      r.use = writes ? Use::write : Use::read, r.useLine = in.line;
  }
}

} // namespace blockscale::emu
