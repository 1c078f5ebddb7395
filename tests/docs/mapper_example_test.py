#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guide for researchers adds a mapper in one folder. This does what it says, in a copy of the sources.

Blocks marked <!-- tree: … --> are run in the copy. What they changed is compiled with the commands of this build; the program and the
tests of mappers are linked once more with those objects before the library's, which therefore gives way. Then the
property tests look at the new mapper, and blocks marked <!-- built: … --> are run with the new program.

    mapper_example_test.py FOLDER_OF_THE_PROJECT FOLDER_OF_THE_BUILD NINJA
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^<!-- (tree|built): [^\n]*-->\n```sh\n(.*?)^```", re.M | re.S)
NAME = "snowball"


def run(command, folder, path=None):
    env = dict(os.environ, PATH=f"{path}:{os.environ.get('PATH', '')}") if path else None
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} failed with status {done.returncode}:\n{done.stdout.decode('utf-8', 'replace')}")
    return done.stdout.decode("utf-8", "replace")


def compiled(source, tree, root, build, to):
    """The object of a file of the copy, made as this build makes the table of mappers."""
    table = str(root / "rankloom/map/mappers.cpp")
    commands = json.loads((build / "compile_commands.json").read_text())
    words = shlex.split(next(entry["command"] for entry in commands if entry["file"] == table))
    words = [f"-I{tree}" if word == f"-I{root}" else str(source) if word == table else word for word in words]
    words[words.index("-o") + 1] = str(to)
    run(words, build)
    return to


def linked(program, objects, build, ninja, to):
    command = run([ninja, "-t", "commands", f"bin/{program}"], build).strip().splitlines()[-1]
    words = shlex.split(command.removeprefix(": && ").split(" && ")[0])  # the rest of the command lists the tests
    at = words.index("-o")
    words[at:at + 2] = [*map(str, objects), "-o", str(to)]
    run(words, build)
    return to


def main():
    root, build, ninja = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    blocks = BLOCK.findall((root / "docs/researchers.md").read_text())
    edits = [body for kind, body in blocks if kind == "tree"]
    uses = [body for kind, body in blocks if kind == "built"]
    assert len(edits) == 2 and len(uses) == 1, "the guide has other blocks than this test knows"
    with tempfile.TemporaryDirectory(prefix="mapper-") as folder:
        tree, bin_folder = pathlib.Path(folder).resolve() / "tree", pathlib.Path(folder).resolve() / "bin"
        bin_folder.mkdir()
        shutil.copytree(root / "rankloom", tree / "rankloom")
        for edit in edits:
            run(["bash", "-e", "-c", edit], tree)
        listed = (tree / "rankloom/map/CMakeLists.txt").read_text()
        assert re.search(rf"^\s+{NAME}/{NAME}\.cpp$", listed, re.M), "the new file is not among the sources of the library"
        objects = [compiled(tree / path, tree, root, build, bin_folder / f"{pathlib.Path(path).stem}.o")
                   for path in ("rankloom/map/mappers.cpp", f"rankloom/map/{NAME}/{NAME}.cpp")]
        linked("rankloom", objects, build, ninja, bin_folder / "rankloom")
        tests = linked("map_tests", objects, build, ninja, bin_folder / "map_tests")
        print(checked := run([tests, f"--gtest_filter=*EveryMapper*{NAME}*"], folder))
        assert int(re.search(r"\[  PASSED  \] (\d+) test", checked).group(1)) >= 5, "too few property tests ran"
        for use in uses:
            print(run(["bash", "-e", "-o", "pipefail", "-c", use], folder, bin_folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
