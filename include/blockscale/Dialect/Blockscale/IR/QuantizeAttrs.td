//===- QuantizeAttrs.td - what is quantised, and how -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_QUANTIZEATTRS_TD
#define BLOCKSCALE_QUANTIZEATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"

def Blockscale_AmaxAttr : Blockscale_Attr<"Amax", "amax"> {
  let summary = "the largest finite magnitude of a whole matrix, as f32";
}

def Blockscale_QuantizeProblemAttr : Blockscale_Attr<"QuantizeProblem", "quantize_problem"> {
  let summary = "a matrix that is quantised, independent of how";
  let description = [{
    `rows` x `k` elements of `source`, k innermost, to `target`: `#blockscale.blocks<F>`,
    blocks that hold their scales, `#blockscale.blocked<...>`, elements and scales apart,
    or `#blockscale.amax`, the first step where the global scale is computed. `global` is
    where the scale of the whole matrix comes from: `given`, or `computed` from such an amax.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$k, FormatParam:$source,
    "::mlir::Attribute":$target,
    DefaultValuedParameter<"::blockscale::GlobalScale", "::blockscale::GlobalScale::none">:$global);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// At most one of the two.
    std::optional<::blockscale::facts::BlockFormat> getBlockFormat() const;
    ::blockscale::BlockedAttr getBlocked() const;

    int64_t getSourceBytes() const;
    int64_t getTargetBytes() const;
    int64_t getScaleBytes() const;
    /// The buffers of a kernel, which are its first parameters: name and bytes.
    ::llvm::SmallVector<std::pair<::llvm::StringRef, int64_t>> getBuffers() const;
  }];
}

def Blockscale_QuantizeScheduleAttr : Blockscale_Attr<"QuantizeSchedule", "quantize_schedule"> {
  let summary = "every decision about one kernel that quantises";
  let description = [{
    `sequence` is how scales become factors: `divide` by IEEE divisions, one for the scale
    and one for its reciprocal; `integer` by the bits of powers of two; `reciprocal` by
    cvt.rp.ue8m0x2, rcp.approx and a mask; `scaled` in the conversion itself; `remainder`,
    of scales that are no powers of two, by one reciprocal a block and, for each element, the
    remainder that its product leaves, which gives the quotient of a division. `blocks` is
    the blocks of one SM that registers must allow.

    Rules:
    - quantize_schedule_c1: kernels are built for the architecture
    - quantize_schedule_c2: `threads` is 256
    - quantize_schedule_c3: `blocks` is 1 .. what the threads of an SM allow
    - quantize_schedule_c4: the architecture has the conversions of `sequence`
  }];
  let parameters = (ins ArchParam:$arch,
    WarpKernelEnumParam<"QuantizeSequence", "how scales become factors">:$sequence,
    "int64_t":$threads, "int64_t":$blocks);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // BLOCKSCALE_QUANTIZEATTRS_TD
