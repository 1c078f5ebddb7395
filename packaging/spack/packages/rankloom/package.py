# SPDX-License-Identifier: Apache-2.0
"""packaging: how Spack builds rankloom. Every option of CMake that it sets is one of CMakeLists.txt, and a test compares them
(tests/packages/spack_test.py). The sources are those of the release tarball, `./dev release`."""

from spack.package import *


class Rankloom(CMakePackage):
    """Places communicating processes close to each other: records the communication pattern, discovers the machine, maps
    ranks to cores, exports the mapping for a launcher, verifies and measures it."""

    license("Apache-2.0 AND GPL-2.0-or-later")
    maintainers()

    # No version has a public address yet: `spack dev-build` or `spack develop` of a source tree.
    version("0.1.0")

    variant("openmpi", default=True, description="Record and reorder programs of Open MPI")
    variant("mpich", default=False, description="Record and reorder programs of MPICH")
    variant("slurm", default=False, description="Plugins for Slurm 22.05 to 26.05")
    variant("simgrid", default=False, description="Predict run times by SimGrid")
    variant("otf2", default=True, description="Read OTF2 archives (Score-P, TAU, eztrace)")
    variant("hwloc", default=True, description="Look at hosts and read their hwloc files")
    variant("scotch", default=True, description="The mapper scotch")
    variant("metis", default=True, description="The mapper metis")
    variant("python", default=False, description="The Python module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    conflicts("%gcc@:11")
    conflicts("%clang@:13")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("fmt@9:")
    depends_on("tl-expected")
    depends_on("intel-tbb@2021:")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("eigen@3.4:", type="build")
    depends_on("spectra@1.0:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("sqlite@3")
    depends_on("libyaml@0.2.1:")

    depends_on("openmpi@4.1:", when="+openmpi")
    depends_on("mpich@4.0:", when="+mpich")
    # Two MPIs are two virtual providers: one installation of rankloom is for one of them.
    conflicts("+openmpi", when="+mpich", msg="choose one MPI for each installation")
    depends_on("slurm@22-05:26-05", when="+slurm")
    depends_on("simgrid@3.32: +smpi", when="+simgrid")
    depends_on("otf2@3:", when="+otf2")
    depends_on("hwloc@2.5:", when="+hwloc")
    depends_on("scotch@7: +int64 ~mpi", when="+scotch")
    depends_on("metis@5", when="+metis")
    extends("python", when="+python")
    depends_on("python@3.9:", type=("build", "link", "run"), when="+python")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("RANKLOOM_TESTS", self.run_tests),
            self.define("RANKLOOM_BENCH", False),
            self.define_from_variant("RANKLOOM_OPENMPI", "openmpi"),
            self.define_from_variant("RANKLOOM_MPICH", "mpich"),
            self.define_from_variant("RANKLOOM_SLURM", "slurm"),
            self.define_from_variant("RANKLOOM_SIMGRID", "simgrid"),
            self.define_from_variant("RANKLOOM_OTF2", "otf2"),
            self.define_from_variant("RANKLOOM_HWLOC", "hwloc"),
            self.define_from_variant("RANKLOOM_SCOTCH", "scotch"),
            self.define_from_variant("RANKLOOM_METIS", "metis"),
            self.define_from_variant("RANKLOOM_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("RANKLOOM_PYTHON_FOLDER", python_platlib))
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        program = Executable(join_path(self.prefix.bin, "rankloom"))
        program("--version")
        program("map", "gen:groups:groups=4,per-group=4", "-t", "node:4=10 core:4=1", "-o", "check.map")
