//===- LaunchHazards.cpp - clusters against each other --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"

namespace blockscale::emu {

LaunchHazards::LaunchHazards(Launch &owner, std::shared_ptr<const EarlierGrid> earlier)
    : launch(owner), shadow(owner.memory), changedBefore(owner.memory.changedMaps),
      before(std::move(earlier)) {}

LaunchHazards::~LaunchHazards() = default;

std::string describeGlobal(const GlobalMemory &memory, uint64_t from, uint64_t to) {
  GlobalRange r = memory.find(from);
  return "global memory bytes " + hex(from - r.begin) + ".." + hex(to - r.begin) +
         " of a buffer of " + dec(int64_t(r.end - r.begin));
}

void LaunchHazards::mapChanged(uint64_t address) {
  std::lock_guard<std::mutex> guard(lock);
  launch.memory.changedMaps.insert(address);
}

Cells LaunchHazards::takeCells(bool isTensor) {
  Cells out;
  {
    std::lock_guard<std::mutex> guard(lock);
    std::vector<Cells> &from = spare[isTensor];
    if (from.empty())
      return out;
    out = std::move(from.back());
    from.pop_back();
  }
  for (Cell &cell : out)
    cell.clear();
  return out;
}

void LaunchHazards::giveCells(bool isTensor, Cells cells) {
  std::lock_guard<std::mutex> guard(lock);
  spare[isTensor].push_back(std::move(cells));
}

void LaunchHazards::merge(uint64_t turn, std::unique_ptr<GlobalShadow> from) {
  std::lock_guard<std::mutex> guard(lock);
  waiting.emplace(turn, std::move(from));
  for (auto it = waiting.begin(); it != waiting.end() && it->first == merged;
       it = waiting.erase(it), ++merged)
    shadow.merge(*it->second, [&](const GlobalAccess &a, const GlobalAccess &earlier, uint64_t cell,
                                  unsigned begin, unsigned end, bool isSame) {
      if (isWrite(a.record.touch) || isWrite(earlier.record.touch))
        report(isSame ? Rule::OS6 : Rule::GM1, a, earlier, cell + begin, cell + end - 1);
    });
}

/// No clusters of such a kernel can be ordered.
void LaunchHazards::report(Rule label, const GlobalAccess &later, const GlobalAccess &earlier,
                           uint64_t from, uint64_t to) {
  const Touch a = later.record.touch, b = earlier.record.touch;
  const HazardRule &rule = info(label);
  const uint32_t line = launch.kernel.code[later.record.site].line,
                 other = launch.kernel.code[earlier.record.site].line;
  std::string text = verb(a);
  text += " (warp " + dec(later.warp) + ")" + (isWrite(a) ? " writes " : " reads ") +
          describeGlobal(launch.memory, from, to) + " that " + verb(b) + " at " +
          launch.module.file + ":" + dec(other) + " (another cluster)" +
          (isWrite(b) ? " may not have written" : " may not have read") +
          lackLine(rule.lack, rule.missing, rule.label);
  launch.addHazard({std::string(rule.label), rule.level, line, other, later.turn(), text});
}

} // namespace blockscale::emu
