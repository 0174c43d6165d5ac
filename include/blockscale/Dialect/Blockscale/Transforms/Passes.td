//===- Passes.td - passes on the problem level -------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order of the pipeline; each also runs alone on one op.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TRANSFORMS_PASSES_TD
#define BLOCKSCALE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportLinalg : Pass<"blockscale-import-linalg"> {
  let summary = "turns linalg.generic of arith.scaling_extf into blockscale.gemm";
  let description = [{
    A product as frontends write it: `linalg.generic` over m, n, k / block and block, with a
    batch in front or without, whose body is out + scaling_extf(a, sa) * scaling_extf(b, sb).
    Elements lie (rows, k / block, block) or, of 8 bits, (k / block, block, rows); scales are
    f8E8M0FNU by 32, or by 16 or 32 of FP4, or f8E4M3FN by 16, which are then unsigned.
    Elements and scales may be i8 that the body, or an op before, casts. Operands become
    matrices by `blockscale.reinterpret`; sums that do not start from zero become C. The left
    side has the batch, the right side may be shared.
    Products are exact and summed in f32, also where the body names a narrower type.

    What does not match stays as it is, with a remark; with `strict` that is an error.

    Rules:
    - import_linalg_c1: a product has four inputs and one result, tensors of static shape
      but for the rows of the left side, which may be ? where there is no batch.
    - import_linalg_c2: two loops reduce, two or three are parallel and index the result in
      order.
    - import_linalg_c3: the body is the one above, in any order of factors and summands.
    - import_linalg_c4: maps are those above.
    - import_linalg_c5: elements have 4, 6 or 8 bits; scales are f8E8M0FNU or f8E4M3FN, since
      `arith.scaling_extf` rounds others.
    - import_linalg_c6: it is a product that `blockscale.gemm` takes, and the remark has that
      op's rule.

    Doc test: test/Transforms/import-linalg.mlir.
  }];
  let options = [
    Option<"strict", "strict", "bool", /*default=*/"false",
           "refuse a generic of arith.scaling_extf that is no product">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def CheckEncodings : Pass<"blockscale-check-encodings"> {
  let summary = "refuses ops of other dialects that would consume or lose a scale layout";
  let description = [{
    Upstream ops take tensors with any encoding: a `tensor.cast` between two scale
    layouts verifies and bufferization deletes it, `tensor.empty` of a tiled
    tensor allocates too few bytes. Scales may be held by function arguments,
    constants, calls, returns and scf.if / scf.for, which pass them on whole;
    everything else on them is refused, naming `blockscale.relayout_scales`.

    Rules:
    - check_encodings_c1: an op on an encoded scale tensor is one of ours, or passes it on whole.

    Doc test: test/Transforms/check-encodings.mlir.
  }];
}

def ExpandBatches : Pass<"blockscale-expand-batches"> {
  let summary = "a gemm with a batch becomes products of matrices where one launch cannot take it";
  let description = [{
    Where all batches share B, and A and its scales lie dense, all rows are one product. Else a
    batch is left alone, and one launch multiplies it, where TMA can fetch the rows of A and B as
    they are: a pitch of whole 16 bytes, and, where mxf8f6f4 reads elements of 4 or 6 bits, k a
    multiple of 128. Of other rows, which are copied to another pitch first, and of a batch of one, it makes
    a loop of launches, in which each operand is a part of the bytes (`blockscale.reinterpret`)
    and out a slice, so that nothing else is copied. Rows of each matrix may be ?. A product
    whose result has no elements, with a batch or without, is its out.

    Doc test: test/Transforms/expand-batches.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def NormalizeScales : Pass<"blockscale-normalize-scales", "::mlir::ModuleOp"> {
  let summary = "turns edge types of scales, f8E8M0FNU and f8E4M3FN, into encoded i8";
  let description = [{
    A tensor that is used as scales becomes `tensor<..xi8, #blockscale.scales<..>>`,
    through function signatures, calls and returns; without an encoding it is
    linear. Constants keep their bits: an E8M0 byte 0xFF stays NaN, which MLIR 22's
    own conversions turn into infinity. Arguments and results remember their old
    type in `blockscale.type`.

    Rules:
    - normalize_scales_c1: scales come from a function argument, a constant, a call or one of our ops.
    - normalize_scales_c2: a value that is used as scales is used in no other way.
    - normalize_scales_c3: a constant ue4m3 scale has a zero top bit.

    Doc test: test/Transforms/normalize-scales.mlir.
  }];
}

/// Fields of a warp_schedule that may be pinned: of the choice, and of what depends on it.
class WarpPinList {
  list<Option> fields = [
    Option<"kernel", "kernel", "std::string", /*default=*/"\"\"",
           "of blocks: pins raw_nibble, wide or narrow">,
    Option<"kd", "kd", "int64_t", /*default=*/"0", "of blocks: pins the chunks of one pass">,
    Option<"sums", "sums", "std::string", /*default=*/"\"\"",
           "of blocks: pins two_word or packed">,
    Option<"activations", "activations", "std::string", /*default=*/"\"\"",
           "of blocks: pins chunks or transposed">,
    Option<"minima", "minima", "std::string", /*default=*/"\"\"",
           "of blocks: pins fold or mma">,
    Option<"convert", "convert", "std::string", /*default=*/"\"\"",
           "of blocks: pins offset or cvt">,
    Option<"weights", "weights", "std::string", /*default=*/"\"\"",
           "of blocks: pins blocks or plane">,
    Option<"pragma", "pragma", "std::string", /*default=*/"\"\"",
           "of blocks: pins none or mma_throughput">,
    Option<"flight", "flight", "int64_t", /*default=*/"0",
           "of blocks: pins the groups whose loads are in flight together">,
    Option<"warpRows", "warp-rows", "int64_t", /*default=*/"0",
           "of blocks: pins the rows that a warp multiplies, 16 or 32">,
    Option<"split", "split", "int64_t", /*default=*/"0",
           "of blocks: pins the CTAs of a cluster that split k: 1, 2, 4 or 8">,
    Option<"stages", "stages", "int64_t", /*default=*/"0", "pins the operand stages">,
    Option<"quantizer", "quantizer", "std::string", /*default=*/"\"device\"",
           "where activations become chunks or tiles: device or host">];
}
def WarpPinOptions : WarpPinList;

def InsertRelayouts : Pass<"blockscale-insert-relayouts"> {
  let summary = "makes every copy that a gemm needs visible";
  let description = [{
    Linear scales get a `relayout_scales`; tiled scales whose rows do not fill
    whole tiles get a `zero_scale_tail`, unless their producer zeroes the padding;
    operands with `nibbles_x = high_first` get a `swap_nibbles`; f32 or f16 activations
    of a product of blocks get a `quantize_chunks`. It makes tiles, and chunks that are
    given or that the host makes get a `transpose_chunks`, where the schedule of the product, or the one that blockscale-choose-schedule would choose
    with the same target and pins, reads transposed activations; q4_K weights get a `decode_scales` where it reads a plane. With
    auto-relayout=false a linear operand is refused (gemm_c14).

    Doc test: test/Transforms/insert-relayouts.mlir.
  }];
  let options = [
    Option<"autoRelayout", "auto-relayout", "bool", /*default=*/"true",
           "insert relayout_scales for linear scales; false: refuse them">,
    Option<"arch", "arch", "std::string", /*default=*/"\"\"", "target, such as sm_90a">]
    # WarpPinOptions.fields;
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def ChooseSchedule : Pass<"blockscale-choose-schedule"> {
  let summary = "level 1 to 2: gives every gemm a schedule for a chip";
  let description = [{
    FP4 x FP4 is multiplied by a kind of FP4, all else by mxf8f6f4. The instruction has the
    longest K that the chip has, the tile holds and TMA can bring both operands for;
    tiles are 128 x 128 with rows of 128 bytes. Where such tiles are more than SMs and the rows are known, the tile, a pair of CTAs, two products that share B,
    and K = 96 on sm_103a are those that a model gives the fewest cycles (TilePlanning.h), unless the tile, the pair, the cluster or the CTAs are
    pinned; a cluster larger than a pair only a pin makes. As many operand stages as fit shared memory
    beside one staging buffer, then a second staging buffer if it fits; two
    accumulator stages where tensor memory holds them; TMA stores where rows of D are whole 16-byte chunks, else
    plain stores; as many persistent CTAs as the chip's default product has SMs.
    Where TMA cannot fetch A or B as the schedule reads them (gemm_c13), a
    `blockscale.repitch` is put in front.
    A schedule that is there already is verified and kept. A pinned field is kept
    too; the others are chosen around it.

    Rules:
    - schedule_c18: a pinned field is one of a product that gets its schedule here: of those of
      blocks none is pinned where all products have scaled operands.

    A product of blocks gets a `warp_schedule`: of raw_nibble, wide and narrow the
    kernel that reads the fewest bytes for each block that an SM holds, or the pinned
    one; where it cannot run, the next that can, and `blockscale.fallback` says why. It
    reads A as it is by now (blockscale-insert-relayouts transposes it), and subtracts the
    minima by a product of their own only where the contract is bounded. One of halves gets
    a `wgmma_schedule`. Where the contract is not ordered and tiles leave SMs idle, k is split.
    A `quantize_chunks` gets a `quantize_schedule`, unless the host is to compute it.

    Doc test: test/Transforms/choose-schedule.mlir.
  }];
  let options = [
    Option<"arch", "arch", "std::string", /*default=*/"\"\"", "target, such as sm_100a">,
    Option<"mma", "mma", "std::string", /*default=*/"\"\"",
           "pins the kind: mxf4, mxf4nvf4 or mxf8f6f4">,
    Option<"tileM", "tile-m", "int64_t", /*default=*/"0",
           "pins the rows of a tile: 128 for each CTA, or twice that, where two products share B">,
    Option<"tileN", "tile-n", "int64_t", /*default=*/"0", "pins the columns of a tile">,
    Option<"instK", "inst-k", "int64_t", /*default=*/"0", "pins K of the instruction">,
    Option<"accumulators", "accumulators", "int64_t", /*default=*/"0", "pins the accumulator stages">,
    Option<"epilogue", "epilogue", "std::string", /*default=*/"\"\"",
           "pins the epilogue: tma_store or plain_store">,
    Option<"staging", "staging", "int64_t", /*default=*/"0", "pins the staging buffers of tma_store">,
    Option<"ctas", "ctas", "int64_t", /*default=*/"0", "pins the number of persistent CTAs">,
    Option<"ctaGroup", "cta-group", "int64_t", /*default=*/"0",
           "pins the CTAs that compute a tile together: 1, or 2 for a pair">,
    Option<"cluster", "cluster", "std::string", /*default=*/"\"\"",
           "pins the CTAs of a cluster along M and N, such as 2x1">]
    # WarpPinOptions.fields;
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def KeepOnDevice : Pass<"blockscale-keep-on-device", "::mlir::ModuleOp"> {
  let summary = "what one kernel writes and another reads stays on the device";
  let description = [{
    A copy to the host and a copy of the same memory back to the device become one device
    buffer where nothing writes the memory between them; the copy to the host goes too
    where nobody else reads it.

    Doc test: test/Transforms/keep-on-device.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def InsertChecks : Pass<"blockscale-insert-checks"> {
  let summary = "compares every scheduled gemm with a reference in f64";
  let description = [{
    Puts a `blockscale.check_gemm` behind each gemm, on the same operands. It is
    named after the kernel, `gemm_0` and so on in order. Runs after
    blockscale-choose-schedule, since the bound depends on the instruction's K.

    Rules:
    - insert_checks_c1: a gemm has a schedule.
    - insert_checks_c2: tiles of activations come from a quantize_chunks or a transpose_chunks, so
      that the reference has chunks.
    - insert_checks_c3: planes of weights come from a decode_scales, so that it has blocks.

    Doc test: test/Transforms/insert-checks.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def PackNarrow : Pass<"blockscale-pack-narrow", "::mlir::ModuleOp"> {
  let summary = "turns narrow tensors and scale tensors into tensors of bytes";
  let description = [{
    Tensors of 4-, 6- and 8-bit floats and encoded scale tensors become
    `tensor<BYTESxi8>`, in signatures, calls, returns, constants and our ops, which
    get the attributes of their packed form. Sizes are counted in bits: 64 FP4
    elements are 32 bytes, and tiled scales include their padding. Arguments and
    results of functions remember their logical type in `blockscale.type`.

    Rules:
    - pack_narrow_c1: an op on a narrow tensor is one of ours, or passes it on whole.
    - pack_narrow_c2: a narrow tensor has a static shape but for its rows.
    - pack_narrow_c3: scales of our ops are encoded i8 (blockscale-normalize-scales).
    - pack_narrow_c4: nibble orders are gone (blockscale-insert-relayouts).
    - pack_narrow_c5: a narrow constant is a dense literal.
    - pack_narrow_c6: `tensor.dim` of a narrow tensor asks for a known extent, or for the rows of
      elements or of linear scales.

    Doc test: test/Transforms/pack-narrow.mlir.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

#endif // BLOCKSCALE_TRANSFORMS_PASSES_TD
