#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the library into a folder, moves that folder, and builds other people's programs against it: by CMake's
find_package, by pkg-config, and as C++. Looks at what the library shows of itself.

    install_test.py BUILD_FOLDER LIBRARY C_COMPILER CMAKE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
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
    with tempfile.TemporaryDirectory(prefix="capi-") as folder:
        folder = pathlib.Path(folder)
        for component in ("library", "development"):
            run(cmake, "--install", build, "--prefix", folder / "before", "--component", component)
        prefix = folder / "moved"
        (folder / "before").rename(prefix)
        (lib,) = {path.parent for path in prefix.rglob("librankloom.so")}
        outputs = []

        run(cmake, "-S", HERE / "external", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}")
        run(cmake, "--build", folder / "build")
        outputs.append(run(folder / "build/external"))

        env = dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "rankloom", env=env).split()
        expect(run("pkg-config", "--modversion", "rankloom", env=env).strip(), "pkg-config knows a version")
        run(compiler, "-std=c11", HERE / "external/main.c", "-o", folder / "by_flags", *flags)
        outputs.append(run(folder / "by_flags", env=dict(os.environ, LD_LIBRARY_PATH=str(lib))))

        run(compiler, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", prefix / "include/rankloom.h",
            "-Wno-pragma-once-outside-header")
        for output in outputs:
            found = re.fullmatch(r"cost (\S+) instead of (\S+)\n", output)
            expect(found and 0 < float(found.group(1)) < float(found.group(2)), f"a better mapping was found: {output!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
