//===- Tcgen05Collector.cpp - operand buffers of the tensor core ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05Collector.h"

namespace blockscale::emu {

Fault issueCollector(Collector &c, const char *name, CollectorUse use, const Warp &w,
                     uint64_t operand, uint32_t line,
                     std::shared_ptr<CollectorContents> &contents) {
  if (use == CollectorUse::discard) {
    c = {};
    c.emptiedLine = line;
    return {};
  }
  if (use == CollectorUse::fill) {
    c = {&w, operand, std::make_shared<CollectorContents>(), 0};
    c.contents->line = line;
    contents = c.contents;
    return {};
  }
  const std::string what =
      std::string("collector_") + name + ": " + (use == CollectorUse::use ? ".use" : ".lastuse");
  const std::string buffer = std::string("collector buffer of ") + name;
  if (c.warp != &w)
    return Fault(what + " must follow a fill by the same warp, got " +
                 (c.warp ? "one by another warp at line " + dec(c.contents->line)
                         : std::string("none")))
        .at(buffer)
        .against(c.warp ? "the fill" : "the last use or discard",
                 c.warp ? c.contents->line : c.emptiedLine);
  if (c.operand != operand)
    return Fault(what + " must name the operand " + hex(c.operand) + " of the fill at line " +
                 dec(c.contents->line) + ", got " + hex(operand))
        .at(buffer)
        .against("the fill", c.contents->line);
  contents = c.contents;
  if (use == CollectorUse::lastUse) {
    c = {};
    c.emptiedLine = line;
  }
  return {};
}

std::string landCollector(CollectorContents &contents, CollectorUse use, size_t v,
                          const CollectorRows &r) {
  std::vector<uint8_t> now;
  now.reserve(size_t(r.rows) * r.rowBytes);
  for (unsigned row = 0; row < r.rows; ++row)
    for (unsigned at = 0; at < r.rowBytes; at += 16)
      now.insert(now.end(), r.bytes + row * r.pitch + at, r.bytes + row * r.pitch + at + r.payload);
  if (use == CollectorUse::fill) {
    contents.bytes[v] = std::move(now);
    return {};
  }
  if (contents.bytes[v] == now)
    return {};
  return "collector_source: operand must be as at the fill at line " + dec(contents.line) +
         " when its buffer is used, got other bytes";
}

} // namespace blockscale::emu
