#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the library into a directory, moves the directory, and builds external programs with it: by find_package of CMake, by
pkg-config, and as C++. Checks the exported symbols of the library.

    install_test.py BUILD_DIRECTORY LIBRARY C_COMPILER CMAKE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def run(*arguments, **options):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(holds, what):
    if not holds:
        sys.exit(f"not so: {what}")


def check_library(library):
    symbols = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    symbols -= {"RANKLOOM_1"}
    header = (HERE.parent.parent / "capi/rankloom.h").read_text()
    declared = set(re.findall(r"^RANKLOOM_API [^;]*?\b(rankloom_\w+)\(", header, re.M))
    expect(len(declared) > 25, "the header declares functions")
    expect(symbols == declared, f"library and header show the same: {sorted(symbols ^ declared)}")
    expect("librankloom.so.1]" in run("readelf", "-d", library), "the SONAME is librankloom.so.1")


def main():
    build, library, compiler, cmake = sys.argv[1:]
    check_library(library)
    with tempfile.TemporaryDirectory(prefix="capi-") as directory:
        directory = pathlib.Path(directory)
        for component in ("library", "development"):
            run(cmake, "--install", build, "--prefix", directory / "before", "--component", component)
        prefix = directory / "moved"
        (directory / "before").rename(prefix)
        (lib,) = {path.parent for path in prefix.rglob("librankloom.so")}
        outputs = []

        run(cmake, "-S", HERE / "external", "-B", directory / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}")
        run(cmake, "--build", directory / "build")
        outputs.append(run(directory / "build/external"))

        env = dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "rankloom", env=env).split()
        expect(run("pkg-config", "--modversion", "rankloom", env=env).strip(), "pkg-config knows a version")
        run(compiler, "-std=c11", HERE / "external/main.c", "-o", directory / "by_flags", *flags)
        outputs.append(run(directory / "by_flags", env=dict(os.environ, LD_LIBRARY_PATH=str(lib))))

        run(compiler, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", prefix / "include/rankloom.h",
            "-Wno-pragma-once-outside-header")
        for output in outputs:
            found = re.fullmatch(r"cost (\S+) instead of (\S+)\n", output)
            expect(found and 0 < float(found.group(1)) < float(found.group(2)), f"a better mapping was found: {output!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
