# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the program, whose results the module has to give as well."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def program():
    def run(*words, cwd=None):
        done = subprocess.run([os.environ["RANKLOOM"], *map(str, words), "--json"], capture_output=True, check=True, cwd=cwd)
        return json.loads(done.stdout)

    return run
