//===- LaunchControl.h - clusterlaunchcontrol, for messages ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_LAUNCHCONTROL_H
#define BLOCKSCALE_LIB_EMULATOR_LAUNCHCONTROL_H

#include "Program.h"

namespace blockscale::emu {

bool isTryCancel(const Instruction &in);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_LAUNCHCONTROL_H
