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
    """One combination of element, scale and block that the product builds."""
    element: str  # MLIR's name
    bits: int
    scale: str
    block: int
    instructionK: dict  # chip -> K of one instruction

    def rowBytes(self, k):
        return k * self.bits // 8


FORMATS = {
    "nvfp4": Format("f4E2M1FN", 4, "ue4m3", 16, {"sm_100a": 64, "sm_103a": 64, "sm_107a": 128}),
    "mxfp4": Format("f4E2M1FN", 4, "ue8m0", 32, {"sm_100a": 64, "sm_103a": 64, "sm_107a": 128}),
    "mxfp8": Format("f8E4M3FN", 8, "ue8m0", 32, {"sm_100a": 32, "sm_103a": 32, "sm_107a": 64}),
}

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

    @property
    def name(self):
        parts = [self.format, self.arch, self.out, f"{self.m}x{self.n}x{self.k}"]
        parts += ["alpha"] * self.alpha + ["bias"] * self.bias + [self.layout, self.data]
        parts += [f"ctas{self.ctas}"] * bool(self.ctas)
        return "-".join(parts)


def isLegalK(fmt, k):
    """TMA fetches rows whose pitch is a whole number of 16 bytes."""
    return fmt.rowBytes(k) % 16 == 0


def wantedK(name, arch, k):
    """K of a choice as asked for, legal or not."""
    fmt = FORMATS[name]
    return {"block": fmt.block, "tail": fmt.instructionK[arch] + fmt.block}.get(k, k)


def makeCase(choice):
    """A Case from one value of each parameter. Where K is not legal (NVFP4 with an odd
    number of blocks) the next K that is takes its place."""
    name, arch, out = choice["kernel"]
    k = wantedK(name, arch, choice["k"])
    while not isLegalK(FORMATS[name], k):
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
               "bias": True, "layout": ["tiled", "linear"][index % 2], "data": "random", "ctas": index % 3}


def cases(full):
    """The cases to compile and run, without repetition."""
    choices = fullChoices() if full else itertools.chain(pairwiseChoices(), alikeChoices())
    return list(dict.fromkeys(makeCase(choice) for choice in choices))


def hostileCases():
    """One tile of each kernel on the data of `hostileTile`, to be equal bit for bit."""
    for name, arch in itertools.product(FORMATS, ARCHS):
        tile = kernel_data.hostileTile(name, arch)
        yield Case(name, arch, "f32", tile["m"], tile["n"], tile["k"], data="hostile")


def refusedCases():
    """Each chip and format with a K that TMA cannot fetch: must be refused."""
    for arch, name, k in itertools.product(ARCHS, FORMATS, ["block", "tail"]):
        wanted = wantedK(name, arch, k)
        if not isLegalK(FORMATS[name], wanted):
            yield Case(name, arch, "f32", 128, 128, wanted)
