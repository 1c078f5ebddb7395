# SPDX-License-Identifier: Apache-2.0
"""The notebook, the type stubs and the wheel."""

import ast
import csv
import doctest
import io
import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
import rankloom
from rankloom import _rankloom

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("notebook", sorted((ROOT / "python/examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs(notebook, tmp_path, monkeypatch, capsys):
    """Runs the code cells in order in one namespace, as Jupyter does."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{notebook.name} cell {number}", "exec"), names)
    assert "instead of" in capsys.readouterr().out


def test_the_examples_in_docstrings_are_correct():
    assert doctest.testmod(rankloom).attempted > 0 and doctest.testmod(rankloom).failed == 0


def test_all_public_names_are_documented():
    for name in rankloom.__all__:
        thing = getattr(rankloom, name)
        assert thing.__doc__, name


def test_stubs_match_the_module():
    tree = ast.parse((ROOT / "python/rankloom/_rankloom.pyi").read_text())
    stubs = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            stubs[node.name] = {member.name for member in node.body if isinstance(member, ast.FunctionDef)} - {"__init__"}
        elif isinstance(node, ast.FunctionDef):
            stubs[node.name] = set()
    module = {name: {member for member in vars(thing) if not member.startswith("_")} if isinstance(thing, type) else set()
              for name, thing in vars(_rankloom).items() if not name.startswith("_")}
    assert stubs == module


def test_tables_equal_those_of_the_program(program):
    for kind, rows in (("mappers", rankloom.mappers()), ("models", rankloom.cost_models()), ("formats", rankloom.formats()),
                       ("patterns", rankloom.patterns()), ("policies", rankloom.policies())):
        assert [row["name"] for row in rows] == [row["name"] for row in program("list", kind)[kind]], kind


def test_a_wheel_installs_and_works(tmp_path):
    """The wheel contains the module of the current build, so nothing is compiled here."""
    command = ("import sys; sys.path.insert(0, 'python'); import build_backend; "
               f"print(build_backend.build_wheel({str(tmp_path)!r}, {{'module': {_rankloom.__file__!r}}}))")
    name = subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[-1]
    assert name.startswith(f"rankloom-{rankloom.__version__}-cp3")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = set(wheel.namelist())
        record = next(file for file in files if file.endswith("/RECORD"))
        listed = {row[0] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
        assert listed == files and "rankloom/py.typed" in files
        wheel.extractall(tmp_path / "site")
    environment = dict(os.environ, PYTHONPATH=str(tmp_path / "site"))
    code = "import rankloom; print(rankloom.__file__); print(rankloom.Topology('node:2=2 core:2=1').cores)"
    said = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert said.split() == [str(tmp_path / "site/rankloom/__init__.py"), "4"]
