//===- FormsOther.cpp - instructions of which no form is executed ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.11, 9.7.12, 9.7.17 and 9.7.19. Their modifiers are not looked at.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace blockscale::emu {
namespace {

constexpr auto kUnexecuted = FormStatus::unexecuted;
constexpr std::string_view kTexture = "no textures, surfaces or samplers",
                           kVideo = "video instructions, which chips emulate",
                           kWmma = "older than mma.sync, with fragments in an order of their own",
                           kMultimem = "one device, so no multicast memory of several";

constexpr Form kForms[] = {
    {"wmma", "*", kUnexecuted, kWmma},       {"multimem", "*", kUnexecuted, kMultimem},
    {"tex", "*", kUnexecuted, kTexture},     {"tld4", "*", kUnexecuted, kTexture},
    {"txq", "*", kUnexecuted, kTexture},     {"istypep", "*", kUnexecuted, kTexture},
    {"suld", "*", kUnexecuted, kTexture},    {"sust", "*", kUnexecuted, kTexture},
    {"sured", "*", kUnexecuted, kTexture},   {"suq", "*", kUnexecuted, kTexture},
    {"vadd", "*", kUnexecuted, kVideo},      {"vsub", "*", kUnexecuted, kVideo},
    {"vabsdiff", "*", kUnexecuted, kVideo},  {"vmin", "*", kUnexecuted, kVideo},
    {"vmax", "*", kUnexecuted, kVideo},      {"vshl", "*", kUnexecuted, kVideo},
    {"vshr", "*", kUnexecuted, kVideo},      {"vmad", "*", kUnexecuted, kVideo},
    {"vset", "*", kUnexecuted, kVideo},      {"vadd2", "*", kUnexecuted, kVideo},
    {"vsub2", "*", kUnexecuted, kVideo},     {"vavrg2", "*", kUnexecuted, kVideo},
    {"vabsdiff2", "*", kUnexecuted, kVideo}, {"vmin2", "*", kUnexecuted, kVideo},
    {"vmax2", "*", kUnexecuted, kVideo},     {"vset2", "*", kUnexecuted, kVideo},
    {"vadd4", "*", kUnexecuted, kVideo},     {"vsub4", "*", kUnexecuted, kVideo},
    {"vavrg4", "*", kUnexecuted, kVideo},    {"vabsdiff4", "*", kUnexecuted, kVideo},
    {"vmin4", "*", kUnexecuted, kVideo},     {"vmax4", "*", kUnexecuted, kVideo},
    {"vset4", "*", kUnexecuted, kVideo},
};

} // namespace

std::span<const Form> otherForms() { return kForms; }

} // namespace blockscale::emu
