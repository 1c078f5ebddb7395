# SPDX-License-Identifier: Apache-2.0
"""Whether PyTorch is installed, and with which backends.

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
    import installed_torch

    installed_torch.missing("mpi")    "torch is not installed", "torch 1.13.1 has no backend mpi", or "" if nothing is missing
"""

import functools
import subprocess
import sys

QUESTION = """
import torch, torch.distributed as dist
backends = [name for name in ("gloo", "mpi") if dist.is_available() and getattr(dist, f"is_{name}_available")()]
print(torch.__version__.split("+")[0], *backends)
"""


@functools.cache
def version_and_backends():
    """["2.6.0", "gloo", "mpi"]; [] without torch."""
    done = subprocess.run([sys.executable, "-c", QUESTION], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def missing(backend):
    found = version_and_backends()
    if not found:
        return "torch is not installed"
    return "" if backend in found[1:] else f"torch {found[0]} has no backend {backend}"
