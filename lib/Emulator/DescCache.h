//===- DescCache.h - descriptors decoded once -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A K loop uses the same few words over and over, and the decoders of Facts explain
// every field in words. Only what was accepted is kept.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_DESCCACHE_H
#define BLOCKSCALE_LIB_EMULATOR_DESCCACHE_H

#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/SmemDesc.h"

#include <array>
#include <optional>

namespace blockscale::emu {

/// A small direct-mapped table of decoded words.
template <class Key, class Value> class DescCache {
public:
  template <class Decode> facts::Result<Value> get(const Key &key, uint64_t word, Decode decode) {
    Entry &entry = entries[word * 0x9E3779B97F4A7C15ull >> 56];
    if (entry.value && entry.key == key)
      return *entry.value;
    facts::Result<Value> fresh = decode();
    if (fresh) {
      entry.key = key;
      entry.value = *fresh;
    }
    return fresh;
  }

private:
  struct Entry {
    Key key{};
    std::optional<Value> value;
  };
  std::array<Entry, 256> entries;
};

struct SmemDescKey {
  facts::Arch arch{};
  uint64_t word = 0;
  bool operator==(const SmemDescKey &) const = default;
};

inline facts::Result<facts::SmemDesc> decodeSmemDescCached(facts::Arch arch, uint64_t word) {
  thread_local DescCache<SmemDescKey, facts::SmemDesc> cache;
  return cache.get({arch, word}, word, [&] { return facts::decodeSmemDesc(arch, word); });
}

struct IDescKey {
  facts::Arch arch{};
  facts::MmaKind kind{};
  int block = 0, ctaGroup = 0;
  uint32_t word = 0;
  bool operator==(const IDescKey &) const = default;
};

/// Decoded, and checked for the CTA group that the instruction names.
inline facts::Result<facts::IDesc> decodeIDescCached(facts::Arch arch, facts::MmaKind kind,
                                                     int block, int ctaGroup, uint32_t word) {
  thread_local DescCache<IDescKey, facts::IDesc> cache;
  return cache.get({arch, kind, block, ctaGroup, word}, word, [&]() -> facts::Result<facts::IDesc> {
    facts::Result<facts::IDesc> desc = facts::decodeIDesc(arch, kind, block, word);
    if (!desc)
      return desc;
    desc->ctaGroup = ctaGroup;
    if (auto ok = facts::checkIDesc(arch, *desc); !ok)
      return ok.takeRefusal();
    return desc;
  });
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_DESCCACHE_H
