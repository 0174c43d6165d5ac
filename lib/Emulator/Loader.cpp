//===- Loader.cpp - modules -----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "Echo.h"
#include "GlobalMemory.h"

#include "blockscale/Facts/PtxVersion.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {

using facts::Refusal;
using facts::Result;

namespace {
constexpr uint64_t kMaxVariables = uint64_t(1) << 32; // bytes of a module
/// A function is decoded into every kernel that calls it, so that a short text can grow: by so
/// many bytes beyond so many for each of its own.
constexpr uint64_t kMaxDecoded = uint64_t(1) << 24;
constexpr uint64_t kDecodedPerByte = 256;

uint64_t bytesOf(const Kernel &k) {
  return k.code.size() * sizeof(Instruction) + k.constants.size() * sizeof(LaneLine) +
         (k.lists.size() + k.touched.size()) * sizeof(Operand) + k.presets.size() * sizeof(Preset);
}
/// Gives each function its address. Empty, or a refusal.
std::string placeFunctions(const PtxModule &parsed, Decoder &decoder, LoadedModule &module,
                           GlobalMemory &memory) {
  for (const PtxKernel &k : parsed.kernels)
    if (!k.isEntry && !decoder.functions.emplace(k.name, &k).second)
      return module.file + ":" + std::to_string(k.line) + ": ptx_func: function " + echo(k.name) +
             " must be defined once";
  Result<uint64_t> address = memory.placeFunctions(decoder.functions.size());
  if (!address)
    return module.file + ":1: " + address.message();
  for (const PtxKernel &k : parsed.kernels) {
    Symbol &s = decoder.moduleSymbols[k.name];
    s.kind = k.isEntry ? Symbol::Kind::entry : Symbol::Kind::function;
    if (k.isEntry)
      continue;
    s.value = *address;
    module.functions[*address] = {k.name, Signature(k.returns, k.params).text()};
    *address += kCodeStep;
  }
  return {};
}

/// What an element of an initialiser holds. Empty, or why it cannot.
std::string addressOf(const PtxReference &r, const PtxVariable &v,
                      const std::unordered_map<std::string, Symbol> &symbols, uint64_t &value) {
  auto target = symbols.find(r.name);
  if (target == symbols.end() || (target->second.kind != Symbol::Kind::global &&
                                  target->second.kind != Symbol::Kind::function))
    return "ptx_initializer: " + r.name + " must be a function or a variable of .global or " +
           ".const above " + v.name;
  value = target->second.value + uint64_t(r.offset);
  if (target->second.kind == Symbol::Kind::global)
    return bits(v.type) == 64
               ? ""
               : "ptx_initializer: address of " + r.name + " must be in a 64-bit element";
  if (r.offset || r.isGeneric)
    return "ptx_initializer: address of function " + r.name + " must stand alone";
  return v.type == Type::u64 || v.type == Type::u32
             ? ""
             : "ptx_initializer: address of function " + r.name + " must be in a .u64 or .u32, " +
                   "got ." + std::string(name(v.type));
}

} // namespace

Module::~Module() = default;

Result<std::shared_ptr<LoadedModule>> loadModule(std::string_view text, std::string_view fileName,
                                                 GlobalMemory &memory, const Options &options) {
  Result<PtxModule> parsed = parsePtx(text, fileName);
  if (!parsed)
    return parsed.takeRefusal();
  std::string file(fileName);
  auto arch = facts::parseArch(parsed->target); // the parser has checked it

  auto module = std::make_shared<LoadedModule>();
  module->archValue = *arch;
  module->file = file;
  module->source = std::make_shared<const SourceLines>(text);
  Decoder decoder(*arch, file);
  decoder.disabledForm = options.disabledForm;
  decoder.usedForms = options.usedForms;
  if (auto version = facts::parsePtxVersion(parsed->version))
    decoder.version = {version->major, version->minor};
  const CallGraph graph(*parsed);
  decoder.graph = &graph;
  if (std::string problem = placeFunctions(*parsed, decoder, *module, memory); !problem.empty())
    return Refusal{problem};
  uint64_t variables = 0, decoded = 0; // bytes
  for (size_t i = 0; i < parsed->variables.size(); ++i) {
    const PtxVariable &v = parsed->variables[i];
    auto refuse = [&](const std::string &m) {
      return Refusal{file + ":" + std::to_string(parsed->variableLines[i]) + ": " + echo(m)};
    };
    if (decoder.functions.count(v.name))
      return refuse("ptx_name: " + v.name + " must be a function or a variable, got both");
    Symbol s;
    if (v.space == Space::shared) {
      s.kind = Symbol::Kind::shared;
      if (v.isExtern) {
        s.value = kDynamicSharedMark;
        decoder.moduleDynamicAlign = std::max(decoder.moduleDynamicAlign, v.align);
      } else {
        s.value = (decoder.moduleShared + v.align - 1) / v.align * v.align;
        decoder.moduleShared = s.value + v.bytes();
        s.value += kSharedBase;
        if (decoder.moduleShared > (1u << 24))
          return refuse("ptx_size: shared variables must take at most 16 MiB");
      }
    } else if (v.space == Space::global || v.space == Space::constant) {
      if (v.isExtern)
        return refuse("ptx_extern: variable " + v.name + " must be defined in the module");
      variables += v.bytes();
      if (variables > kMaxVariables)
        return refuse("ptx_size: variables of a module must take at most 4 GiB together, " +
                      v.name + " goes beyond");
      Result<uint64_t> address =
          memory.allocate(v.bytes() ? v.bytes() : 1, v.space == Space::constant);
      if (!address)
        return refuse(address.message());
      if (!v.init.empty())
        std::memcpy(memory.find(*address).host, v.init.data(), v.init.size());
      s.kind = Symbol::Kind::global;
      s.value = *address;
      if (v.space == Space::constant)
        module->constants.emplace(*address, *address + v.bytes());
      decoder.moduleSymbols[v.name] = s; // a variable may hold its own address
      for (const PtxReference &r : v.references) {
        uint64_t value = 0;
        if (std::string problem = addressOf(r, v, decoder.moduleSymbols, value); !problem.empty())
          return refuse(problem);
        std::memcpy(memory.find(*address).host + r.at, &value, bits(v.type) / 8);
      }
      if (!v.references.empty())
        decoder.tables[v.name] = &v;
    } else {
      return refuse("ptx_variable: state space of " + v.name + " is not taken at module level");
    }
    decoder.moduleSymbols[v.name] = s;
  }
  for (const PtxKernel &k : parsed->kernels) {
    if (!k.isEntry)
      continue;
    if (module->find(k.name))
      return Refusal{file + ":" + std::to_string(k.line) + ": ptx_entry: kernel " + k.name +
                     " must be defined once"};
    if (!decoder.decodeKernel(k))
      return Refusal{decoder.error};
    decoded += bytesOf(decoder.kernel);
    if (decoded > kMaxDecoded + kDecodedPerByte * text.size())
      return Refusal{file + ":" + std::to_string(k.line) + ": ptx_size: kernels of a module must " +
                     "take at most " + std::to_string(kMaxDecoded >> 20) + " MiB and " +
                     std::to_string(kDecodedPerByte) +
                     " times their text decoded, each with the functions that it calls, " + k.name +
                     " goes beyond"};
    module->kernelList.push_back(std::move(decoder.kernel));
  }
  if (!decoder.functions.empty() && !decoder.checkFunctions(*parsed))
    return Refusal{decoder.error};
  // Where nothing could be launched, that is said here.
  const std::vector<Kernel> &kernels = module->kernelList;
  const Kernel &first = kernels.empty() ? decoder.kernel : kernels[0];
  if (!first.refusal.empty() && std::all_of(kernels.begin(), kernels.end(),
                                            [](const Kernel &k) { return !k.refusal.empty(); }))
    return Refusal{first.refusal};
  return module;
}

} // namespace blockscale::emu
