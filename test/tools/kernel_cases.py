# ===- kernel_cases.py - which kernels the matrix covers -------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The parameters of a block-scaled product and their values; the full product of
# them, or a small set in which every pair of values of two parameters occurs. What
# makes another kernel (format, chip, output type) is one parameter, so that each
# of the twelve of sm_100a and sm_107a meets every K, every M and every N.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import itertools

import kernel_data


@dataclasses.dataclass(frozen=True)
class Format:
    """One combination of elements, scale and block, and the kind that multiplies it."""
    a: kernel_data.Element
    b: kernel_data.Element
    scale: str
    block: int
    kind: str

    @property
    def instructionK(self):
        """Chip -> K of one instruction: 64 bytes of FP4 or FP8 on sm_107a, 32 elsewhere; FP6
        has no packed type of TMA and stays at 32 elements."""
        if self.kind != "mxf8f6f4":
            return {"sm_100a": 64, "sm_103a": 64, "sm_107a": 128}
        return {"sm_100a": 32, "sm_103a": 32, "sm_107a": 32 if 6 in (self.a.bits, self.b.bits) else 64}

    def isPadded(self, element, arch):
        """Whether shared memory holds 16 elements and a gap up to 16 bytes."""
        return self.kind == "mxf8f6f4" and self.instructionK[arch] == 32 and element.bits < 8

    def isLegalK(self, arch, k):
        """TMA fetches dense rows whose pitch is a whole number of 16 bytes, and padded types 128
        elements at a time; others are copied."""
        return all(k % 128 == 0 if self.isPadded(e, arch) else e.rowBytes(k) % 16 == 0 for e in (self.a, self.b))


def _format(a, b, scale, block, kind):
    return Format(kernel_data.ELEMENTS[a], kernel_data.ELEMENTS[b], scale, block, kind)


# Formats with a name: the pairwise matrix.
FORMATS = {
    "nvfp4": _format("e2m1", "e2m1", "ue4m3", 16, "mxf4nvf4"),
    "mxfp4": _format("e2m1", "e2m1", "ue8m0", 32, "mxf4"),
    "mxfp8": _format("e4m3", "e4m3", "ue8m0", 32, "mxf8f6f4"),
}
# All of them: format_matrix.py.
ALL_FORMATS = {**FORMATS, **{
    f"{kind}-{scale}-{block}": _format("e2m1", "e2m1", scale, block, kind)
    for kind, scale, block in [("mxf4nvf4", s, b) for s in ("ue8m0", "ue4m3", "ue5m3") for b in (16, 32)]
    if (scale, block) != ("ue4m3", 16)}, **{
    f"{a}-{b}": _format(a, b, "ue8m0", 32, "mxf8f6f4")
    for a, b in itertools.product(kernel_data.ELEMENTS, repeat=2) if (a, b) != ("e4m3", "e4m3")}}

# `block`: one scale block; `tail`: one instruction and a block more.
ARCHS = ["sm_100a", "sm_103a", "sm_107a"]
# Kernels of the first are those of the second but for the target's name: a few cases outside the full product.
ALIKE = {"sm_103a": "sm_100a"}
VALUES = {
    "kernel": list(itertools.product(FORMATS, ARCHS, ["f32", "bf16"])),
    "m": [1, 5, 127, 128, 129, 300],
    "n": [1, 5, 127, 128, 129, 300],
    "k": ["block", "tail", 384, 1536],
    "alpha": [False, True],
    "bias": [False, True],
    "layout": ["tiled", "linear"],
    "data": ["integer", "random"],
    # 0: one tile for each CTA where the chip has so many; 1, 2: some CTA computes several.
    "ctas": [0, 1, 2],
    # The launch alone says m; the kernel and its manifest are those of any number of rows.
    "isDynamic": [False, True],
}


@dataclasses.dataclass(frozen=True)
class Case:
    format: str
    arch: str
    out: str
    m: int
    n: int
    k: int
    alpha: bool = False
    bias: bool = False
    layout: str = "tiled"
    data: str = "integer"
    ctas: int = 0
    tileN: int = 128
    majorA: str = "k"
    majorB: str = "k"
    c: bool = False  # beta * C is added
    stages: int = 0
    instK: int = 0  # another K of an instruction than the longest
    group: int = 1  # CTAs that compute a tile together
    cluster: str = ""  # CTAs along M and N
    tileM: int = 0  # twice the rows, so that two products share B
    isDynamic: bool = False  # only the launch says m
    batches: int = 0  # products of one launch; 0: one product without a batch
    sharesB: bool = False  # B is that of all batches

    @property
    def name(self):
        parts = [self.format, self.arch, self.out, f"{self.m}x{self.n}x{self.k}"]
        parts += ["alpha"] * self.alpha + ["bias"] * self.bias + [self.layout, self.data]
        parts += [f"ctas{self.ctas}"] * bool(self.ctas) + [f"n{self.tileN}"] * (self.tileN != 128)
        parts += [f"k{self.instK}"] * bool(self.instK) + ["pair"] * (self.group == 2)
        parts += [f"m{self.tileM}"] * bool(self.tileM)
        parts += [f"batch{self.batches}"] * bool(self.batches) + ["shared"] * self.sharesB
        parts += [f"cluster{self.cluster}"] * bool(self.cluster) + ["dynamic"] * self.isDynamic
        parts += ["c"] * self.c + [f"{self.majorA}{self.majorB}"] * ((self.majorA, self.majorB) != ("k", "k"))
        return "-".join(parts)


def wantedK(name, arch, k):
    """K of a choice as asked for, legal or not."""
    fmt = FORMATS[name]
    return {"block": fmt.block, "tail": fmt.instructionK[arch] + fmt.block}.get(k, k)


def makeCase(choice):
    """A Case from one value of each parameter. Where K is not legal (NVFP4 with an odd
    number of blocks) the next K that is takes its place."""
    name, arch, out = choice["kernel"]
    k = wantedK(name, arch, choice["k"])
    while not FORMATS[name].isLegalK(arch, k):
        k += FORMATS[name].block
    others = {parameter: choice[parameter] for parameter in VALUES if parameter != "kernel"}
    return Case(name, arch, out, **{**others, "k": k})


def fullChoices():
    """The full product of kernels and sizes. The switches take every value within each
    run of neighbours instead of multiplying the count by 48."""
    major = ["kernel", "m", "n", "k"]
    minor = [name for name in VALUES if name not in major]
    switches = itertools.cycle(itertools.product(*(VALUES[name] for name in minor)))
    for values in itertools.product(*(VALUES[name] for name in major)):
        yield {**dict(zip(major, values)), **dict(zip(minor, next(switches)))}


def pairwiseChoices():
    """Greedy: each next choice takes the values that cover most pairs still open."""
    values = {**VALUES, "kernel": [kernel for kernel in VALUES["kernel"] if kernel[1] not in ALIKE]}
    names = list(values)
    open_ = {((x, vx), (y, vy)) for x, y in itertools.combinations(names, 2)
             for vx in values[x] for vy in values[y]}

    def newPairs(choice, name, value):
        count = 0
        for other, otherValue in choice.items():
            pair = ((other, otherValue), (name, value))
            if names.index(other) > names.index(name):
                pair = pair[::-1]
            count += pair in open_
        return count

    while open_:
        # Start from an open pair, so that every round covers at least one.
        first, second = min(open_, key=str)
        choice = dict([first, second])
        for name in sorted(names, key=lambda n: -len(values[n])):
            if name not in choice:
                choice[name] = max(values[name], key=lambda v: newPairs(choice, name, v))
        open_ -= {((x, choice[x]), (y, choice[y])) for x, y in itertools.combinations(names, 2)}
        yield choice


def alikeChoices():
    """One case of each format for each chip that is like another; ragged, with all that an epilogue does."""
    for (index, name), arch in itertools.product(enumerate(FORMATS), ALIKE):
        yield {"kernel": (name, arch, ["f32", "bf16"][index % 2]), "m": 129, "n": 127, "k": "tail", "alpha": True,
               "bias": True, "layout": ["tiled", "linear"][index % 2], "data": "random", "ctas": index % 3,
               "isDynamic": index % 2 == 1}


def cases(full):
    """The cases to compile and run, without repetition."""
    choices = fullChoices() if full else itertools.chain(pairwiseChoices(), alikeChoices())
    return list(dict.fromkeys(makeCase(choice) for choice in choices))


# Beside those with a name: gaps, FP6, packed FP4 beside FP8, and the other scales.
HOSTILE_FORMATS = [("mxf4nvf4-ue8m0-16", "sm_100a"), ("e2m1-e5m2", "sm_100a"), ("e4m3-e3m2", "sm_100a"),
                   ("mxf4nvf4-ue5m3-16", "sm_107a"), ("mxf4nvf4-ue4m3-32", "sm_107a"), ("e2m1-e5m2", "sm_107a")]


def hostileCases():
    """One tile of each kernel on the data of `hostileTile`, to be equal bit for bit."""
    kernels = [*itertools.product(FORMATS, ARCHS, [0]), *((*kernel, 0) for kernel in HOSTILE_FORMATS),
               *((name, "sm_103a", kernel_data.LONG_K) for name in ("nvfp4", "mxfp4"))]
    for name, arch, instK in kernels:
        tile = kernel_data.hostileTile(name, arch, instK)
        yield Case(name, arch, "f32", tile["m"], tile["n"], tile["k"], data="hostile", instK=instK)


def repitchedCases():
    """Each chip and format with a K that TMA cannot fetch: rows are copied to another pitch by the program."""
    for arch, name, k in itertools.product(ARCHS, FORMATS, ["block", "tail"]):
        wanted = wantedK(name, arch, k)
        if not FORMATS[name].isLegalK(arch, wanted):
            yield Case(name, arch, "f32", 130, 128, wanted, layout="linear")
