# ===- run_commands.py - runs the commands that the documentation shows ----===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes every fenced `sh` block of README.md and docs/, and runs its lines in a
# folder of the build that sees the tree's examples and test data. A line that
# calls ./tools/dev is not run from within a test of its own: its verb must be
# one that `./tools/dev help` lists. A following `text` block right after a
# command block is what the commands print, and is compared; --write renews it.
#
# ===-----------------------------------------------------------------------===#

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocksOf(page):
    """(line number, commands, expected output or None) for each sh block."""
    text = page.read_text()
    fences = list(FENCE.finditer(text))
    for fence, after in zip(fences, [*fences[1:], None]):
        if fence.group(1) != "sh":
            continue
        follows = after and after.group(1) == "text" and not text[fence.end():after.start()].strip()
        yield (text.count("\n", 0, fence.start()) + 2, fence.group(2),
               after.group(2) if follows else None)


def devVerbs():
    shown = subprocess.run([ROOT / "tools" / "dev", "help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^  (\w+)  ", shown.stdout, re.M))


def checkBlock(commands, expected, folder, environment, verbs):
    """(None, or what is wrong; what the commands printed where that was the matter)."""
    kept = []
    for line in commands.splitlines():
        verb = re.match(r"\./tools/dev\s+(\w+)", line)
        if verb and verb.group(1) not in verbs:
            return f"./tools/dev has no verb {verb.group(1)}", None
        if not verb:
            kept.append(line)
    if not "".join(kept).strip():
        return None, None
    ran = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(kept)], cwd=folder,
                         env=environment, capture_output=True, text=True, timeout=300)
    if ran.returncode:
        return f"exit status {ran.returncode}\n{ran.stdout}{ran.stderr}", None
    if expected is not None and ran.stdout != expected:
        return f"printed\n{ran.stdout}instead of\n{expected}", ran.stdout
    return None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true", help="renew the outputs that the pages show")
    args = parser.parse_args()

    folder = args.build / "test" / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ["examples", "test", "tools"]:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    (folder / "build").symlink_to(args.build.resolve())
    ptxas = sorted(args.venv.glob("lib/python3*/site-packages/nvidia/cu13/bin"))
    path = [args.build / "bin", args.venv / "bin", *ptxas, os.environ["PATH"]]
    environment = {**os.environ, "PATH": ":".join(str(p) for p in path)}

    verbs, failed, ran = devVerbs(), 0, 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for line, commands, expected in blocksOf(page):
            ran += 1
            wrong, printed = checkBlock(commands, expected, folder, environment, verbs)
            if printed is not None and args.write:
                old = f"```sh\n{commands}```\n\n```text\n{expected}```"
                page.write_text(page.read_text().replace(old, f"```sh\n{commands}```\n\n```text\n{printed}```"))
                print(f"{page.relative_to(ROOT)}:{line}: renewed")
            elif wrong:
                failed += 1
                print(f"{page.relative_to(ROOT)}:{line}: {wrong}")
    print(f"{ran} command blocks, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
