//===- ScaleTile.cpp - blockscale-explain scale-tile ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where scales lie in a tiled buffer, and where tcgen05.mma finds them after the
// copy to tensor memory.
//
//===----------------------------------------------------------------------===//

#include "Command.h"

#include "blockscale/Facts/LayoutsScales.h"
#include "blockscale/Facts/ScaleTile.h"

namespace blockscale::explain {

using namespace facts; // NOLINT: a tool's own file

static constexpr uint64_t kMaxRows = uint64_t(1) << 31;

int runScaleTile(const Arguments &arguments) {
  if (auto r = arguments.onlyOptions({"rows", "scales"}))
    return usageError(r->message);
  if (auto r = arguments.onlyFields({}))
    return usageError("explain_field: scale-tile must have ROW,SCALE pairs, got field " +
                      arguments.fields.begin()->first);
  Result<uint64_t> rows = numberOf(arguments.options, "rows", 128, kMaxRows);
  Result<uint64_t> scales = numberOf(arguments.options, "scales", 4, kMaxRows);
  for (const Result<uint64_t> *r : {&rows, &scales})
    if (!*r)
      return usageError(r->message());
  if (*rows < 1 || *scales < 1)
    return usageError("explain_number: options --rows and --scales must be at least 1, got 0");
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const std::string &word : arguments.words) {
    size_t comma = word.find(',');
    if (comma == std::string::npos)
      return usageError("explain_word: scale-tile must have ROW,SCALE pairs, got '" + word + "'");
    Result<uint64_t> row = parseNumber("row", word.substr(0, comma), *rows - 1);
    Result<uint64_t> scale = parseNumber("scale", word.substr(comma + 1), *scales - 1);
    for (const Result<uint64_t> *r : {&row, &scale})
      if (!*r)
        return usageError(r->message());
    pairs.emplace_back(int64_t(*row), int64_t(*scale));
  }
  std::printf("%llu rows x %llu scales: %lld bytes, %lld x %lld tiles of 512\n",
              static_cast<unsigned long long>(*rows), static_cast<unsigned long long>(*scales),
              static_cast<long long>(scaleTileBytes(int64_t(*rows), int64_t(*scales))),
              static_cast<long long>(scaleTileRowBlocks(int64_t(*rows))),
              static_cast<long long>(scaleTileKBlocks(int64_t(*scales))));
  for (auto [row, scale] : pairs) {
    int64_t offset = scaleTileOffset(row, scale, int64_t(*scales));
    ScalePlace place = scalePlace(int(row % 128), int(scale % 4), 128);
    std::printf("(%lld,%lld) -> byte %lld: tile %lld; in tensor memory lane %d of each part, "
                "column +%d, byte %d\n",
                static_cast<long long>(row), static_cast<long long>(scale),
                static_cast<long long>(offset), static_cast<long long>(offset / kScaleTileBytes),
                place.lane, place.column, place.byte);
  }
  return kLegal;
}

} // namespace blockscale::explain
