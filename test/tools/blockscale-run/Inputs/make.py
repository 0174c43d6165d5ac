# make.py - writes arrays for the tests beside it
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: make.py FILE=EXPRESSION ...   with numpy as np

import sys

import numpy as np

for argument in sys.argv[1:]:
    path, expression = argument.split("=", 1)
    np.save(path, np.asarray(eval(expression)))
