//===- BlockscaleAttrs.td - problem, schedule, scales ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enum parameters are the plain C++ enums of Facts; their keywords are the
// names in the facts tables (see FactsParameters.h), so no case is listed twice.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_ATTRS_TD
#define BLOCKSCALE_ATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Blockscale_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Blockscale_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

class FactsParam<string cppType, string desc>
    : AttrOrTypeParameter<"::blockscale::facts::" # cppType, desc>;

def ArchParam : FactsParam<"Arch", "target architecture">;
def FormatParam : FactsParam<"Format", "element format">;
def ScaleFormatParam : FactsParam<"ScaleFormat", "scale format">;
def ScaleLayoutParam : FactsParam<"ScaleLayout", "layout of a scale tensor">;
def MmaKindParam : FactsParam<"MmaKind", "kind of tcgen05.mma">;
/// Which dimension of an operand is innermost; K where nothing is said.
def MajorParam : DefaultValuedParameter<"::blockscale::facts::Major", "::blockscale::facts::Major::k">;
def AccumulatorColumnsParam
    : DefaultValuedParameter<"::blockscale::AccumulatorColumns", "::blockscale::AccumulatorColumns::disjoint">;
def Shape3Param : AttrOrTypeParameter<"::blockscale::Shape3", "MxNxK">;
/// An extent that may be known at launch only, ?.
def ExtentParam : AttrOrTypeParameter<"int64_t", "extent, or ?"> {
  let parser = "::blockscale::parseExtent($_parser)";
  let printer = "::blockscale::printExtent($_printer, $_self)";
}
def ExtentsParam : ArrayRefParameter<"int64_t", "extents, each of which may be ?"> {
  let parser = "::blockscale::parseExtents($_parser)";
  let printer = "::blockscale::printExtents($_printer, $_self)";
}
/// CTAs of a cluster; one where nothing is said.
def ClusterParam : DefaultValuedParameter<"::blockscale::ClusterShape", "::blockscale::ClusterShape{}">;

def Blockscale_ScalesAttr : Blockscale_Attr<"Scales", "scales",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "encoding of a scale tensor: format and layout";
  let description = [{
    `tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>`: rows x scales per
    row. `linear` is row-major; `tiled` is 512-byte tiles of 128 rows x 4
    scales, K tiles innermost, padded to whole tiles: the real bytes are
    ceil(rows/128) * ceil(cols/4) * 512. The shape stays the logical one.

    Rules of a tensor type with this encoding:
    - scales_c1: the shape is a matrix, rows x scales per row, or a batch of them, each
      padded by itself.
    - scales_c2: the element type is i8, or f8E8M0FNU for ue8m0, or f8E4M3FN for ue4m3.
  }];
  let parameters = (ins ScaleFormatParam:$format, ScaleLayoutParam:$layout);
  let assemblyFormat = "`<` $format `,` $layout `>`";
}

def Blockscale_ScaleMatrixAttr : Blockscale_Attr<"ScaleMatrix", "scale_matrix"> {
  let summary = "shape, format and layout of scales that are held as bytes";
  let description = [{
    `rows` x `cols` scales of one byte each; `tiled` bytes include the padding. `rows` may
    be ?, known at launch only. `batches` such matrices lie one behind the other, each padded
    by itself.
  }];
  let parameters = (ins ExtentParam:$rows, "int64_t":$cols, ScaleFormatParam:$format,
    ScaleLayoutParam:$layout, DefaultValuedParameter<"int64_t", "1">:$batches);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Bytes in memory, padding included; ? where the rows are.
    int64_t getBytes() const;
    ScaleMatrixAttr withRows(int64_t rows) const {
      return get(getContext(), rows, getCols(), getFormat(), getLayout(), getBatches());
    }
  }];
}

def Blockscale_BlockedAttr : Blockscale_Attr<"Blocked", "blocked"> {
  let summary = "a block-scaled matrix whose elements and scales are held as bytes";
  let description = [{
    `rows` x `k` elements, one scale for each `block` of a row. `rows` may be ?, known at launch
    only.
  }];
  let parameters = (ins ExtentParam:$rows, "int64_t":$k, FormatParam:$element,
    ScaleFormatParam:$scale, "int64_t":$block, ScaleLayoutParam:$layout);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// ? where rows are.
    int64_t getElementBytes() const;
    /// Bytes of the scales in memory, padding included; ? where rows are.
    int64_t getScaleBytes() const;
    BlockedAttr withRows(int64_t rows) const {
      return get(getContext(), rows, getK(), getElement(), getScale(), getBlock(), getLayout());
    }
  }];
}

def Blockscale_NibblesAttr : Blockscale_Attr<"Nibbles", "nibbles"> {
  let summary = "which nibble of a byte holds the first of two 4-bit elements";
  let parameters = (ins
    AttrOrTypeParameter<"::blockscale::NibbleOrder", "low_first or high_first">:$order);
  let assemblyFormat = "`<` $order `>`";
}

def Blockscale_MajorAttr : Blockscale_Attr<"Major", "major"> {
  let summary = "which dimension of an operand is innermost: k or mn";
  let parameters = (ins FactsParam<"Major", "k or mn">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Blockscale_ActivationAttr : Blockscale_Attr<"Activation", "activation"> {
  let summary = "a function of each element of a product";
  let description = [{
    - `relu`: max(x, 0), NaN where x is.
    - `gelu`: x Phi(x), by erf; `gelu_tanh`: the usual approximation of it by tanh.
    - `silu`: x / (1 + e^-x).

    Kernels compute e^y by ex2.approx and reciprocals by rcp.approx; what they return is within
    2^-21 |x| of the function in exact arithmetic. `none` is not written.
  }];
  let parameters = (ins FactsParam<"Activation", "relu, gelu, gelu_tanh or silu">:$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def Blockscale_GateAttr : Blockscale_Attr<"Gate", "gate"> {
  let summary = "pairs of columns of a product, one of which gates the other";
  let description = [{
    `#blockscale.gate<function = silu, interleave = 64>`: columns of the product come in
    groups of twice `interleave`; the first `interleave` of a group are gates g, the others
    values u, and D has f(g) * u of each pair, so half as many columns. `silu` is SwiGLU,
    `gelu` and `gelu_tanh` are GeGLU, `relu` is ReGLU.

    Rules:
    - gate_c1: function is not none.
    - gate_c2: interleave is 64.
  }];
  let parameters = (ins FactsParam<"Activation", "f, of the gates">:$function, "int64_t":$interleave);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_QuantizedAttr : Blockscale_Attr<"Quantized", "quantized"> {
  let summary = "scales of a result that is quantised as it is written";
  let description = [{
    `#blockscale.quantized<scale = ue8m0, block = 32, layout = tiled>`: one scale for each
    `block` columns of a row, by the rules of `blockscale.quantize`. Padding of tiled scales is zero.
  }];
  let parameters = (ins ScaleFormatParam:$scale, "int64_t":$block, ScaleLayoutParam:$layout);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_SequenceAttr : Blockscale_Attr<"Sequence", "sequence"> {
  let summary = "how scales become factors: see #blockscale.quantize_schedule";
  let parameters = (ins AttrOrTypeParameter<"::blockscale::QuantizeSequence", "sequence">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Blockscale_PitchedAttr : Blockscale_Attr<"Pitched", "pitched",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "encoding of a matrix whose rows have room behind them";
  let description = [{
    `tensor<178x48xf4E2M1FN, #blockscale.pitched<bytes = 32>>`: from one row to the next are
    32 bytes, of which the first 24 hold its elements. What lies behind them is the
    caller's and is not read; with `zero_tail` it is zero, as `blockscale.repitch` leaves it.
    The real bytes are rows * bytes, also behind the last row.

    Rules of a tensor type with this encoding:
    - pitched_c1: the type is a matrix of floats of 4, 6 or 8 bits, rows of whole bytes; their number
      may be ?.
    - pitched_c2: a row fits its pitch, and the whole takes at most 2^40 bytes.
  }];
  let parameters = (ins "int64_t":$bytes, DefaultValuedParameter<"bool", "false">:$zero_tail);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_RowsAttr : Blockscale_Attr<"Rows", "rows"> {
  let summary = "rows of bytes and their pitches before and after a copy";
  let description = [{
    `count` rows of `bytes` bytes each; a row begins every `from` bytes of the source and
    every `to` bytes of the target. `count` may be ?: the source's bytes say it.
  }];
  let parameters = (ins ExtentParam:$count, "int64_t":$bytes, "int64_t":$from, "int64_t":$to);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_ProblemAttr : Blockscale_Attr<"Problem", "problem"> {
  let summary = "a block-scaled product, independent of how operands are held";
  let description = [{
    D[m, n] = alpha * sum_k A[m, k] sa[m, k/block] B[n, k] sb[n, k/block] + bias[n] + beta * C[m, n].
    A is [m, k] and B is [n, k], or [k, m] and [k, n] where `major_a` or `major_b` is
    mn; scales are rows x k / block in any case; D is [m, n] row-major. Carried by
    ops whose operands are packed bytes, so that the logical shape, which
    decides what is real, is never lost. `pitch_a` or `pitch_b` is the number of bytes
    from one row of the operand to the next where they do not lie dense. `m` may be ?: then
    a launch says it, and all that is chosen is chosen without it. With `gate` D has half as
    many columns; with `quantized` it is elements of the narrow format `out` and their scales.

    `batches` such products are one problem: A, its scales, C and D are as many matrices of these sizes,
    one behind the other, each matrix of tiled scales with padding of its own. So are B and its scales
    but for `shared_b`: then all products have the same. Alpha, bias and beta are of all.
  }];
  let parameters = (ins
    ExtentParam:$m, "int64_t":$n, "int64_t":$k,
    FormatParam:$a, FormatParam:$b,
    ScaleFormatParam:$scale, "int64_t":$block,
    ScaleLayoutParam:$sfa, ScaleLayoutParam:$sfb,
    FormatParam:$out, MajorParam:$major_a, MajorParam:$major_b,
    DefaultValuedParameter<"int64_t", "0">:$pitch_a,
    DefaultValuedParameter<"int64_t", "0">:$pitch_b,
    OptionalParameter<"::blockscale::QuantizedAttr">:$quantized,
    OptionalParameter<"::blockscale::GateAttr">:$gate,
    DefaultValuedParameter<"int64_t", "1">:$batches,
    DefaultValuedParameter<"bool", "false">:$shared_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool hasDynamicM() const { return ::blockscale::isDynamic(getM()); }
    /// The same product of so many rows.
    ProblemAttr withM(int64_t m) const;
    bool isBatch() const { return getBatches() != 1; }
    /// Matrices of B in memory.
    int64_t getBatchesOfB() const { return getSharedB() ? 1 : getBatches(); }
    ProblemAttr withBatches(int64_t batches, bool sharesB) const;
    /// One of the products.
    ProblemAttr ofOne() const { return withBatches(1, false); }
    /// Bytes of each operand in memory, scale padding included; ? where they depend on an m of ?.
    int64_t getABytes() const;
    int64_t getBBytes() const;
    int64_t getSfaBytes() const;
    int64_t getSfbBytes() const;
    int64_t getOutBytes() const;
    /// Columns of D.
    int64_t getOutColumns() const { return getGate() ? getN() / 2 : getN(); }
    /// What D is where it is quantised; null elsewhere.
    BlockedAttr getOutBlocked() const;
    /// Bytes from one row of an operand to the next, dense or not.
    int64_t getRowPitchA() const;
    int64_t getRowPitchB() const;
    /// What is multiplied, whatever the shape.
    ::blockscale::facts::ProductFormat getFormats() const {
      return {getA(), getB(), getScale(), getBlock()};
    }
    /// Scales of one row: k / block.
    int64_t getScalesPerRow() const { return getK() / getBlock(); }
  }];
}

def Blockscale_ScheduleAttr : Blockscale_Attr<"Schedule", "schedule"> {
  let summary = "every decision about one kernel";
  let description = [{
    `mma` and `inst` are the instruction's kind and MxNxK; `tile` what one CTA, or a
    pair of two (`cta_group` 2), computes, with K in elements per stage; tiles of 64 or 192 columns start in the middle of
    a tile of B's scales every other time, and the kernel shifts its columns; `stages` the operand ring;
    `accumulators` the accumulator stages in tensor memory, and `accumulator_columns` whether two of
    them are disjoint or overlapped: then the epilogue reads the columns that both hold
    first, and gives the accumulator back before it reads the others; `epilogue` how D
    leaves the SM: `tma_store` through swizzled staging with `staging` buffers of
    16 KiB, or `plain_store`; `ctas` the largest number of persistent CTAs; `cluster` how
    many of them along M and N make a cluster, in which those of one row of tiles share A
    and those of one column B (1x1 where nothing is said).

    CTA r of a cluster MxN has row r % M and column r / M. The CTAs of rows 2 i and 2 i + 1
    are a pair: each holds 128 of its 256 rows of A and of D, half of its columns of B, and
    all scales of B; the even one issues the products of both.

    Where `tile` has twice inst's M, two products take the same B one after another, which
    the first keeps for the second. Product i takes the i-th rows of the tile, 128 or those of
    a pair, 256: tile row 256 i + 128 c + r is row r of CTA c in product i of a pair, the
    permutation (128, 2, 2):(1, 256, 128) of rows, products and CTAs. A CTA's rows of A and
    of A's scales are so two boxes. An accumulator stage is both products.

    Where K of `inst` is 96, a K tile is three stages of 128 bytes and eight instructions, and
    scales have a ring of `scale_stages` buffers of their own, each with 12 scales of every row.

    Where D is quantised, `quantizer` is how its scales become factors, as of
    `#blockscale.quantize_schedule`.

    Rules of a problem with this schedule:
    - schedule_c1: the architecture has block-scaled tcgen05.mma.
    - schedule_c2: `mma` is the kind that multiplies the problem's formats.
    - schedule_c3: `inst` is a shape that the kind has on the architecture.
    - schedule_c4: `cta_group` is 1, or 2 with M = 256 of inst: how a pair's scales of A lie
      with M = 128 is unverified.
    - schedule_c5: `tile` is inst's M, or twice that on a target with `.collector::b`, and N, N is 64, 128, 192 or 256, and K is that of a
      row of 128 bytes: 256 elements of the kinds of FP4, 128 of mxf8f6f4; of three such rows, 768, where
      K of inst is 96.
    - schedule_c6: `accumulators` is 1 or 2, and all columns fit tensor memory;
      `accumulator_columns` is overlapped only where two stages and the scales do not fit side by side.
    - schedule_c7: `epilogue` is plain_store where a row of D is not a multiple
      of 16 bytes: a TMA store writes whole 16-byte chunks; also where D is quantised.
    - schedule_c8: `staging` is 1 or 2 for tma_store and divides the 128-byte chunks of a
      row of the tile, 0 for plain_store.
    - schedule_c9: `stages` is at least 1, and all buffers fit shared memory.
    - schedule_c10: `ctas` is 1 .. 2^31 - 1, and a whole number of clusters.
    - schedule_c11: K of an instruction is 32 where an operand has 6 bits: TMA has no packed
      type of 6 bits.
    - schedule_c12: `scale_stages` is at least 1 where K of inst is 96, and 0 elsewhere.
    - schedule_c13: K of inst is 96 on sm_103a only: whether the descriptors of sm_107a have an absolute
      leading address is unproven.
    - schedule_c14: `cluster` is 1, 2 or 4 by 1, 2 or 4 CTAs, and whole pairs along M.
    - schedule_c15: `quantizer` is there where D is quantised, and only there: a sequence for its
      scales whose conversions the architecture has.
    - schedule_c16: N of `tile` is 128 or 256 where D has gates: both columns of a pair are in it.
    - schedule_c17: M of `tile` is that of inst where D is quantised: ptxas spills in some epilogues of
      two products.
  }];
  let parameters = (ins
    ArchParam:$arch, MmaKindParam:$mma, Shape3Param:$inst,
    "int64_t":$cta_group, Shape3Param:$tile,
    "int64_t":$stages, "int64_t":$accumulators,
    AttrOrTypeParameter<"::blockscale::Epilogue", "how D is stored">:$epilogue,
    "int64_t":$staging, "int64_t":$ctas, ClusterParam:$cluster,
    AccumulatorColumnsParam:$accumulator_columns, DefaultValuedParameter<"int64_t", "0">:$scale_stages,
    OptionalParameter<"::blockscale::SequenceAttr">:$quantizer);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_TmaMapAttr : Blockscale_Attr<"TmaMap", "tma"> {
  let summary = "a tensor map: every field of the driver's encode call but the address";
  let description = [{
    Dimension 0 is innermost; `strides` are bytes of dimensions 1.., `box` and
    `dims` elements. A dimension of ? is a value of `blockscale.tensor_map`.
  }];
  let parameters = (ins
    FactsParam<"TmaType", "element type">:$type,
    ExtentsParam:$dims, ExtentsParam:$strides,
    ArrayRefParameter<"int64_t">:$box, ArrayRefParameter<"int64_t">:$element_strides,
    FactsParam<"TmaSwizzle", "swizzle">:$swizzle, FactsParam<"TmaFill", "out-of-bounds fill">:$fill,
    FactsParam<"TmaL2Promotion", "L2 promotion">:$l2);
  let assemblyFormat = [{
    `<` `type` `=` $type `,` `dims` `=` `[` $dims `]` `,` `strides` `=` `[` $strides `]` `,`
    `box` `=` `[` $box `]` `,` `element_strides` `=` `[` $element_strides `]` `,`
    `swizzle` `=` $swizzle `,` `fill` `=` $fill `,` `l2` `=` $l2 `>`
  }];
}

#endif // BLOCKSCALE_ATTRS_TD
