//===- LineDirectives.h - lines of PTX back to files and ops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 11.5 (.loc, .file, .section): a .loc may name the function that was
// inlined and where. LLVM 22 writes only file, line and column. So each location
// goes through the backend as a number, and its .loc is written here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_LINEDIRECTIVES_H
#define BLOCKSCALE_LIB_TARGET_PTX_LINEDIRECTIVES_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace llvm {
class DILocation;
class Module;
} // namespace llvm

namespace blockscale {

class LineDirectives {
public:
  /// Replaces the location of every instruction by its number.
  explicit LineDirectives(llvm::Module &module);

  /// Takes a line of LLVM's that has to do with locations; false if it has not. What
  /// it says goes to `out`, if anything.
  bool rewrite(llvm::StringRef line, std::string &out);

  /// The .file directives, which stand in front of their use.
  std::string files() const;

  /// The names that .loc directives refer to.
  std::string names() const;

private:
  unsigned fileNumber(llvm::StringRef name);
  unsigned functionNumber(llvm::StringRef name);
  std::string placeOf(const llvm::DILocation &location);
  void write(const llvm::DILocation &location, std::string &out);

  llvm::SmallVector<const llvm::DILocation *> locations; // number - 1 -> location
  std::set<std::string> plain; // places of this kernel that a .loc without a name has
  llvm::MapVector<llvm::StringRef, unsigned> fileNumbers, functionNumbers;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_LINEDIRECTIVES_H
