//===- Forms.cpp - finding the row of an instruction ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

#include <algorithm>
#include <unordered_map>

namespace blockscale::emu {
namespace {

/// Lists of types that rows name.
struct TypeList {
  std::string_view name, types;
};
constexpr TypeList kTypeLists[] = {
    {"@fp8x2", "e4m3x2|e5m2x2"},
    {"@narrowx2", "e4m3x2|e5m2x2|e2m3x2|e3m2x2|e2m1x2"},
    {"@narrowx4", "e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4"},
    {"@halfx2", "f16x2|bf16x2"},
    {"@ca", "collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard"},
    {"@cb", "collector::b::fill|collector::b::use|collector::b::lastuse|collector::b::discard"},
    {"@cg", "cta_group::1|cta_group::2"},
    {"@x", "x1|x2|x4|x8|x16|x32|x64|x128"},
    {"@mc", "multicast::cluster|multicast::cluster::16b|multicast::cluster::32b"},
    {"@rank", "1d|2d|3d|4d|5d"},
    {"@f8f6f4", "e4m3|e5m2|e2m3|e3m2|e2m1"},
    {"@int", "u16|u32|u64|s16|s32|s64"},
    {"@anyint", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"@cc", "u32|s32|u64|s64"},
    {"@round", "rn|rz|rm|rp"},
    {"@fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"@data", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"@space", "global|shared|shared::cta|shared::cluster|local|param|param::entry|const"},
    {"@cache", "ca|cg|cs|lu|cv"},
    {"@evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_"
               "allocate"},
    {"@evictL2", "L2::evict_first|L2::evict_last|L2::evict_normal"},
    {"@prefetch", "L2::64B|L2::128B|L2::256B"},
    {"@policy", "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"},
    {"@order", "relaxed|acquire|release|acq_rel"},
    {"@scope", "cta|cluster|gpu|sys"},
    {"@aspace", "global|shared|shared::cta|shared::cluster"},
    {"@float", "f16|bf16|f32|f64"},
    {"@shared", "shared|shared::cta"},
    {"@sharedAny", "shared|shared::cta|shared::cluster"},
    {"@phase", "phase_type::primary|phase_type::conditional"},
    {"@word", "u32|u64|s32|s64|f32|f64"},
    {"@op", "add|min|max|inc|dec|and|or|xor"},
};

template <typename Visit> void forEachWord(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end)
      visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Calls back with each alternative of a group; lists may stand among them.
template <typename Visit> void forEachAlternative(std::string_view group, Visit visit) {
  forEachWord(group, '|', [&](std::string_view alternative) {
    for (const TypeList &list : kTypeLists)
      if (list.name == alternative)
        return forEachWord(list.types, '|', visit);
    visit(alternative);
  });
}

/// Is a modifier an alternative? `#` in one stands for a number.
bool isOf(std::string_view alternative, std::string_view modifier) {
  const size_t at = alternative.find('#');
  if (at == std::string_view::npos)
    return alternative == modifier;
  const std::string_view head = alternative.substr(0, at), tail = alternative.substr(at + 1);
  if (modifier.size() <= head.size() + tail.size() || !modifier.starts_with(head) ||
      !modifier.ends_with(tail))
    return false;
  modifier = modifier.substr(at, modifier.size() - head.size() - tail.size());
  return modifier.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What does not fit between a row and an instruction.
struct Misfit {
  unsigned matched = 0;
  std::string missing; // alternatives of the first group that nothing fills
  std::string extra;   // the first modifier that fills no group
  bool fits() const { return missing.empty() && extra.empty(); }
};

Misfit compare(const Form &row, const PtxInstruction &in) {
  Misfit misfit;
  if (row.modifiers == "*")
    return misfit;
  std::vector<std::string_view> left(in.modifiers.begin(), in.modifiers.end());
  size_t types = 0; // where types that were matched end in `left`: they keep their order
  forEachWord(row.modifiers, ' ', [&](std::string_view group) {
    bool optional = group.ends_with('?');
    if (optional)
      group.remove_suffix(1);
    auto found = std::find_if(left.begin(), left.end(), [&](const std::string_view &modifier) {
      bool is = false;
      if (size_t(&modifier - left.data()) < types && parseType(modifier))
        return false;
      forEachAlternative(group,
                         [&](std::string_view alternative) { is |= isOf(alternative, modifier); });
      return is;
    });
    if (found != left.end()) {
      const size_t at = size_t(found - left.begin());
      types = parseType(*found) ? at : types - (at < types);
      left.erase(found);
      ++misfit.matched;
    } else if (!optional && misfit.missing.empty()) {
      forEachAlternative(group, [&](std::string_view alternative) {
        misfit.missing.append(misfit.missing.empty() ? "." : ", .").append(alternative);
      });
    }
  });
  if (!left.empty())
    misfit.extra = left.front();
  return misfit;
}

std::string spelling(const PtxInstruction &in) {
  std::string full = in.opcode;
  for (const std::string &m : in.modifiers)
    full.append(".").append(m);
  return full;
}

using Index = std::unordered_map<std::string_view, std::vector<const Form *>>;
const Index &rowsByOpcode() {
  static const Index index = [] {
    Index made;
    for (const FormTable &table : formTables())
      for (const Form &row : table.rows)
        made[row.opcode].push_back(&row);
    return made;
  }();
  return index;
}

/// Refuses a modifier or a form that the target lacks.
std::string needs(facts::Arch arch, facts::Feature feature, std::string_view what) {
  if (facts::supports(arch, feature))
    return {};
  std::string text = "ptx_target: ";
  return text.append(what)
      .append(" must have a target with ")
      .append(facts::name(feature))
      .append(", got ")
      .append(facts::name(arch));
}

} // namespace

std::span<const FormTable> formTables() {
  static const FormTable kTables[] = {
      {"Integers", integerForms()},
      {"Floats", floatForms()},
      {"Conversions", convertForms()},
      {"Logic and comparison", logicForms()},
      {"Moves, loads, stores and atomics", memoryForms()},
      {"Control, barriers and warps", controlForms()},
      {"mbarrier", mbarrierForms()},
      {"tcgen05", tcgen05Forms()},
      {"tcgen05.mma", tcgen05MmaForms()},
      {"Asynchronous copies and cluster launch control", copyForms()},
      {"Matrix instructions of warps", matrixForms()},
      {"Matrix instructions of warpgroups (sm_90a)", wgmmaForms()},
      {"Instructions of which no form is executed", otherForms()},
  };
  return kTables;
}

std::string formKey(const Form &row, std::string_view modifier) {
  if (row.modifiers.find('#') != std::string_view::npos)
    forEachWord(row.modifiers, ' ', [&](std::string_view word) {
      if (isOf(word, modifier))
        modifier = word;
    });
  std::string key(row.opcode);
  return key.append(" ").append(row.modifiers).append("\t").append(modifier);
}

std::string spelledOut(std::string_view modifiers) {
  std::string out;
  forEachWord(modifiers, ' ', [&](std::string_view group) {
    bool optional = group.ends_with('?');
    if (optional)
      group.remove_suffix(1);
    out.append(out.empty() ? "" : " ");
    bool first = true;
    forEachAlternative(group, [&](std::string_view alternative) {
      out.append(first ? "" : "|").append(alternative);
      first = false;
    });
    out.append(optional ? "?" : "");
  });
  return out;
}

std::string targetProblem(const Form &form, const PtxInstruction &in, facts::Arch arch,
                          facts::PtxRelease version) {
  for (const std::string &m : in.modifiers)
    if (const facts::PtxModifierRow *row = facts::findPtxModifier(in.opcode, m)) {
      std::string what = ".";
      what.append(m);
      if (std::string problem = needs(arch, row->needs, what); !problem.empty())
        return problem;
      if (version < row->since)
        return "ptx_version: " + what + " must have a .version of at least " +
               std::to_string(row->since.major) + "." + std::to_string(row->since.minor) +
               ", got " + std::to_string(version.major) + "." + std::to_string(version.minor);
    }
  if (form.needs)
    return needs(arch, *form.needs, spelling(in));
  for (const std::string &m : in.modifiers)
    if (m == "cluster" || m == "shared::cluster")
      return needs(arch, facts::Feature::clusters, "." + m);
  return {};
}

const Form *findForm(const PtxInstruction &in, std::string &refusal) {
  auto rows = rowsByOpcode().find(in.opcode);
  if (rows == rowsByOpcode().end())
    return nullptr;
  const Form *best = nullptr;
  Misfit least;
  for (const Form *row : rows->second) {
    Misfit misfit = compare(*row, in);
    if (!best || misfit.fits() || misfit.matched > least.matched)
      best = row, least = misfit;
    if (misfit.fits())
      break;
  }
  if (!least.fits()) {
    refusal = "ptx_modifier: ";
    if (!least.missing.empty())
      refusal.append(in.opcode).append(" must have ").append(least.missing);
    else
      refusal.append(in.opcode).append(" must not have .").append(least.extra).append(" here");
    refusal.append(", got ").append(spelling(in));
    return nullptr;
  }
  return best;
}

} // namespace blockscale::emu
