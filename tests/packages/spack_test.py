#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the recipe for Spack fit the project? Spack is not needed: its words are stood in for by ones that take notes. CMake itself
says whether it knows every option.

    spack_test.py FOLDER_OF_THE_PROJECT CMAKE PYTHON
"""

import ast
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile
import types

# Not parts of rankloom, but ways to build it.
WAYS = {"RANKLOOM_UNITY", "RANKLOOM_CCACHE", "RANKLOOM_PCH", "RANKLOOM_TESTS", "RANKLOOM_ASSERTIONS", "RANKLOOM_BENCH", "RANKLOOM_FUZZ", "RANKLOOM_WERROR", "RANKLOOM_COMPRESS_PAGES"}
# The names of cmake/minimum_versions.cmake that Spack spells differently.
NAMES = {"onetbb": "intel-tbb", "nlohmann_json": "nlohmann-json", "pybind11": "py-pybind11"}
COMPILERS = {"gcc", "clang"}  # Spack chooses its compiler itself; the recipe names conflicts
problems = []


def expect(holds, what):
    if not holds:
        problems.append(what)


class Notes:
    def __init__(self):
        self.variants, self.versions, self.dependencies, self.conflicts = {}, [], {}, []

    def words(self):
        def variant(name, default, description):
            self.variants[name] = (default, description)

        def version(number, **_):
            self.versions.append(number)

        def depends_on(spec, when="", **_):
            name, _, least = spec.split()[0].partition("@")
            self.dependencies.setdefault(name, []).append((least, when))

        def conflicts(spec, **_):
            self.conflicts.append(spec)

        def ignored(*_, **__):
            return lambda function: function

        words = {name: ignored for name in ("license", "maintainers", "extends", "generator", "run_after", "on_package_attributes", "Executable", "join_path")}
        return {**words, "variant": variant, "version": version, "depends_on": depends_on, "conflicts": conflicts, "CMakePackage": Package, "python_platlib": "lib/spack"}


class Package:
    run_tests = False
    chosen = {}  # variant → on or off
    python = ""

    def define(self, name, value):
        return f"-D{name}={value if isinstance(value, str) else 'ON' if value else 'OFF'}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.chosen[variant])

    @property
    def spec(self):
        command = types.SimpleNamespace(command=types.SimpleNamespace(path=self.python))
        chosen = self.chosen
        return type("Spec", (), {"satisfies": lambda _, text: chosen[text[1:]] == text.startswith("+"), "__getitem__": lambda _, name: command})()


@contextlib.contextmanager
def spack_of(words):
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), types.ModuleType("spack.package")
    vars(sys.modules["spack.package"]).update(words)
    yield
    del sys.modules["spack"], sys.modules["spack.package"]


def read_recipe(path):
    tree = ast.parse(path.read_text(), str(path))
    expect([node.name for node in tree.body if isinstance(node, ast.ClassDef)] == ["Rankloom"], "the recipe is one class")
    notes, names = Notes(), {}
    with spack_of(notes.words()):
        exec(compile(tree, str(path), "exec"), names)
    return notes, names["Rankloom"]


def options_of(root):
    files = [root / "CMakeLists.txt", *root.glob("cmake/*.cmake"), root / "python/CMakeLists.txt", root / "slurm/CMakeLists.txt"]
    return {name for file in files for name in re.findall(r"^\s*option\((RANKLOOM_\w+)", file.read_text(), re.M)}


def min_versions(root):
    text = (root / "cmake/minimum_versions.cmake").read_text()
    found = {name.lower(): number for name, number in re.findall(r"^set\(RANKLOOM_MINIMUM_(\w+) ([\d.]+)\)", text, re.M)}
    found["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)
    return found


def arguments(recipe, variants, on, python):
    package = recipe()
    package.chosen, package.python = dict.fromkeys(variants, on), python
    return package.cmake_args()


def main():
    root, cmake, python = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    notes, recipe = read_recipe(root / "packaging/spack/packages/rankloom/package.py")
    version = re.search(r"project\(rankloom VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)
    expect(version in notes.versions, f"the recipe has no version {version}")

    options = options_of(root)
    expect(len(options) > 10, "options of CMake are found")
    switched = {}
    for on in (True, False):
        for argument in arguments(recipe, notes.variants, on, python):
            name, _, value = argument[2:].partition("=")
            switched.setdefault(name, set()).add(value)
    for name in options - WAYS:
        expect(switched.get(name) == {"ON", "OFF"}, f"no variant switches {name}")
    readme = (root / "packaging/spack/README.md").read_text()
    for name in (*notes.variants, *(options - WAYS)):
        expect(f"`{name}`" in readme, f"the README of the recipe does not name {name}")
    minimum_versions = min_versions(root)
    expect(len(minimum_versions) > 10, "minimum versions are found")
    for name, least in minimum_versions.items():
        if name in COMPILERS:
            expect(f"%{name}@:{int(least) - 1}" in notes.conflicts, f"CMake asks for {name} {least}, the recipe does not refuse earlier ones")
            continue
        given = [spec for spec, _ in notes.dependencies.get(NAMES.get(name, name), [])]
        expect(any(spec.split(":")[0] == least for spec in given), f"CMake asks for {name} {least}, the recipe for {given}")

    with tempfile.TemporaryDirectory(prefix="spack-") as folder:
        done = subprocess.run([cmake, "-S", root, "-B", folder, "-G", "Ninja", *arguments(recipe, notes.variants, True, python)], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"CMake does not take what the recipe gives it:\n{done.stderr}")
        expect("not used by the project" not in done.stderr, f"CMake does not know what the recipe gives it:\n{done.stderr}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
