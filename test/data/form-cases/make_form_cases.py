# ===- make_form_cases.py - one small case for each executed form ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# usage: make_form_cases.py > cases.txt
#
# Expected values come from Python's integers and rationals, by the PTX manual, and
# never from the emulator. Each case is
#
#   case FORM
#   ptx BODY          works on eight different lanes, which repeat four times
#   in  WORD…         64 bits for each lane, operand after operand
#   out WORD…         64 bits for each lane
#
# In BODY %pi is the lane's address of operand 0, 64 bytes further lies the next one;
# %po is where the lane's result goes; %j is its number modulo 8. A scratch global
# array `g`, a shared one `s` and a local one `l` of 256 bytes are there too.

import access_cases
import conversion_cases
import float_cases
import integer_cases
import memory_cases
import modifier_cases
import rounding_cases
import set_cases
from form_case import CASES


def dropRepeated(first):
    """Of the cases from `first` on those stay whose form has none yet."""
    seen = {case[0] for case in CASES[:first]}
    CASES[first:] = [case for case in CASES[first:] if not (case[0] in seen or seen.add(case[0]))]


def main():
    integer_cases.addAll()
    float_cases.addAll()
    conversion_cases.addAll()
    rounding_cases.addAll()
    memory_cases.addAll()
    first = len(CASES)
    modifier_cases.addAll()
    access_cases.addAll()
    set_cases.addAll()
    dropRepeated(first)
    print("# Made by make_form_cases.py.")
    for form, body, inputs, expected in CASES:
        print(f"case {form}\nptx {body}")
        print("in " + " ".join(format(v, "x") for operand in inputs for v in operand))
        print("out " + " ".join(format(v, "x") for v in expected))


if __name__ == "__main__":
    main()
