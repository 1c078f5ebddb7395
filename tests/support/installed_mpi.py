# SPDX-License-Identifier: Apache-2.0
"""Which MPI implementations are installed, and which row of rankloom's table of launchers their versions belong to.

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
    import installed_mpi

    installed_mpi.open_mpi().row         "openmpi5"
    installed_mpi.open_mpi().version     (5, 0, 7)
    installed_mpi.open_mpi().environment variables that allow root, and more ranks than slots
"""

import functools
import re
import shutil
import subprocess


class Installed:
    """One launcher of this machine. `version` is () if it is not installed."""

    def __init__(self, program, pattern):
        self.program = program
        text = ""
        if shutil.which(program):
            done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            text = done.stdout + done.stderr
        found = re.search(pattern + r"\D*(\d+)\.(\d+)(?:\.(\d+))?", text)
        self.version = tuple(int(part or 0) for part in found.groups()) if found else ()

    @property
    def major(self):
        return self.version[0] if self.version else 0

    def __bool__(self):
        return bool(self.version)


class OpenMpi(Installed):
    def __init__(self):
        super().__init__("mpirun.openmpi", r"\((?:Open MPI|OpenRTE)\)")

    @property
    def row(self):
        return f"openmpi{min(max(self.major, 4), 6)}"

    @property
    def is_prrte(self):
        """Whether mpirun is the launcher of PRRTE, which needs a list of hosts for a rankfile."""
        return self.major >= 5

    @property
    def oversubscribe(self):
        """The options that allow more ranks than slots."""
        return ["--map-by", ":oversubscribe"] if self.is_prrte else ["--oversubscribe"]

    @property
    def as_root(self):
        """The variables that allow the user root."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    @property
    def environment(self):
        """The variables that allow the user root, and more ranks than slots."""
        if not self.is_prrte:
            return {**self.as_root, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        return {**self.as_root, "PRTE_MCA_mapby" if self.major >= 6 else "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe"}

    @property
    def one_sided(self):
        """The variables with which one-sided communication works everywhere."""
        return {} if self.is_prrte else {"OMPI_MCA_osc": "pt2pt,sm"}

    @property
    def tag_output(self):
        """The options with which every line names its rank."""
        return ["--output", "tag"] if self.is_prrte else ["--tag-output"]

    @property
    def starts_several_programs(self):
        """mpirun 5.0.7 crashes if a command has several programs."""
        return self.version != (5, 0, 7)

    @property
    def nonblocking_in_place_crashes(self):
        """A program that uses mpi_f08 ends by a signal in nonblocking collectives with MPI_IN_PLACE of Open MPI 6.0.0rc2."""
        return self.major >= 6

    @property
    def monitoring_crashes(self):
        """Any program with pml_monitoring ends by a signal in MPI_Init of Open MPI 6.0.0rc2."""
        return self.major >= 6

    @property
    def files(self):
        """What `rankloom run` writes."""
        return ["hosts", "rankfile"] if self.is_prrte else ["rankfile"]


class Mpich(Installed):
    def __init__(self, program="mpiexec.hydra"):
        super().__init__(program, r"Version:")

    @property
    def row(self):
        return "mpich5" if self.major >= 5 else "mpich"

    @property
    def loses_status(self):
        """mpiexec of MPICH 4.2.1 returns 0 now and then (in 3 of 20 runs) although all ranks ended with another status."""
        return self.version[:2] == (4, 2)


@functools.cache
def open_mpi():
    return OpenMpi()


@functools.cache
def mpich():
    return Mpich()
