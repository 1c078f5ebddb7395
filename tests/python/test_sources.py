# SPDX-License-Identifier: Apache-2.0
"""The source distribution is complete and does not depend on the machine that created it."""

import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def build_sources(root, directory):
    directory.mkdir()
    command = f"import sys; sys.path.insert(0, 'python'); import build_backend; print(build_backend.build_sdist({str(directory)!r}))"
    name = subprocess.run([sys.executable, "-c", command], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    assert [path.name for path in directory.iterdir()] == [name]
    return directory / name


def test_the_same_sources_give_the_same_file(tmp_path):
    """Also if it is built from an unpacked source distribution without git."""
    first = build_sources(ROOT, tmp_path / "first")
    with tarfile.open(first) as archive:
        names = set(archive.getnames())
        assert len({(entry.uid, entry.gid, entry.mtime) for entry in archive}) == 1
        archive.extractall(tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert names >= {f"{unpacked.name}/{name}" for name in ("PKG-INFO", "LICENSE", "CMakeLists.txt", "pyproject.toml", "python/build_backend.py", "capi/rankloom.h", "dev")}
    (unpacked / "build").mkdir()
    (unpacked / "build/rest").write_text("of a build")
    second = build_sources(unpacked, tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()
