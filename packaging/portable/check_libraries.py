#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the programs and libraries of the portable archive need from the machine: only the C library, at most of version
2.31, and for the programs that are linked with MPI also an MPI library.

    check_libraries.py FOLDER
"""
import pathlib
import re
import subprocess
import sys

MAX_GLIBC = (2, 31)
C_LIBRARY = re.compile(r"(libc|libm|libpthread|libdl|librt)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")
MPI_LIBRARY = re.compile(r"lib(mpi|mpich)\.so\.\d+")
LINKED_WITH_MPI = re.compile(r"rankloom-(probe|groups)")


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"


def violations(path):
    headers = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    for needed in re.findall(r"NEEDED +(\S+)", headers):
        mpi = LINKED_WITH_MPI.match(path.name) and MPI_LIBRARY.fullmatch(needed)
        if not C_LIBRARY.fullmatch(needed) and not mpi:
            yield f"needs {needed}"
    if "RPATH" in headers or "RUNPATH" in headers:
        yield "has a search path for libraries"
    symbols = subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
    for version, symbol in sorted(set(re.findall(r"\*UND\*.*\(?GLIBC_([\d.]+)\)? +(\S+)", symbols))):
        if tuple(map(int, version.split("."))) > MAX_GLIBC:
            yield f"needs {symbol} of glibc {version}"


def newest(paths):
    """The newest version of the C library that any of them needs."""
    texts = (subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout for path in paths)
    return max(tuple(map(int, version.split("."))) for text in texts for version in re.findall(r"GLIBC_([\d.]+)", text))


def main():
    paths = sorted(filter(is_elf, pathlib.Path(sys.argv[1]).rglob("*")))
    if not paths:
        sys.exit(f"{sys.argv[1]} contains no programs")
    found = [f"{path}: {violation}" for path in paths for violation in violations(path)]
    print("\n".join(found) or f"{len(paths)} programs and libraries need glibc {'.'.join(map(str, newest(paths)))} or later")
    sys.exit(1 if found else 0)


main()
