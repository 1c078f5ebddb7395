# SPDX-License-Identifier: Apache-2.0
"""tests: makes the package `reproduce` importable for the tests in this directory."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True
