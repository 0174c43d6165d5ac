//===- Mma.cpp - entry points of the matrix product -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the path and says what is known about an instruction.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"

#include "Model.h"

using namespace blockscale;
using namespace blockscale::emu;
using facts::MmaKind;
using facts::ScaleFormat;

void emu::mma(const MmaInstruction &instruction, const MmaOperands &operands, MmaPath) {
  mmaPlain(instruction, operands, sumModel(instruction.kind));
}

std::string emu::mmaEvidence(const MmaInstruction &i) {
  bool published = false;
  switch (i.kind) {
  case MmaKind::mxf8f6f4:
    published = i.k == 32 && i.block == 32 && i.scale == ScaleFormat::ue8m0;
    break;
  case MmaKind::mxf4:
    published = i.k == 64 && i.block == 32 && i.scale == ScaleFormat::ue8m0;
    break;
  case MmaKind::mxf4nvf4:
    published = i.k == 64 && (i.scale == ScaleFormat::ue8m0 ||
                              (i.scale == ScaleFormat::ue4m3 && i.block == 16));
    break;
  default:
    break;
  }
  return published ? "" : "no public hardware evidence";
}
