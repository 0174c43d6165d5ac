//===- ProductKind.h - which kinds multiply which formats -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product is a pair of element formats, a scale format and a block; which kinds
// of tcgen05.mma multiply it follows from the rows of MmaMode.h. Some have names.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_PRODUCTKIND_H
#define BLOCKSCALE_FACTS_PRODUCTKIND_H

#include "blockscale/Facts/MmaMode.h"

namespace blockscale::facts {

/// What a block-scaled product multiplies; the scales of A and B have one format.
struct ProductFormat {
  Format a, b;
  ScaleFormat scale;
  int64_t block;
  constexpr bool operator==(const ProductFormat &) const = default;
};

/// Block-scaled kinds, the one to choose first: a kind of FP4 reads two elements a byte,
/// and mxf4 names the only scales that it takes.
inline constexpr std::array<MmaKind, 3> kScaledKinds{MmaKind::mxf4, MmaKind::mxf4nvf4,
                                                     MmaKind::mxf8f6f4};

/// Whether the kind multiplies the formats on some chip; which one, the descriptor's rules
/// say.
constexpr bool multiplies(MmaKind kind, const ProductFormat &p) {
  bool scales = false;
  for (const MmaScaleMode &row : kMmaScaleModes)
    scales |= row.kind == kind && row.block == p.block && row.scale == p.scale;
  if (!scales)
    return false;
  for (const MmaMode &row : kMmaModes)
    if (row.kind == kind && row.block == p.block && !row.sparse && row.formats.contains(p.a) &&
        row.formats.contains(p.b))
      return true;
  return false;
}

/// The kind to choose; nullopt where none multiplies the formats.
constexpr std::optional<MmaKind> productKind(const ProductFormat &p) {
  for (MmaKind kind : kScaledKinds)
    if (multiplies(kind, p))
      return kind;
  return std::nullopt;
}

/// The block of a pair and its scales that takes the first kind; 0 where there is none.
constexpr int64_t productBlock(Format a, Format b, ScaleFormat scale) {
  for (MmaKind kind : kScaledKinds)
    for (const MmaScaleMode &row : kMmaScaleModes)
      if (row.kind == kind && row.scale == scale && multiplies(kind, {a, b, scale, row.block}))
        return row.block;
  return 0;
}

/// Products that have a name.
struct NamedProduct {
  std::string_view name;
  ProductFormat format;
};
inline constexpr std::array<NamedProduct, 3> kNamedProducts{{
    {"nvfp4", {Format::e2m1, Format::e2m1, ScaleFormat::ue4m3, 16}},
    {"mxfp4", {Format::e2m1, Format::e2m1, ScaleFormat::ue8m0, 32}},
    {"mxfp8", {Format::e4m3, Format::e4m3, ScaleFormat::ue8m0, 32}},
}};

namespace detail {
constexpr bool productsAreSound() {
  for (const NamedProduct &row : kNamedProducts)
    if (productBlock(row.format.a, row.format.b, row.format.scale) != row.format.block)
      return false;
  // An FP4 operand beside a wider one leaves the kinds of FP4.
  return productKind(kNamedProducts[0].format) == MmaKind::mxf4nvf4 &&
         productKind(kNamedProducts[1].format) == MmaKind::mxf4 &&
         productKind({Format::e2m1, Format::e4m3, ScaleFormat::ue8m0, 32}) == MmaKind::mxf8f6f4 &&
         !productKind({Format::e4m3, Format::e4m3, ScaleFormat::ue4m3, 32});
}
static_assert(productsAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_PRODUCTKIND_H
