//===- Tmem.cpp - allocation of tensor memory -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas checks neither the exclusive form's range nor a register operand, so the
// range is checked here. Source: PTX ISA 9.4, 9.7.18.7.1.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Tmem.h"

namespace blockscale::facts {
namespace {
Refusal noTensorMemory(Arch arch) {
  return refuse("tmem_c1: target must have tensor memory, got ", name(arch));
}
} // namespace

Result<int> roundTmemColumns(Arch arch, int used) {
  int capacity = info(arch).tmemColumns;
  if (!capacity)
    return noTensorMemory(arch);
  int columns = roundedTmemColumns(arch, used);
  if (!columns)
    return refuse("tmem_c2: columns on ", name(arch), " must be from 1 to ", capacity, ", got ",
                  used);
  return columns;
}

Result<bool> checkTmemAlloc(Arch arch, int columns, bool exclusive) {
  int capacity = info(arch).tmemColumns;
  if (!capacity)
    return noTensorMemory(arch);
  int most = exclusive ? capacity : kTmemSharedColumns;
  if (columns < kTmemAllocStep || columns > most || columns % kTmemAllocStep)
    return refuse("tmem_c3: columns of ", exclusive ? "an exclusive" : "an", " allocation on ",
                  name(arch), " must be a multiple of ", kTmemAllocStep, " from ", kTmemAllocStep,
                  " to ", most, ", got ", columns);
  if (!exclusive && needsExclusiveAlloc(columns))
    return refuse("tmem_c4: columns of an allocation that is not exclusive must be a power of "
                  "two, got ",
                  columns);
  return true;
}

} // namespace blockscale::facts
