//===- Tma.cpp - cp.async.bulk and cp.reduce.async.bulk -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28: the forms, with and without tensor maps. What they do
// stands in TmaLoad.cpp and TmaStore.cpp.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"

#include "Tma.h"

namespace blockscale::emu {
namespace {

AddressSlot slot(Decoder &d, const PtxOperand &o) {
  AddressOperand a = d.address(o);
  return {a.base, a.wide, a.offset};
}

/// [map, {c0, c1, …}], or with overrides [map, address, {c0, …}] and
/// [map, address, {sizes}, {lower 32 bits of strides}, upper bits, {c0, …}].
bool takeMap(Decoder &d, const PtxOperand &o, CopyForm &form, AddressSlot &map) {
  size_t items = form.overridesShape ? 6 : form.overridesAddress ? 3 : 2;
  if (o.kind != PtxOperand::Kind::address || o.items.size() != items ||
      o.items.back().kind != PtxOperand::Kind::vector)
    return d.fail("ptx_operand: tensor operand must be [map, {coordinates}]" +
                  std::string(items > 2 ? " with what overrides the map between" : ""));
  map = slot(d, o.items[0]);
  const PtxOperand &place = o.items.back();
  size_t want = form.gather ? 5 : form.rank;
  if (place.items.size() != want)
    return d.fail("ptx_operand: tensor operand must have " + dec(int64_t(want)) +
                  " coordinates, got " + dec(int64_t(place.items.size())));
  for (size_t i = 0; i < want; ++i)
    form.coords[i] = d.source(place.items[i], Type::s32);
  if (form.overridesAddress)
    form.overrideAddress = d.source(o.items[1], Type::b64);
  if (form.overridesShape) {
    const PtxOperand &sizes = o.items[2], &strides = o.items[3];
    if (sizes.items.size() != form.rank || strides.items.size() != form.rank - 1)
      return d.fail("ptx_operand: overrides must have a size for each dimension and a stride for "
                    "all but the first");
    for (size_t i = 0; i < form.rank; ++i)
      form.overrideSizes[i] = d.source(sizes.items[i], Type::b16);
    for (size_t i = 0; i + 1 < form.rank; ++i)
      form.overrideStrides[i] = d.source(strides.items[i], Type::b32);
    form.overrideUpper = d.source(o.items[4], Type::b16);
  }
  return d.error.empty();
}

Outcome nothing(Warp &, const Instruction &) { return Outcome::next; }

} // namespace

Outcome runTma(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const CopyForm *>(in.extra);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    Outcome o = form.kind == CopyForm::Kind::load ? issueBulkLoad(w, in, form, l)
                                                  : issueBulkStore(w, in, form, l);
    if (o == Outcome::error)
      return o;
  }
  return issued(w);
}

bool decodeBulk(Decoder &d, bool reduce) {
  auto form = std::make_shared<CopyForm>();
  Instruction in;
  bool prefetch = d.take("prefetch");
  form->tensor = d.take("tensor");
  if (form->tensor) {
    int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
    if (rank < 0)
      return d.fail("ptx_modifier: cp.async.bulk.tensor must have a rank from .1d to .5d");
    form->rank = unsigned(rank + 1);
  }
  if (prefetch) {
    bool global = d.take("global");
    d.takeHints();
    d.take("L2");
    d.takeOneOf({"tile", "tile::gather4"});
    d.take("L2::cache_hint");
    in.run = nothing;
    d.emit(in);
    return global;
  }
  form->gather = d.takeOneOf({"tile::gather4", "tile::scatter4"}) >= 0;
  d.take("tile");
  if (form->gather && form->rank != 2)
    return d.fail("ptx_modifier: gather4 and scatter4 must be .2d");
  bool load = d.take("mbarrier::complete_tx::bytes"), store = d.take("bulk_group");
  bool cluster = d.take("shared::cluster"), cta = d.take("shared::cta"), global = d.take("global");
  int multicast =
      d.takeOneOf({"multicast::cluster", "multicast::cluster::16b", "multicast::cluster::32b"});
  form->multicast = multicast >= 0;
  if (multicast == 2 && !facts::supports(d.arch, facts::Feature::multicast32))
    return d.fail("ptx_target: .multicast::cluster::32b must have a target with multicast32, got " +
                  std::string(facts::name(d.arch)));
  form->overridesAddress = d.take("override::global_address");
  form->overridesShape = d.take("override::global_dim_stride");
  if (form->overridesAddress && !facts::supports(d.arch, facts::Feature::tmaOverride))
    return d.fail("ptx_target: .override must have a target with tma_override, got " +
                  std::string(facts::name(d.arch)));
  if (form->overridesShape && (!form->overridesAddress || form->gather || form->rank < 2 ||
                               (form->multicast && multicast != 2)))
    return d.fail("ptx_modifier: .override::global_dim_stride must be in tile mode of rank 2 to 5, "
                  "with .override::global_address, and multicast by .multicast::cluster::32b");
  int group = d.takeOneOf({"cta_group::1", "cta_group::2"});
  form->ctaGroup = group == 1 ? 2 : 1;
  bool policy = d.take("L2::cache_hint"), byteMask = d.take("cp_mask");
  if (reduce) {
    form->kind = CopyForm::Kind::reduce;
    int op = d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    // Into shared memory only from the own CTA's, and not through a map.
    if (op < 0 || (load && (form->tensor || global || !cluster || !cta)))
      return false;
    form->reduceOp = unsigned(op);
    d.take("noftz");
    d.kernel.talksThroughGlobal |= global;
    if (!form->tensor)
      form->reduceType = d.takeType();
  }
  if (load == store)
    return false;
  if (load) {
    form->kind = CopyForm::Kind::load;
    form->toCluster = cluster;
    form->fromShared = cluster && cta && !global;
    if (!(cluster || cta) || form->multicast != (form->multicast && cluster))
      return d.fail("ptx_modifier: .multicast::cluster must write .shared::cluster");
    size_t next = form->tensor ? 2 : 3;
    if (!d.expectOperands(next + 1 + form->multicast + policy))
      return false;
    form->dst = slot(d, d.operand(0));
    if (form->tensor) {
      if (!takeMap(d, d.operand(1), *form, form->src))
        return false;
    } else {
      form->src = slot(d, d.operand(1));
      form->size = d.source(2, Type::u32);
    }
    form->mbar = slot(d, d.operand(next));
    if (form->multicast)
      form->mask = d.source(next + 1, multicast == 2 ? Type::b32 : Type::b16);
  } else {
    if (!global || !cta)
      return false;
    size_t fixed = form->tensor ? 2 : 3;
    if (!d.expectOperands(fixed + policy + byteMask))
      return false;
    if (form->tensor) {
      if (!takeMap(d, d.operand(0), *form, form->dst))
        return false;
    } else {
      form->dst = slot(d, d.operand(0));
      form->size = d.source(2, Type::u32);
    }
    form->src = slot(d, d.operand(1));
    if (byteMask)
      form->byteMask = d.source(fixed + policy, Type::b16);
    if (reduce && !form->tensor && form->reduceType == Type::none)
      return false;
    if (!reduce)
      form->kind = CopyForm::Kind::store;
  }
  if (!d.error.empty())
    return false;
  in.run = runTma;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return true;
}

} // namespace blockscale::emu
