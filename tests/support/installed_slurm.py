# SPDX-License-Identifier: Apache-2.0
"""Which Slurm is installed.

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
    import installed_slurm

    installed_slurm.release()    (24, 11) for Slurm 24.11.5
    installed_slurm.has_pmix()   whether srun starts programs of Open MPI
"""

import functools
import glob
import os
import re
import shutil
import subprocess


@functools.cache
def release():
    daemon = shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin")  # clients look for a configuration first
    text = subprocess.run([daemon, "-V"], capture_output=True, text=True, timeout=60, check=True).stdout
    return tuple(int(number) for number in re.search(r"(\d+)\.(\d+)", text).groups())


def has_pmix():
    """Debian's Slurm 26.05 has no plugin for PMIx."""
    return bool(glob.glob("/usr/lib/*/slurm-wlm/mpi_pmix*.so"))
