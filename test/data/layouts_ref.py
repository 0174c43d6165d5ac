# ===- layouts_ref.py - reference for the data layouts, not product code ---===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Origin: the project's fact sheet on data layouts, where each formula was compared
# with CUTLASS 4.7.0, cutlass-dsl 4.8.1 and an H200. Tests only: the product's
# layouts (include/blockscale/Facts/Layouts*.h) were written apart from it.
#
# ===-----------------------------------------------------------------------===#

"""Executable reference for the data layouts of tcgen05, TMA, mma.sync and mbarrier.

Companion of layouts.md.  Pure Python, no dependency; every function takes plain
integers, and most also take numpy integer arrays (vectorised).  Units are in the
names: *_bytes, *_bits; TMEM columns are 32-bit cells.  No hardware is modelled here
beyond "which bit of which memory holds which element".

Naming: (m, n) accumulator coordinates, (row, k) operand coordinates where row is m for
A and n for B, lane/col = tensor-memory lane 0..127 / column, t = thread in a warp.
"""

# --------------------------------------------------------------------------- TMEM address


def taddr(lane, col):
    """32-bit tensor-memory address: lane in bits 31:16, column in bits 15:0."""
    return (lane << 16) | col


def taddr_lane(a):
    """Lane field (7 bits; scale-factor operands may carry an id in bits 31:30)."""
    return (a >> 16) & 0x7F


def taddr_col(a):
    return a & 0xFFFF


# --------------------------------------------------------------------- (1) accumulator, A


def d_place(m, n, M, N, cta_group=1, kind="dense", lane0=0):
    """Accumulator element (m, n) -> (cta, lane, col), col relative to D's base column.

    kind: 'dense', 'sparse' or 'ws'.  lane0 is the base lane: 0, or 16 where only half of
    the lanes are used (M=64 of cta_group::1; M=128 sparse of cta_group::2).
    cta: 0 = even CTA of the pair, 1 = odd.  One element per 32-bit cell, whatever its type
    (f16 D sits in bits 15:0 of its cell).
    """
    if cta_group == 1:
        if M == 128:
            return 0 * m, m, n
        if M == 64 and kind != "ws":
            return 0 * m, lane0 + (m % 16) + 32 * (m // 16), n
        if M == 64:
            return 0 * m, m + 64 * (n // (N // 2)), n % (N // 2)
        if M == 32 and kind == "ws":
            return 0 * m, m + 32 * (n // (N // 4)), n % (N // 4)
    elif cta_group == 2:
        if M == 256:
            return m // 128, m % 128, n
        if M == 128 and kind == "dense":
            r = m % 64
            return m // 64, r + 64 * (n // (N // 2)), n % (N // 2)
        if M == 128:  # sparse: half of the lanes
            r = m % 64
            return m // 64, lane0 + (r % 16) + 32 * (r // 16), n
    raise ValueError("no such accumulator layout")


def d_columns(M, N, cta_group=1, kind="dense"):
    """Number of TMEM columns the accumulator occupies in each CTA."""
    if kind == "ws" and M in (32, 64):
        return N // (128 // M)
    if cta_group == 2 and M == 128 and kind == "dense":
        return N // 2
    return N


def a_tmem_places(m, k, M, bits, cta_group=1, lane0=0):
    """A operand element (m, k) held in TMEM -> list of (cta, lane, col, bit).

    bits is the container width (16, 8, or 4 for packed mxf4).  Elements are packed, low
    bits first.  M=128 of cta_group::2 needs two copies (lanes r and r+64).
    """
    pos = k * bits
    col, bit = pos // 32, pos % 32
    if cta_group == 1:
        lane = m if M == 128 else lane0 + (m % 16) + 32 * (m // 16)
        return [(0 * m, lane, col, bit)]
    if M == 256:
        return [(m // 128, m % 128, col, bit)]
    return [(m // 64, m % 64, col, bit), (m // 64, m % 64 + 64, col, bit)]


def ab_rows_of_cta(cta, M, N, cta_group):
    """(A rows, B rows) read from each CTA's shared memory, as ranges."""
    if cta_group == 1:
        return range(M), range(N)
    return range(cta * (M // 2), (cta + 1) * (M // 2)), range(cta * (N // 2), (cta + 1) * (N // 2))


# --------------------------------------------------------------- (2) shared-memory operands

# swizzle name -> (number of bits, lowest target bit, distance to the source bits)
SWIZZLE = {
    "none": (0, 4, 3),
    "32B": (1, 4, 3),
    "64B": (2, 4, 3),
    "96B": (1, 4, 3),
    "128B": (3, 4, 3),
    "128B_32B": (2, 5, 2),
    "128B_64B": (1, 6, 1),
}
SPAN = {"none": 16, "32B": 32, "64B": 64, "96B": 96, "128B": 128, "128B_32B": 128, "128B_64B": 128}
PERIOD = {"none": 16, "32B": 256, "64B": 512, "96B": 256, "128B": 1024, "128B_32B": 512, "128B_64B": 256}
DESC_CODE = {"none": 0, "128B_32B": 1, "128B": 2, "64B": 4, "32B": 6}


def swizzle(addr, mode):
    """XOR of address bits.  addr is an absolute shared-memory byte address."""
    if mode == "128B_32B_FLIP8":
        a = swizzle(addr, "128B_32B")
        return a ^ (((a >> 7) & 1) << 3)
    bits, base, dist = SWIZZLE[mode]
    mask = ((1 << bits) - 1) << base
    return addr ^ ((addr >> dist) & mask)


def desc_encode(start, lbo, sbo, mode, base_offset=0, absolute=False, addr_bits=15):
    """64-bit shared-memory descriptor (addresses in bytes)."""
    f = (1 << addr_bits) - 1
    return (
        ((start >> 4) & f)
        | (((lbo >> 4) & f) << 16)
        | (((sbo >> 4) & 0x3FFF) << 32)
        | (1 << 46)
        | ((base_offset & 7) << 49)
        | (int(absolute) << 52)
        | (DESC_CODE[mode] << 61)
    )


def desc_decode(d, addr_bits=15):
    f = (1 << addr_bits) - 1
    code = (d >> 61) & 7
    return dict(
        start=(d & f) << 4,
        lbo=((d >> 16) & f) << 4,
        sbo=((d >> 32) & 0x3FFF) << 4,
        version=(d >> 46) & 7,
        base_offset=(d >> 49) & 7,
        absolute=(d >> 52) & 1,
        lut_half=(d >> 53) & 1,
        mode={v: k for k, v in DESC_CODE.items()}[code],
    )


def _phase(lin, mode, base_offset):
    """Apply the swizzle to a linear address whose pattern starts base_offset lines late."""
    if not base_offset:
        return swizzle(lin, mode)
    bits, base, dist = SWIZZLE[mode]
    mask = ((1 << bits) - 1) << base
    return lin ^ (((lin - (base_offset << 7)) >> dist) & mask)


def kmajor_addr(row, kbyte, start, lbo, sbo, mode, base_offset=0):
    """Byte address of byte `kbyte` of row `row` of one MMA's K-major operand.

    kbyte counts from the MMA's own first K byte (0..31, 0..63 for the long-K forms).
    """
    if mode == "none":
        return start + (row % 8) * 16 + (row // 8) * sbo + (kbyte // 16) * lbo + kbyte % 16
    lin = start + (row % 8) * SPAN[mode] + (row // 8) * sbo + kbyte
    return _phase(lin, mode, base_offset)


def kmajor_addr_k96(row, kbyte, start, next_buf, sbo):
    """K = 96 FP4 (48 bytes a row, 128B swizzle): chunks past the end of the 128-byte row
    continue at the absolute address next_buf (descriptor bit 52 = 1)."""
    chunk = (start >> 4) % 8 + kbyte // 16
    base = start - ((start >> 4) % 8) * 16
    if chunk >= 8:
        base, chunk = next_buf, chunk - 8
    lin = base + (row % 8) * 128 + (row // 8) * sbo + chunk * 16 + kbyte % 16
    return swizzle(lin, "128B")


def mnmajor_addr(mn, k, es, start, lbo, sbo, mode, base_offset=0):
    """Byte address of element (mn, k), MN-major (transposed) operand, es = bytes/element."""
    span = SPAN[mode]
    per = span // es  # elements of one contiguous run along MN
    krows = 4 if mode == "128B_32B" else 8
    if mode == "none":
        return start + (mn % per) * es + (mn // per) * sbo + (k % 8) * 16 + (k // 8) * lbo
    lin = start + (mn % per) * es + (mn // per) * lbo + (k % krows) * span + (k // krows) * sbo
    return _phase(lin, mode, base_offset)


def element_bits(k, fmt):
    """Bit position of element k inside its row of shared memory.

    fmt: 16, 8 (dense), 'fp4' (two per byte, element 0 in bits 3:0), 'fp6' (6 bits, dense),
    'b4x16_p64' and 'b6x16_p32' (16 elements, then padding up to 16 bytes).
    """
    if fmt == "fp4":
        return 4 * k
    if fmt == "fp6":
        return 6 * k
    if fmt == "b4x16_p64":
        return 128 * (k // 16) + 4 * (k % 16)
    if fmt == "b6x16_p32":
        return 128 * (k // 16) + 6 * (k % 16)
    return int(fmt) * k


def smem_element(row, k, fmt, start, lbo, sbo, mode, base_offset=0):
    """(byte address, bit in byte) of a K-major element."""
    b = element_bits(k, fmt)
    return kmajor_addr(row, b // 8, start, lbo, sbo, mode, base_offset), b % 8


# ------------------------------------------------------------------------------- (3) TMA


def tma_boxes(box, estride):
    """Number of elements loaded along each dimension: ceil(box / element stride)."""
    return [box[0]] + [-(-b // s) for b, s in zip(box[1:], estride[1:])]


TMA_PACK = {"4b_8B": (4, 8, 8), "4b_16B": (4, 8, 16), "6b_16B": (6, 12, 16)}  # bits, packed, padded


def tma_row_bytes(box0, es_bits, pack=None):
    """(global bytes, shared bytes) of one box row of box0 elements."""
    if pack:
        bits, g, s = TMA_PACK[pack]
        return box0 // 16 * g, box0 // 16 * s
    return box0 * es_bits // 8, box0 * es_bits // 8


def tma_pitch(row_bytes, mode):
    """Shared-memory distance of two box rows: a swizzled row always takes the whole span."""
    return row_bytes if mode == "none" else SPAN["128B" if mode.startswith("128B") else mode]


def tma_smem_offset(idx, counts, byte_in_row, row_bytes, mode, dst):
    """Shared address of byte `byte_in_row` of box row idx = (i1, i2, ..) (dimension 1 first).

    counts: rows along dimensions 1.. ; dst: absolute destination address.
    """
    r, mul = 0, 1
    for i, c in zip(idx, counts):
        r, mul = r + i * mul, mul * c
    return swizzle(dst + r * tma_pitch(row_bytes, mode) + byte_in_row, mode)


def tma_global_coord(start, idx, estride):
    """Tensor coordinate fetched for box index idx (all dimensions, dimension 0 first)."""
    return [s + i * e for s, i, e in zip(start, idx, [1] + list(estride[1:]))]


def tma_oob(coord, dims):
    """True where the element lies outside the tensor (it is then filled)."""
    return any(c < 0 or c >= d for c, d in zip(coord, dims))


def tma_gather4_rows(coords):
    """{col, r0, r1, r2, r3} -> list of (row of the box, (x, y) tensor coordinate)."""
    col, rows = coords[0], coords[1:]
    return [(i, (col, r)) for i, r in enumerate(rows)]


# ------------------------------------------------------------------------ (4) tcgen05.cp

CP_SHAPE = {  # rows, bytes per row
    "128x256b": (128, 32),
    "4x256b": (4, 32),
    "128x128b": (128, 16),
    "64x128b.02_13": (64, 16),
    "64x128b.01_23": (64, 16),
    "32x128b.warpx4": (32, 16),
}


def cp_lanes(shape, row):
    """Destination lanes (relative to the address's lane) of source row `row`."""
    if shape in ("128x256b", "128x128b"):
        return [row]
    if shape == "4x256b":
        return [32 * row]
    if shape == "64x128b.02_13":
        return [row, row + 64]
    if shape == "64x128b.01_23":
        base = row % 32 + 64 * (row // 32)
        return [base, base + 32]
    if shape == "32x128b.warpx4":
        return [row + 32 * i for i in range(4)]
    raise ValueError(shape)


def cp_source_addr(shape, row, byte, start, lbo, sbo, mode):
    """Source byte: the matrix is addressed like a K-major operand of 16 or 32 byte rows."""
    return kmajor_addr(row, byte, start, lbo, sbo, mode)


def cp_column(byte):
    """Destination (column, byte in cell) of source byte `byte` of its row."""
    return byte // 4, byte % 4


def decompress_unit(unit16, fmt):
    """16 source bytes -> 16 right-justified codes (the byte position is decided by the
    consumer: see packed_in_byte)."""
    v = int.from_bytes(bytes(unit16), "little")
    w = 4 if fmt == "b4x16_p64" else 6
    return [(v >> (w * i)) & ((1 << w) - 1) for i in range(16)]


def packed_in_byte(code, elem):
    """8-bit container of a 4-bit E2M1 code (bits 5:2) or a 6-bit code (bits 5:0)."""
    return code << 2 if elem == "e2m1" else code


# -------------------------------------------------------------- (5) scale factors in TMEM


def sf_per_instruction(K, block):
    return K // block


def sf_group_columns(rows):
    """Columns taken by one word (4 scales) of all rows: 4 per started 128 rows."""
    return 4 * (-(-rows // 128))


def sf_place(row, s, rows, sf_id=0):
    """Scale s (0-based, of this instruction) of operand row `row` -> (lane, col, byte).

    lane is within 0..31 and repeats in all four 32-lane partitions; col is relative to the
    scale operand's column.  rows: M of one CTA for A; N for B (it decides the step
    between words: 4 columns up to 128 rows, 8 above).  sf_id: first byte.
    """
    p = sf_id + s
    return row % 32, row // 32 + (p // 4) * sf_group_columns(rows), p % 4


def sfb_place_2x2(n, s, N, sf_id=0):
    """SFB of M=128, cta_group::2 (2x2 data path): list of lane bases, column, byte."""
    p, half = sf_id + s, N // 2
    h, r = n // half, n % half
    g = sf_group_columns(half)
    return [64 * h + r % 32, 64 * h + 32 + r % 32], r // 32 + (p // 4) * g, p % 4


def sf_smem_offset(row, s, ksf):
    """Byte offset of scale (row, s) in the packed global/shared order: 512-byte blocks of
    128 rows x 4 scales, K blocks innermost.  ksf: scales per row (padded to 4)."""
    nk = -(-ksf // 4)
    return ((row // 128) * nk + s // 4) * 512 + (row % 32) * 16 + (row % 128) // 32 * 4 + s % 4


def sf_ids_k96(block):
    """(sf_id, column step in words) of successive K=96 instructions."""
    out, p = [], 0
    for _ in range(4):
        out.append((p % 4, p // 4))
        p += 96 // block
    return out


# ------------------------------------------------------------------- (6) tcgen05.ld / st

LD_REGS = {"32x32b": 1, "16x64b": 1, "16x32bx2": 1, "16x128b": 2, "16x256b": 4}


def ld_place(shape, num, t, r, half_split=None):
    """Register r of thread t of a tcgen05.ld/st.<shape>.x<num> -> (lane, col).

    Both are relative to the address operand.  half_split: the immediate of 16x32bx2, in
    columns (added to the column for threads 16..31).
    """
    if shape == "32x32b":
        return t, r
    if shape == "16x32bx2":
        return t % 16, r + (t // 16) * (num if half_split is None else half_split)
    if shape == "16x64b":
        return t // 4 + 8 * (t % 2), 2 * r + (t // 2) % 2
    if shape == "16x128b":
        return t // 4 + 8 * (r % 2), 4 * (r // 2) + t % 4
    if shape == "16x256b":
        return t // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (t % 4) + r % 2
    raise ValueError(shape)


def ld_place_pack16(shape, num, t, r, half, half_split=None):
    """.pack::16b/.unpack::16b: half 0/1 of register r is the low 16 bits of a cell; the
    two halves come from adjacent columns, so twice as many columns are covered."""
    lane, col = ld_place(shape, num, t, r, half_split)
    return lane, 2 * col + half


def warp_lane_base(warp_in_cta):
    """Lanes a warp may touch: 32 * (warp % 4) .. + 31."""
    return 32 * (warp_in_cta % 4)


# ------------------------------------------------------------------ (7) mma.sync fragments


def mma_a(t, i, bits):
    """A element i of thread t of a 16-row fragment -> (row, k).  bits = 4, 8 or 16.
    Per register 32/bits elements; registers a0 (row g, low K half), a1 (row g+8, low),
    a2 (row g, high), a3 (row g+8, high); K half = 4 threads x 32/bits."""
    p = 32 // bits
    reg, e = i // p, i % p
    return t // 4 + 8 * (reg % 2), (t % 4) * p + e + 4 * p * (reg // 2)


def mma_b(t, i, bits):
    """B element i of thread t (8 columns) -> (n, k)."""
    p = 32 // bits
    reg, e = i // p, i % p
    return t // 4, (t % 4) * p + e + 4 * p * reg


def mma_c(t, i):
    """C/D element i (0..3) of thread t -> (row, col), 16x8."""
    return t // 4 + 8 * (i // 2), (t % 4) * 2 + i % 2


def sfa_source(row, s, vec, byte_id, thread_id):
    """sm_120 block scaled mma: (lane, byte) that supplies scale s of A row `row`.
    thread_id 0: lanes 4g and 4g+1, 1: lanes 4g+2 and 4g+3; the second of the pair is for
    row g+8.  vec = 1, 2 or 4 scales a row."""
    return 4 * (row % 8) + 2 * thread_id + row // 8, (byte_id if vec < 4 else 0) + s


def sfb_source(n, s, vec, byte_id, thread_id):
    """(lane, byte) that supplies scale s of B column n."""
    return 4 * n + thread_id, (byte_id if vec < 4 else 0) + s


def ldmatrix_place(t, reg, half, trans=False):
    """16-bit half of register reg -> (lane whose address is used, element in its row).

    Matrix reg is addressed by lanes 8*reg .. 8*reg+7, one 16-byte row each.  stmatrix is
    the inverse."""
    r, c = t // 4, 2 * (t % 4) + half
    if trans:
        r, c = c, r
    return 8 * reg + r, c


# ------------------------------------------------------------------------- (8) mbarrier


class MBarrier:
    """State machine of a layout::v0 mbarrier (no waiting, no memory order)."""

    def __init__(self, count):
        assert 1 <= count < 1 << 20
        self.expected = self.pending = count
        self.tx = 0
        self.phase = 0

    def _try_complete(self):
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.pending = self.expected

    def expect_tx(self, n):
        self.tx += n
        assert abs(self.tx) < 1 << 20
        self._try_complete()  # an expect that brings a negative tx back to 0 completes too

    def complete_tx(self, n):
        self.tx -= n
        assert abs(self.tx) < 1 << 20
        self._try_complete()

    def arrive(self, count=1, expect=0):
        before = self.phase
        self.tx += expect
        assert count <= self.pending, "more arrivals than pending"
        self.pending -= count
        self._try_complete()
        return before

    def arrive_drop(self, count=1):
        self.expected -= count
        return self.arrive(count)

    def cp_async_arrive(self, noinc=False):
        """Returns a callable to run when the thread's earlier cp.async are done."""
        if not noinc:
            self.pending += 1
        return self.arrive

    def test_parity(self, parity):
        """True when the phase with this parity is complete, that is not the current one."""
        return (self.phase & 1) != parity

    def test_state(self, phase):
        return phase != self.phase


CLUSTER_CTA_SHIFT = 24


def cluster_addr(offset, rank):
    """shared::cluster address of an offset in a CTA of the cluster: 16 MiB apart.  Inside a
    cluster launch a CTA's own shared address has this form too."""
    return offset | (rank << CLUSTER_CTA_SHIFT)


def peer_even(addr):
    """The same offset in the even CTA of the pair."""
    return addr & ~(1 << CLUSTER_CTA_SHIFT)


def multicast_targets(mask):
    """CTA ranks of a multicast mask."""
    return [i for i in range(32) if mask >> i & 1]


def tma_mbar_rank(dest_rank, mbar_rank, cta_group):
    """Rank whose mbarrier is signalled for data landing in dest_rank."""
    if cta_group == 1:
        return dest_rank
    return (dest_rank & ~1) | (mbar_rank & 1)
