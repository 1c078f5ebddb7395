# SPDX-License-Identifier: Apache-2.0
"""python: the build backend of `pip install .` (PEP 517). It builds the module by CMake and packs it into a wheel. It needs no
Python packages.

Settings (`pip install . --config-settings=NAME=VALUE`):
    build-dir   a build directory that is kept; default: a temporary one
    module      a module that is already built
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/rankloom"


def version():
    return re.search(r"project\(rankloom VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def metadata():
    return (f"Metadata-Version: 2.1\nName: rankloom\nVersion: {version()}\n"
            "Summary: Maps the processes of a parallel program onto the machine they run on\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\nProvides-Extra: sparse\nRequires-Dist: scipy; extra == \"sparse\"\n"
            "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())


def tag():
    python = "cp" + sysconfig.get_config_var("py_version_nodot")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def build_module(directory):
    subprocess.run(["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRANKLOOM_TESTS=OFF",
                    "-DRANKLOOM_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", directory, "--target", "rankloom_python"], check=True)
    # The module for this Python. A build directory may contain modules for other versions.
    return next((pathlib.Path(directory) / "python/rankloom").glob("_rankloom" + sysconfig.get_config_var("EXT_SUFFIX")))


def write_wheel(path, module):
    info = f"rankloom-{version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: rankloom\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    files = {f"rankloom/{source.name}": source.read_bytes() for source in sorted(PACKAGE.iterdir()) if source.is_file()}
    files[f"rankloom/{module.name}"] = module.read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = wheel.encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    temporary = path.with_suffix(".part")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same content gives the same file
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    os.replace(temporary, path)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    name = f"rankloom-{version()}-{tag()}.whl"
    path = pathlib.Path(wheel_directory) / name
    if "module" in settings:
        write_wheel(path, pathlib.Path(settings["module"]))
    elif "build-dir" in settings:
        write_wheel(path, build_module(settings["build-dir"]))
    else:
        with tempfile.TemporaryDirectory(prefix="rankloom-") as directory:
            write_wheel(path, build_module(directory))
    return name


def source_files():
    """All that git knows; of sources that came without it, all but what was built."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
        return sorted(filter(None, map(os.fsdecode, listed)))
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file() or path.is_symlink())
    built = re.compile(r"build(-.*)?$")
    return sorted(str(path) for path in files if not built.match(path.parts[0]) and "__pycache__" not in path.parts and str(path) != "PKG-INFO")


def source_time():
    """When the sources were made: their commit; without git, what the release has given its files."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    if (ROOT / ".git").exists():
        return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True).stdout)
    return int((ROOT / "CMakeLists.txt").stat().st_mtime)


def build_sdist(sdist_directory, config_settings=None):
    """The sources and PKG-INFO, all of one time and without owners: the same sources give the same file."""
    base = f"rankloom-{version()}"
    path = pathlib.Path(sdist_directory) / f"{base}.tar.gz"
    temporary = path.with_suffix(".part")
    time = source_time()

    def anonymous(entry):
        entry.uid = entry.gid = 0
        entry.mtime = time
        entry.uname = entry.gname = "root"
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with open(temporary, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in source_files():
            archive.add(ROOT / name, f"{base}/{name}", recursive=False, filter=anonymous)
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(metadata().encode())
        archive.addfile(anonymous(entry), io.BytesIO(metadata().encode()))
    os.replace(temporary, path)
    return path.name
