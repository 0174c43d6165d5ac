//===- Forms.h - the instruction forms of PTX that are known --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row for each form: an opcode, its modifiers, and whether it is executed.
// The decoder asks here first, so that what is not PTX for a target, and what is
// PTX but not executed, are told apart before any family looks at it. The coverage
// page is printed from the same rows.
//
// Modifiers are groups, separated by blanks. `a|b` takes one of them, `?` behind a
// group makes it optional, and the order of qualifiers is free, as it is for ptxas
// where anybody tried. `@name` stands for a list of types, `#` for any number, and `*`
// alone for whatever there is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_FORMS_H
#define BLOCKSCALE_LIB_EMULATOR_FORMS_H

#include "Ptx.h"

#include "blockscale/Facts/PtxModifiers.h"

#include <optional>
#include <span>
#include <string_view>

namespace blockscale::emu {

class Decoder;

enum class FormStatus : uint8_t {
  executed,
  hint,       // executes as nothing, because nothing a program can see follows from it
  unexecuted, // PTX that is refused at load
};

struct Form {
  std::string_view opcode;
  std::string_view modifiers;
  FormStatus status = FormStatus::executed;
  std::string_view why = {};                // not executed, or a hint, because
  std::optional<facts::Feature> needs = {}; // of the target
  /// What the operands must satisfy; empty when they do, else a refusal with its label.
  std::string (*check)(const Decoder &) = nullptr;
};

/// All tables, in the order of the coverage page.
struct FormTable {
  std::string_view title;
  std::span<const Form> rows;
};
std::span<const FormTable> formTables();

std::span<const Form> integerForms();
std::span<const Form> floatForms();
std::span<const Form> logicForms();
std::span<const Form> memoryForms();
std::span<const Form> controlForms();
std::span<const Form> mbarrierForms();
std::span<const Form> tcgen05Forms();
std::span<const Form> tcgen05MmaForms();
std::span<const Form> copyForms();
std::span<const Form> matrixForms();
std::span<const Form> wgmmaForms();
std::span<const Form> convertForms();
std::span<const Form> otherForms();

/// How tests name a row with one of its modifiers.
std::string formKey(const Form &row, std::string_view modifier);

/// The modifiers of a row with its lists written out.
std::string spelledOut(std::string_view modifiers);

/// The row of an instruction: null when its opcode is in no table, or with a refusal.
const Form *findForm(const PtxInstruction &in, std::string &refusal);
/// Empty, or why a target or a .version lacks the form.
std::string targetProblem(const Form &form, const PtxInstruction &in, facts::Arch arch,
                          facts::PtxRelease version);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_FORMS_H
