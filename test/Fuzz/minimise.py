# ===- minimise.py - the corpus that is kept in the repository --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Of the seeds and of what runs of the fuzzers have left in the build, libFuzzer picks few
# inputs that cover as much as all of them (-set_cover_merge). They go to
# test/Fuzz/corpus/<target>, the smallest first, as far as the target's share of bytes
# reaches: seeds of every later run, replayed by a unit test.
#
# ===-----------------------------------------------------------------------===#

import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

import corpus
import run

BYTES = {"arrays": 40_000, "descriptors": 20_000, "manifest": 40_000, "ptx": 200_000}
# An input that is replayed under sanitizers should be over at once.
SECONDS_AN_INPUT = 2


def pick(target, sources, args):
    """The inputs that cover most, smallest first."""
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder) / "merged"
        merged.mkdir()
        command = [args.build / "test" / "Fuzz" / f"fuzz-{target}", "-set_cover_merge=1", "-use_value_profile=0",
                   f"-timeout={SECONDS_AN_INPUT}", f"-rss_limit_mb={run.MEGABYTES}", f"-max_len={run.LONGEST_INPUT[target]}",
                   f"-artifact_prefix={folder}/", merged, *sources]
        ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"error: merge of {target} failed\n{ran.stderr[-2000:]}")
        return sorted((path.read_bytes() for path in merged.iterdir()), key=len)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the sanitizers' build")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="the build with quick unit tests")
    parser.add_argument("--work", type=pathlib.Path, help="where ./tools/dev fuzz leaves its corpus; BUILD/fuzz")
    parser.add_argument("--only", choices=corpus.TARGETS, help="one target")
    args = parser.parse_args()
    args.build = args.build.resolve()
    work = args.work or args.build / "fuzz"
    made = corpus.make(work, args.tests.resolve())
    for target in [args.only] if args.only else corpus.TARGETS:
        grown = work / "corpus" / target
        inputs = pick(target, [made[target][0], *([grown] if grown.exists() else [])], args)
        kept = corpus.KEPT / target
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        left, count = BYTES[target], 0
        for content in inputs:
            if content and len(content) <= left:
                left -= len(content)
                count += 1
                (kept / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
        print(f"{target}: {count} of {len(inputs)} inputs, {BYTES[target] - left} bytes", flush=True)


if __name__ == "__main__":
    main()
