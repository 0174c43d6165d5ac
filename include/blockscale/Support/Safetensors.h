//===- Safetensors.h - members of .safetensors files ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One member by name. The header is not trusted: its length, each dtype, shape
// and pair of offsets are checked against the file before a byte is used, and all
// members together must cover the data without holes and overlap.
// Narrow types (F8_E4M3, F8_E8M0, BOOL, …) come out as u8.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SAFETENSORS_H
#define BLOCKSCALE_SUPPORT_SAFETENSORS_H

#include "blockscale/Support/Array.h"

namespace blockscale::rt {

Result<Array> parseSafetensors(std::string_view bytes, std::string_view subject,
                               std::string_view member);
Result<Array> readSafetensors(const std::string &path, std::string_view member);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_SAFETENSORS_H
