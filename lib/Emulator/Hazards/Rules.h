//===- Rules.h - the rules by name ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_RULES_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_RULES_H

#include "blockscale/Emulator/Hazards.h"

#include <string>

namespace blockscale::emu {

/// In the order of the table.
enum class Rule : uint8_t {
  TM1,
  TM2,
  TM3,
  TM4,
  TM5,
  TM6,
  TM7,
  TM8,
  TM9,
  TM9s,
  TM10,
  TM11,
  TM12,
  TM13,
  TM14,
  TM15,
  SM1,
  SM2,
  PX1,
  PX2,
  PX3,
  PX4,
  MB1,
  MB2,
  MB2w,
  MB3,
  MB4,
  MB5,
  MB6,
  MB7,
  MB8,
  BK1,
  BK2,
  BK3,
  BK3w,
  GM1,
  GM2,
  GM3,
  GM4,
  TP1,
  CL1,
  CL2,
  CL3,
  CL4,
  RG1,
  OS1,
  OS2,
  OS3,
  OS4,
  OS5,
  OS6,
  OS7,
  OS8,
  OS9,
  OS10,
  OS11,
  OS12,
  OS13,
  OS14,
  OS15,
};

inline const HazardRule &info(Rule rule) { return hazardRules()[size_t(rule)]; }

/// The line of a report that says what is missing or wrong, with the label at its end.
std::string lackLine(HazardLack lack, std::string_view what, std::string_view label);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_RULES_H
