# ===- make_ptx_forms.py - ptxas's verdicts on PTX forms, compact ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# usage: make_ptx_forms.py FOLDER > forms.txt
#
# FOLDER holds one PTX file for each form and `results.tsv`: ptxas 13.5.37's answer
# for each form and target. Most files share their first lines, which become a
# prelude here. Format of the result:
#
#   prelude N        the lines up to `end`
#   form NAME VERSION PRELUDE TARGET=VERDICT…
#   > body line      (the same lines for several forms are not shared)
#
# A verdict is `ok`, or why ptxas refuses, one or more of: arch, modifier, operand,
# value, size, version. `Illegal modifier` may mean the target or the combination;
# which one shows where another target takes the same form.

import collections
import pathlib
import re
import sys

REASONS = [
    ("version", r"requires PTX ISA|Unsupported \.version|does not support \.target"),
    ("arch", r"not supported on \.target|for arch '|requires \.target"),
    ("size", r"too much shared data"),
    ("value", r"out of range|power of 2|multiple of|non-zero|expected to be"),
    ("operand", r"Arguments mismatch|vector size|number of arguments|State space incorrect"),
    ("modifier", r"State space incorrect|odifier|rounding|instruction types|Parsing error|matrix shape|that is not allowed"),
]


def spelling(body):
    """The longest instruction word of a form: the one that it is about."""
    return max((word for line in body for word in re.findall(r"[a-z][\w.:]+\.[\w.:]+", line)), key=len, default="")


def reasonsOf(text, elsewhere, sameWordTaken):
    found = [name for name, pattern in REASONS if re.search(pattern, text)]
    # ptxas says `Arguments mismatch` of modifiers that have no operand list at all, too.
    if "Arguments mismatch" in text and not sameWordTaken and "modifier" not in found:
        found.append("modifier")
    if elsewhere and "arch" not in found and re.search(r"Illegal modifier|in range \[0\.\.3\]", text):
        found.append("arch")
    if not found:
        sys.exit(f"no reason known for: {text}")
    return "+".join(found)


def main():
    folder = pathlib.Path(sys.argv[1])
    verdicts = collections.OrderedDict()
    for row in (folder / "results.tsv").read_text().splitlines()[1:]:
        _, file, _, target, result, text = (row.split("\t") + [""])[:6]
        verdicts.setdefault(file, []).append((target, result, text))
    sources = {}
    heads = collections.Counter()
    for file in verdicts:
        lines = (folder / file).read_text().rstrip("\n").split("\n")
        marks = [i for i, line in enumerate(lines) if "mov.u32 r3, sm" in line]
        cut = marks[0] + 1 if marks else 3
        sources[file] = (lines[0].split()[1], "\n".join(lines[2:cut]), lines[cut:])
        heads[sources[file][1]] += 1
    numbers = {head: i for i, (head, _) in enumerate(heads.most_common())}
    print("# Made by make_ptx_forms.py: every form asked of ptxas 13.5.37 (PyPI nvidia-cuda-nvcc), by target.")
    taking = {target for answers in verdicts.values() for target, result, _ in answers if result == "ok"}
    for head, number in numbers.items():
        print(f"prelude {number}\n{head}\nend")
    taken = {(spelling(sources[file][2]), target) for file, answers in verdicts.items()
             for target, result, _ in answers if result == "ok"}
    for file, answers in verdicts.items():
        version, head, body = sources[file]
        elsewhere = any(result == "ok" for _, result, _ in answers)
        # A target that takes no form at all lacks each of them.
        words = [f"{target}={'ok' if result == 'ok' else reasonsOf(text, elsewhere, (spelling(body), target) in taken)}"
                 for target, result, text in answers]
        words = [w if w.split("=")[0] in taking or "arch" in w else w + "+arch" for w in words]
        print(f"form {file[:-4]} {version} {numbers[head]} {' '.join(words)}")
        for line in body:
            print(f"> {line.strip()}")


if __name__ == "__main__":
    main()
