//===- PrecompiledEmulator.h - headers that nearly every file here reads --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only speed: every file includes what it uses.
//
//===----------------------------------------------------------------------===//

#include "AsyncOps.h"
#include "Decoder.h"
#include "Float.h"
#include "Forms.h"
#include "Hazards/Hazards.h"
#include "Hazards/State.h"
#include "Lanes.h"
#include "Parser.h"

#include "../../cmake/PrecompiledCore.h"
