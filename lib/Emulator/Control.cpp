//===- Control.cpp - branches, exit and hints -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.14 and 9.7.21.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"

#include "Hazards/Hazards.h"
#include "Lanes.h"

namespace blockscale::emu {
namespace {

Outcome bra(Warp &w, const Instruction &in) {
  w.branch(w.mask, in.target);
  return Outcome::jumped;
}
bool decodeBra(Decoder &d) {
  d.take("uni");
  if (!d.expectOperands(1))
    return false;
  Instruction in;
  in.run = bra;
  d.emit(in);
  d.useLabel(d.operand(0).name, d.kernel.code.size() - 1);
  return true;
}

Outcome trap(Warp &w, const Instruction &in) {
  return w.fail(in, "trap: kernel must not trap, cta " + dec(w.cta->index.x) + "," +
                        dec(w.cta->index.y) + "," + dec(w.cta->index.z) + " thread " +
                        dec(w.id * 32 + w.leader()) + " did");
}
bool decodeTrap(Decoder &d) {
  Instruction in;
  in.run = trap;
  d.emit(in);
  return d.expectOperands(0);
}

Outcome hint(Warp &, const Instruction &) { return Outcome::next; }
Outcome pause(Warp &, const Instruction &) { return Outcome::yield; }

/// Registers of a warp are not counted.
Outcome raiseRegisters(Warp &w, const Instruction &in) {
  w.raisedAt = in.line;
  return Outcome::next;
}

bool decodeNanosleep(Decoder &d) {
  if (d.takeType() != Type::u32 || !d.expectOperands(1))
    return false;
  d.source(0, Type::u32);
  Instruction in;
  in.run = pause;
  d.emit(in);
  return d.error.empty();
}

bool decodeSetmaxnreg(Decoder &d) {
  if (!facts::supports(d.arch, facts::Feature::setmaxnreg))
    return d.fail("ptx_target: setmaxnreg must have a target with setmaxnreg, got " +
                  std::string(facts::name(d.arch)));
  const int direction = d.takeOneOf({"inc", "dec"});
  bool ok = direction >= 0 && d.take("sync") && d.take("aligned") && d.takeType() == Type::u32;
  if (!ok || !d.expectOperands(1))
    return false;
  auto n = d.immediate(d.operand(0));
  if (!n || *n < 24 || *n > 256 || *n % 8)
    return d.fail("ptx_setmaxnreg: register count must be a multiple of 8 from 24 to 256" +
                  (n ? ", got " + dec(*n) : std::string()));
  Instruction in;
  in.run = direction == 0 ? raiseRegisters : hint;
  in.converge = Converge::allLive;
  d.emit(in);
  return true;
}

// Grids run one after the other, so that only the hazard checks tell a grid that waits for
// earlier ones from one that does not.
Outcome waitForGrids(Warp &w, const Instruction &) {
  if (w.hazards)
    w.hazards->waitsForEarlierGrids(w);
  return Outcome::next;
}
Outcome launchDependents(Warp &w, const Instruction &) {
  if (w.hazards)
    w.hazards->launchesDependents(w);
  return Outcome::next;
}

bool decodeGriddepcontrol(Decoder &d) {
  const int what = d.takeOneOf({"wait", "launch_dependents"});
  if (what < 0)
    return false;
  d.kernel.launchesDependents |= what == 1;
  Instruction in;
  in.run = what == 1 ? launchDependents : waitForGrids;
  d.emit(in);
  return d.expectOperands(0);
}

bool decodePmevent(Decoder &d) {
  d.take("mask");
  Instruction in;
  in.run = hint;
  d.emit(in);
  return true;
}

} // namespace

DecodeFn findControl(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"bra", decodeBra},
      {"trap", decodeTrap},
      {"brkpt", decodeTrap},
      {"nanosleep", decodeNanosleep},
      {"setmaxnreg", decodeSetmaxnreg},
      {"griddepcontrol", decodeGriddepcontrol},
      {"pmevent", decodePmevent}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
