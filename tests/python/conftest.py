# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the program, whose results the module must reproduce."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def program():
    def run(*words, cwd=None, may_wait=False):
        done = subprocess.run([os.environ["RANKLOOM"], *map(str, words), "--json"], capture_output=True, check=False, cwd=cwd)
        if may_wait and done.returncode == 4:
            return None
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return run
