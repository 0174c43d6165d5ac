//===- Status.cpp - the last refusal of a thread --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

namespace {
thread_local std::string lastMessage;
} // namespace

bsrt_status blockscale::rt::refuse(std::string message) {
  lastMessage = std::move(message);
  return BSRT_ERROR;
}

const char *bsrt_error_message(void) { return lastMessage.c_str(); }
