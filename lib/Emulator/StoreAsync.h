//===- StoreAsync.h - st.async and red.async ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_STOREASYNC_H
#define BLOCKSCALE_LIB_EMULATOR_STOREASYNC_H

namespace blockscale::emu {

class Decoder;

/// Decodes what follows `st.async` or `red.async`.
bool decodeStoreAsync(Decoder &d, bool reduces);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_STOREASYNC_H
