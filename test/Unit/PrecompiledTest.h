//===- PrecompiledTest.h - headers that nearly every unit test reads ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only speed: every file includes what it uses.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Emulator.h"

#include "../../cmake/PrecompiledCore.h"

#include "gtest/gtest.h"
