//===- StoreBulk.h - st.bulk ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_STOREBULK_H
#define BLOCKSCALE_LIB_EMULATOR_STOREBULK_H

namespace blockscale::emu {

class Decoder;

/// Decodes what follows `st.bulk`.
bool decodeStoreBulk(Decoder &d);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_STOREBULK_H
