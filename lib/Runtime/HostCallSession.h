//===- HostCallSession.h - the session of compiled host code --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_HOSTCALLSESSION_H
#define BLOCKSCALE_LIB_RUNTIME_HOSTCALLSESSION_H

#include "blockscale/Runtime/Session.h"

namespace blockscale::rt {

/// The session, unless there is none or it has failed.
inline Session *active() {
  Session *session = Session::current();
  return session && !session->hasFailed() ? session : nullptr;
}

} // namespace blockscale::rt

#endif // BLOCKSCALE_LIB_RUNTIME_HOSTCALLSESSION_H
