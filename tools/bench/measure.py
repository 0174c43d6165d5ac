# ===- measure.py - what the bench scripts share ---------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import os
import pathlib
import subprocess
import sys


def report(key, value):
    """One tracked figure: `key = value`."""
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    print(f"{key} = {text}", flush=True)


def fail(message):
    sys.exit(f"error: bench: {message}")


def run(*command):
    """What a program says, on both streams; a failure ends the bench."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode:
        fail(f"{command[0]}: {ran.stderr.strip()[:500]}")
    return ran.stdout + ran.stderr


def cpuMilliseconds(command, runs=9):
    """User and system time of the whole process, the least of some runs."""
    least = None
    for _ in range(runs):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            fail(f"{command[0]}: {errors.strip()}")
        milliseconds = (usage.ru_utime + usage.ru_stime) * 1e3
        least = milliseconds if least is None else min(least, milliseconds)
    return least


def figuresOf(command, environment=None):
    """The `key = value` lines that a program prints, as a dict of text."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                         env=environment)
    if ran.returncode:
        fail(f"{command[0]}: {(ran.stdout + ran.stderr).strip()[-500:]}")
    pairs = [line.split(" = ", 1) for line in (ran.stdout + ran.stderr).splitlines() if " = " in line]
    return {key.strip(): value.strip() for key, value in pairs}


def runThrough(command):
    """Runs a program whose lines are the user's to read, notes too; a failure ends the bench."""
    if subprocess.run([str(word) for word in command]).returncode:
        fail(f"{command[1]} failed")


def sgemm():
    """GFLOP/s of OpenBLAS's sgemm on one thread, now: sgemm.py."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    return float(figuresOf([sys.executable, pathlib.Path(__file__).parent / "sgemm.py"], environment)["gflops"])
