#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tests/flaky.txt, the tests that `./dev test` may run a second time, with the label `timing` of ctest and with the
maximum in the list itself.

    check_flaky.py CTEST BUILD LIST
"""
import json
import pathlib
import re
import subprocess
import sys


def labels_of(test):
    return next((entry["value"] for entry in test.get("properties", []) if entry["name"] == "LABELS"), [])


def problems_of(text, labels):
    """What is wrong with the list; `labels` maps each test to its labels."""
    listed = [line for line in text.splitlines() if line and not line.startswith("#")]
    maximum = int(re.search(r"^# at most (\d+)$", text, re.MULTILINE)[1])
    problems = [] if len(listed) == maximum else [f"the list has {len(listed)} tests, but says \"at most {maximum}\""]
    problems += [] if listed == sorted(set(listed)) else ["the list is not sorted, or names a test twice"]
    problems += [f"{name} has the label timing, but is not listed" for name, found in labels.items() if "timing" in found and name not in listed]
    problems += [f"{name} is listed, but does not have the label timing" for name in listed if "timing" not in labels.get(name, ["timing"])]
    # A listed test that does not exist here belongs to an optional part.
    return problems


def check_the_check():
    text = "# at most 1\na\n"
    assert not problems_of(text, {"a": ["timing"], "b": []})
    assert not problems_of(text, {"b": []})
    assert problems_of(text, {"a": []})
    assert problems_of(text, {"a": ["timing"], "b": ["applications", "timing"]})
    assert problems_of(text + "b\n", {"a": ["timing"], "b": ["timing"]})


def main():
    ctest, build, listing = sys.argv[1:]
    check_the_check()
    shown = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    tests = json.loads(shown)["tests"]
    problems = problems_of(pathlib.Path(listing).read_text(), {test["name"]: labels_of(test) for test in tests})
    print(*problems or [f"{len(tests)} tests"], sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
