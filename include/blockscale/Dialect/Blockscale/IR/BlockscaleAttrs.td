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
def Shape3Param : AttrOrTypeParameter<"::blockscale::Shape3", "MxNxK">;

def Blockscale_ScalesAttr : Blockscale_Attr<"Scales", "scales"> {
  let summary = "encoding of a scale tensor: format and layout";
  let description = [{
    `tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>`: rows x scales per
    row. `linear` is row-major; `tiled` is 512-byte tiles of 128 rows x 4
    scales, K tiles innermost, padded to whole tiles: the real bytes are
    ceil(rows/128) * ceil(cols/4) * 512. The shape stays the logical one.
  }];
  let parameters = (ins ScaleFormatParam:$format, ScaleLayoutParam:$layout);
  let assemblyFormat = "`<` $format `,` $layout `>`";
}

def Blockscale_ProblemAttr : Blockscale_Attr<"Problem", "problem"> {
  let summary = "a block-scaled product, independent of how operands are held";
  let description = [{
    D[m, n] = act(alpha * sum_k A[m, k] sa[m, k/block] B[n, k] sb[n, k/block] + bias[n]).
    A is [m, k], B is [n, k], both K-major; D is [m, n] row-major. Carried by
    ops whose operands are packed bytes, so that the logical shape, which
    decides what is real, is never lost.
  }];
  let parameters = (ins
    "int64_t":$m, "int64_t":$n, "int64_t":$k,
    FormatParam:$a, FormatParam:$b,
    ScaleFormatParam:$scale, "int64_t":$block,
    ScaleLayoutParam:$sfa, ScaleLayoutParam:$sfb,
    FormatParam:$out);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_ScheduleAttr : Blockscale_Attr<"Schedule", "schedule"> {
  let summary = "every decision about one kernel";
  let description = [{
    `mma` and `inst` are the instruction's kind and MxNxK; `tile` the CTA
    tile with K in elements per stage; `stages` the operand ring;
    `accumulators` the accumulator stages in tensor memory; `epilogue` how D
    leaves the SM: `tma_store` through swizzled staging with `staging` buffers of
    16 KiB, or `plain_store`; `ctas` the largest number of persistent CTAs.
  }];
  let parameters = (ins
    ArchParam:$arch, MmaKindParam:$mma, Shape3Param:$inst,
    "int64_t":$cta_group, Shape3Param:$tile,
    "int64_t":$stages, "int64_t":$accumulators,
    AttrOrTypeParameter<"::blockscale::Epilogue", "how D is stored">:$epilogue,
    "int64_t":$staging, "int64_t":$ctas);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_TmaMapAttr : Blockscale_Attr<"TmaMap", "tma"> {
  let summary = "a tensor map: every field of the driver's encode call but the address";
  let description = [{
    Dimension 0 is innermost; `strides` are bytes of dimensions 1.., `box` and
    `dims` elements.
  }];
  let parameters = (ins
    FactsParam<"TmaType", "element type">:$type,
    ArrayRefParameter<"int64_t">:$dims, ArrayRefParameter<"int64_t">:$strides,
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
