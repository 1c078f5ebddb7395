# SPDX-License-Identifier: Apache-2.0
"""tests: makes the package `reproduce` known to the tests beside this file."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True
