# ===- run.py - fuzzes every target for some seconds -----------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The corpus stays in the build between runs, so that a run goes on where the last
# one ended. An input that crashes, takes more than 10 s or too much memory, or breaks
# a promise fails the run and is kept; once mended it belongs into
# test/Fuzz/regressions/<target>, which a unit test replays.
#
# ===-----------------------------------------------------------------------===#

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import corpus

SECONDS_AN_INPUT = 10
MEGABYTES = 2048
MEGABYTES_AN_ALLOCATION = 1024
LONGEST_INPUT = {"arrays": 4096, "descriptors": 1024, "manifest": 16384, "ptx": 65536}


def fuzz(target, seeds, dictionary, args):
    """(what happened in one line, the inputs that were found)."""
    kept = args.work / "corpus" / target
    found = args.work / "found" / target
    for folder in [kept, found]:
        folder.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    command = [args.build / "test" / "Fuzz" / f"fuzz-{target}", kept, seeds,
               f"-seed={args.seed}", f"-max_total_time={args.seconds}", f"-timeout={SECONDS_AN_INPUT}",
               f"-rss_limit_mb={MEGABYTES}", f"-malloc_limit_mb={MEGABYTES_AN_ALLOCATION}",
               f"-max_len={LONGEST_INPUT[target]}", f"-artifact_prefix={found}/", "-print_final_stats=1"]
    if dictionary:
        command.append(f"-dict={dictionary}")
    log = args.work / f"{target}.log"
    with log.open("w") as out:
        status = subprocess.run([str(word) for word in command], stdout=out, stderr=out).returncode
    text = log.read_text(errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    coverage = re.findall(r"cov: (\d+)", text)
    new = sorted(set(found.iterdir()) - before)
    says = f"{runs.group(1) if runs else '?'} inputs, {coverage[-1] if coverage else '?'} edges"
    if status or new:
        return f"FAILED, {says}; log {log}" + "".join(f"\n  found: {path}" for path in new), False
    return says, True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the sanitizers' build")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="the build with quick unit tests")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=1, help="of the changes; 0 for another each time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=corpus.TARGETS, help="one target")
    parser.add_argument("--count", type=pathlib.Path, help="write 'passed failed' here")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.work = args.build / "fuzz"
    args.work.mkdir(parents=True, exist_ok=True)

    made = corpus.make(args.work, args.tests.resolve())
    targets = [args.only] if args.only else corpus.TARGETS
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = {target: pool.submit(fuzz, target, *made[target], args) for target in targets}
        for target, run in runs.items():
            says, right = run.result()
            failed += not right
            print(f"fuzz {target}: {len(list(made[target][0].iterdir()))} seeds, {says}", flush=True)
    if args.count:
        args.count.parent.mkdir(parents=True, exist_ok=True)
        args.count.write_text(f"{len(targets) - failed} {failed}\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
