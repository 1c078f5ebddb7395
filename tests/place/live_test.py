#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches programs with real launchers on the hosts of a virtual cluster, and checks where every rank runs.

    live_test.py PROGRAM [CLASS]
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import installed_mpi  # noqa: E402
import installed_slurm  # noqa: E402

KEEP_LOADED = SUPPORT / "keep_loaded.c"
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
OPEN_MPI, MPICH = "mpirun.openmpi", "mpiexec.hydra"
SLURM_TOOLS = ("munged", "slurmctld", "slurmd", "srun", "salloc")
SKIPPED = 77

# Every rank prints where it runs: "rank host cpus". mpirun of Open MPI 5.0.7 may hang if ranks end at once.
WHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
echo "$rank $(hostname) $(sed -n 's/^Cpus_allowed_list:\\t//p' /proc/self/status)"
sleep 0.2
"""

# Every rank prints its memory policy, its network card and its number of threads.
POLICY = """#!/usr/bin/env python3
import ctypes, os, platform
policy = ctypes.c_int(-1)
number = {"aarch64": 236, "x86_64": 239}[platform.machine()]
ctypes.CDLL(None).syscall(number, ctypes.byref(policy), None, 0, None, 0)
line = ["policy", str(policy.value), os.environ.get("FI_CXI_DEVICE_NAME", "-"), "threads", os.environ.get("OMP_NUM_THREADS", "-")]
os.write(1, (" ".join(line) + "\\n").encode())
"""


def missing_requirements():
    """What the tests need and this machine does not have."""
    tools = (OPEN_MPI, MPICH, "ip", "tc") + (SLURM_TOOLS if "Slurm" in sys.argv else ())
    missing = [tool for tool in tools if not shutil.which(tool)]
    if os.geteuid() != 0:
        missing.append("root")
    elif subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        missing.append("namespaces")
    return missing


class TemporaryDirectoryTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="place-")
        self.addCleanup(self.directory.cleanup)
        self.env = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", **installed_mpi.open_mpi().as_root)
        where = pathlib.Path(self.directory.name, "where")
        where.write_text(WHERE)
        where.chmod(0o755)

    def run_command(self, *arguments, status=0, timeout=60):
        done = subprocess.run(["timeout", "-k", "5", str(timeout), *arguments], cwd=self.directory.name, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done

    def rankloom(self, *arguments, **options):
        return self.run_command(str(PROGRAM), *arguments, **options)

    def write(self, name, cores):
        pathlib.Path(self.directory.name, name).write_text("".join(f"{core}\n" for core in cores))


class VirtualClusterTest(TemporaryDirectoryTest):
    """Every test has its own virtual cluster, named after the process."""

    HOSTS, SLOTS, RATE = 3, 2, "none"

    def setUp(self):
        super().setUp()
        self.name = f"t{os.getpid()}"
        self.rankloom("lab", "up", "--name", self.name, "--hosts", str(self.HOSTS), "--slots", str(self.SLOTS), "--rate", self.RATE)
        self.addCleanup(self.rankloom, "lab", "down", "--name", self.name)
        self.rankloom("lab", "topo", "--name", self.name, "-o", "lab.json")
        self.cpus = sorted(os.sched_getaffinity(0))

    def inside(self, *arguments, **options):
        return self.rankloom("lab", "exec", "--name", self.name, "--", *arguments, **options)

    def requested(self, core, bind):
        host = f"{self.name}{core // self.SLOTS + 1}"
        return (host, str(self.cpus[core % self.SLOTS % len(self.cpus)])) if bind else host

    def reported(self, text, bind):
        bindings = {}
        for line in text.split("\n"):
            if line.startswith("#") or not line.strip():
                continue
            rank, host, cpus = line.split()
            bindings[int(rank)] = (host, cpus) if bind else host
        return [bindings.get(rank) for rank in range(len(bindings))]


class Emit(VirtualClusterTest):
    """The commands that emit prints, run as they are."""

    CORES = [5, 0, 3, 2, 4, 1]

    def launch(self, launcher, bind, command=None):
        self.write("mapping", self.CORES)
        made = json.loads(self.rankloom("emit", "mapping", "-t", "lab.json", "--to", launcher, "-o", "launch", "--bind", "core" if bind else "none", "--program", "./where", "--json").stdout)
        emitted = made["commands"][-1]["text"]
        output = self.inside("sh", "-c", command.format(emitted) if command else emitted).stdout
        self.assertEqual(self.reported(output, bind), [self.requested(core, bind) for core in self.CORES], emitted)

    def as_open_mpi(self):
        """mpirun is that of Open MPI, whatever the default of the system is."""
        return "mpirun() {{ mpirun.openmpi \"$@\"; }}; {}"

    def test_rankfile_of_open_mpi(self):
        self.launch(installed_mpi.open_mpi().row, True, self.as_open_mpi())

    def test_hosts_of_open_mpi(self):
        self.launch(installed_mpi.open_mpi().row, False, self.as_open_mpi())

    def test_hostfile_of_open_mpi(self):
        self.launch("hostfile", False, self.as_open_mpi())

    def test_hosts_and_wrapper_of_mpich(self):
        as_mpich = "mpiexec() {{ mpiexec.hydra \"$@\"; }}; {}"
        for row in {"mpich", installed_mpi.mpich().row}:
            self.launch(row, True, as_mpich)
            self.launch(row, False, as_mpich)

    def test_hostfile_of_mpich(self):
        self.write("mapping", self.CORES)
        self.rankloom("emit", "mapping", "-t", "lab.json", "--to", "hostfile", "-o", "launch")
        output = self.inside(MPICH, "-f", "launch/hosts", "-n", "6", "./where").stdout
        self.assertEqual(self.reported(output, False), [self.requested(core, False) for core in self.CORES])

    def test_wrapper_with_both(self):
        hosts = "rankloom emit mapping -t lab.json --to hostfile -o launch >/dev/null && "
        self.launch("wrapper", True, hosts + f"{OPEN_MPI} -n 6 --hostfile launch/hosts --map-by seq --bind-to none {{}}")
        self.launch("wrapper", True, hosts + f"{MPICH} -n 6 -f launch/hosts {{}}")


class Run(VirtualClusterTest):
    def launch_and_verify(self, launcher, bind, *options, status=0, program=("./where",)):
        self.write("mapping", Emit.CORES)
        done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", bind, "--json", *options, "--", launcher, "-n", "6", *program, status=status)
        return json.loads(done.stdout), done.stderr

    def test_verifies_the_reports_of_the_ranks(self):
        for launcher in (OPEN_MPI, MPICH):
            for bind in ("core", "none"):
                with self.subTest(launcher=launcher, bind=bind):
                    result, output = self.launch_and_verify(launcher, bind)
                    self.assertTrue(result["verified"])
                    self.assertEqual(result["confirmed"], 6)
                    lines = [line for line in output.split("\n") if len(line.split()) == 3 and line.split()[0].isdigit()]
                    wanted = [self.requested(core, bind == "core") for core in Emit.CORES]
                    self.assertEqual(self.reported("\n".join(lines), bind == "core"), wanted)

    def test_returns_the_exit_status_of_the_program(self):
        for launcher in (OPEN_MPI, MPICH):
            self.assertEqual(self.launch_and_verify(launcher, "core", status=7, program=("sh", "-c", "sleep 0.2; exit 7"))[0]["status"], 7)

    def test_lists_misplaced_ranks(self):
        """The machine file names processing units that do not exist."""
        machine = json.loads(pathlib.Path(self.directory.name, "lab.json").read_text())
        text = json.dumps(machine).replace('"os_index": 1', '"os_index": 900')
        if len(self.cpus) < 2:
            self.skipTest("one processing unit")
        self.assertIn("900", text)
        pathlib.Path(self.directory.name, "lab.json").write_text(text)
        result, output = self.launch_and_verify(MPICH, "core", "--strict", status=5)
        self.assertFalse(result["verified"])
        self.assertEqual(result["confirmed"], 3)
        self.assertEqual(result["differences"][0]["rank"], 0)
        self.assertIn("cpu 900", result["differences"][0]["requested"])
        self.assertIn("cannot be bound to 900", output)
        self.assertEqual(self.launch_and_verify(MPICH, "core")[0]["status"], 0)  # without --strict the exit status is that of the program
        if installed_mpi.open_mpi().is_prrte:  # counts the processing units of the host, whatever their numbers are
            result, output = self.launch_and_verify(OPEN_MPI, "core", "--strict", status=5)
            self.assertEqual(result["confirmed"], 3)
        else:
            result, output = self.launch_and_verify(OPEN_MPI, "core", status=1)  # exits without a message
            self.assertEqual(result["unreported"], 6)

    def test_keeps_the_files_in_the_named_directory(self):
        self.launch_and_verify(OPEN_MPI, "core", "-o", "kept")
        self.assertEqual(sorted(path.name for path in pathlib.Path(self.directory.name, "kept").iterdir()), [".rankloom", *installed_mpi.open_mpi().files, "report"])
        self.assertEqual([path for path in pathlib.Path(self.directory.name).iterdir() if path.name.startswith(".rankloom")], [])

    def test_places_several_programs(self):
        self.write("mapping", Emit.CORES)
        for launcher in (OPEN_MPI, MPICH):
            starts = launcher == MPICH or installed_mpi.open_mpi().starts_several_programs
            done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--json", "--", launcher, "-n", "2", "./where", ":", "-n", "4", "sleep", "0.2", status=0 if starts else 2)
            if starts:
                self.assertTrue(json.loads(done.stdout)["verified"], done.stderr)
            else:
                self.assertIn("OMPI_COMM_WORLD_RANK", done.stdout + done.stderr)

    def test_programs_may_differ_in_cores_per_rank(self):
        """One rank with both cores of a host, and four ranks with one core each."""
        if len(self.cpus) < 2:
            self.skipTest("one processing unit")
        self.rankloom("map", "gen:ring:ranks=5", "-t", "lab.json", "--cores-per-rank", "1x2,4x1", "-o", "several")
        of_open_mpi = ((OPEN_MPI, []), (OPEN_MPI, ["--map-by", "slot:PE=2"])) if installed_mpi.open_mpi().starts_several_programs else ()
        for launcher, options in (*of_open_mpi, (MPICH, []), (MPICH, ["-bind-to", "core:2"])):
            with self.subTest(launcher=launcher, options=options):
                narrow = [options[0], options[1].replace("2", "1")] if options else []
                done = self.inside("rankloom", "run", "several", "-t", "lab.json", "--strict", "--json", "--",
                                   launcher, *options, "-n", "1", "./where", ":", *narrow, "-n", "4", "./where")
                self.assertEqual(json.loads(done.stdout)["confirmed"], 5, done.stderr)
                lines = sorted(line.split() for line in done.stderr.split("\n") if len(line.split()) == 3 and line.split()[0].isdigit())
                self.assertEqual([cpus for _, _, cpus in lines][0], "0-1", done.stderr)
                self.assertEqual(sorted(cpus for _, _, cpus in lines[1:]), ["0", "0", "1", "1"], done.stderr)
                self.assertNotIn(lines[0][1], {host for _, host, _ in lines[1:]}, "the wide rank has a host of its own")
        refused = self.inside("rankloom", "run", "several", "-t", "lab.json", "--", MPICH, "-n", "2", "./where", ":", "-bind-to", "core:2", "-n", "3", "./where", status=3)
        self.assertIn("rank", refused.stderr + refused.stdout)

    def test_sets_memory_policy_and_variables(self):
        script = pathlib.Path(self.directory.name, "policy")
        script.write_text(POLICY)
        script.chmod(0o755)
        machine = json.loads(pathlib.Path(self.directory.name, "lab.json").read_text())

        def add_cards(thing):
            for part in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ():
                add_cards(part)
            if isinstance(thing, dict) and thing.get("kind") == "node":
                thing["devices"] = [{"kind": "nic", "name": "hsn0"}, {"kind": "nic", "name": "hsn1"}]

        add_cards(machine)
        pathlib.Path(self.directory.name, "lab.json").write_text(json.dumps(machine))
        for launcher in (OPEN_MPI, MPICH):
            for policy, number in (("local", 4), ("interleave", 3)):
                with self.subTest(launcher=launcher, policy=policy):
                    result, output = self.launch_and_verify(launcher, "core", "--membind", policy, "--nic", "nearest", "--strict", program=("./policy",))
                    self.assertEqual(result["confirmed"], 6, output)
                    lines = sorted(line for line in output.split("\n") if line.startswith("policy"))
                    self.assertEqual(lines, 3 * [f"policy {number} cxi0 threads -"] + 3 * [f"policy {number} cxi1 threads -"])
        self.rankloom("map", "gen:ring:ranks=3", "-t", "lab.json", "--cores-per-rank", "2", "-o", "wide")
        for options, threads in (([], "2"), (["--keep-env"], "-")):
            done = self.inside("rankloom", "run", "wide", "-t", "lab.json", "--strict", *options, "--", MPICH, "-n", "3", "./policy")
            self.assertEqual(sorted(line for line in done.stdout.split("\n") if line.startswith("policy")), 3 * [f"policy 0 - threads {threads}"])

    def test_auto_finds_the_profile_of_the_program(self):
        self.env["RANKLOOM_STORE"] = str(pathlib.Path(self.directory.name, "store"))
        self.run_command("mpicc.openmpi", str(KEEP_LOADED.with_name("pairs.c")), str(KEEP_LOADED), "-o", "pairs")
        auto = ["rankloom", "run", "--auto", "--json", "--", OPEN_MPI, "-n"]
        unknown = json.loads(self.inside(*auto, "6", "./pairs").stdout)
        self.assertFalse(unknown["mapped"])
        self.assertIn("no profile with 6 ranks", unknown["reason"])
        self.assertEqual(unknown["status"], 0)
        recorded = json.loads(self.inside("rankloom", "record", "-o", "pairs.prof", "--json", "--", OPEN_MPI, "-n", "6", "./pairs").stdout)
        self.assertTrue(pathlib.Path(recorded["stored"]).is_file())
        done = self.inside(*auto, "6", "./pairs")
        result = json.loads(done.stdout)
        self.assertEqual((result["status"], result.get("confirmed")), (0, 6), done.stdout + done.stderr)
        other = json.loads(self.inside(*auto, "6", "./pairs", "other", "arguments").stdout)
        self.assertEqual((other["status"], other.get("confirmed")), (0, 6), other)
        # mpirun of Open MPI 5 and 6 now and then does not end if its ranks end at once.
        plain = json.loads(self.inside(*auto, "4", "sh", "-c", "sleep 0.3; exit 7", status=7).stdout)
        self.assertEqual((plain["mapped"], plain["status"]), (False, 7))

    def test_binds_ranks_to_several_cores(self):
        """With the options with which users of hybrid programs start them."""
        if len(self.cpus) < 2:
            self.skipTest("one processing unit")
        self.rankloom("map", "gen:ring:ranks=3", "-t", "lab.json", "--cores-per-rank", "2", "-o", "wide")
        removed_in_5 = () if installed_mpi.open_mpi().is_prrte else ((OPEN_MPI, ["--bind-to", "core", "--cpus-per-rank", "2"], "--bind-to core"),)
        for launcher, options, replaced in ((OPEN_MPI, ["--map-by", "slot:PE=2"], "--map-by slot:PE=2"), *removed_in_5,
                                            (MPICH, ["-bind-to", "core:2"], "-bind-to core:2"), (MPICH, ["-ppn", "1"], "-ppn 1")):
            with self.subTest(launcher=launcher, options=options):
                done = self.inside("rankloom", "run", "wide", "-t", "lab.json", "--strict", "--json", "--", launcher, *options, "-n", "3", "./where")
                result = json.loads(done.stdout)
                self.assertEqual(result["confirmed"], 3, done.stderr)
                self.assertIn(replaced, result["replaced"])
                lines = [line.split() for line in done.stderr.split("\n") if len(line.split()) == 3 and line.split()[0].isdigit()]
                self.assertEqual({cpus for _, _, cpus in lines}, {"0-1"}, done.stderr)
        refused = self.inside("rankloom", "run", "wide", "-t", "lab.json", "--", MPICH, "-bind-to", "core:3", "-n", "3", "./where", status=4)
        self.assertIn("does not fit on a node of 2", refused.stderr + refused.stdout)


class Permutation(VirtualClusterTest):
    HOSTS, SLOTS = 8, 8

    def test_of_64_ranks_is_placed_as_requested(self):
        cores = list(range(64))
        random.Random(2015).shuffle(cores)
        self.write("mapping", cores)
        for launcher in (OPEN_MPI, MPICH):
            for bind in ("core", "none"):
                with self.subTest(launcher=launcher, bind=bind):
                    done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", bind, "--strict", "--json", "--", launcher, "-n", "64", "sleep", "0.2")
                    result = json.loads(done.stdout)
                    self.assertEqual((result["confirmed"], result["ranks"]), (64, 64), done.stderr)


SLURM_CONF = """ClusterName=test
SlurmctldHost={name}1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={name}[1-{hosts}] CPUs={slots} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm(VirtualClusterTest):
    """A real Slurm whose nodes are the hosts of the virtual cluster; its processes end with the cluster."""

    HOSTS, SLOTS = 4, 4

    def setUp(self):
        missing = [tool for tool in SLURM_TOOLS if not shutil.which(tool)]
        if missing:
            self.skipTest(f"there is no {missing[0]}")
        super().setUp()
        folder = pathlib.Path(self.directory.name)
        folder.chmod(0o755)  # munged requires it
        keys = folder / "munge"
        keys.mkdir(mode=0o700)
        (keys / "key").write_bytes(os.urandom(1024))
        (keys / "key").chmod(0o400)
        (folder / "state").mkdir()
        conf = folder / "slurm.conf"
        conf.write_text(SLURM_CONF.format(name=self.name, folder=folder, hosts=self.HOSTS, slots=self.SLOTS))
        if installed_slurm.release() >= (24, 5):
            (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")  # otherwise slurmd needs cgroups
        self.env["SLURM_CONF"] = str(conf)
        self.inside("munged", "--force", f"--key-file={keys}/key", f"--socket={folder}/munge.socket", f"--pid-file={keys}/pid", f"--log-file={keys}/log", f"--seed-file={keys}/seed")
        self.inside("slurmctld", "-f", str(conf), "-c")
        for host in range(1, self.HOSTS + 1):
            self.rankloom("lab", "exec", "--name", self.name, "--on", f"{self.name}{host}", "--", "slurmd", "-f", str(conf), "-N", f"{self.name}{host}")
        end = time.monotonic() + 120
        while time.monotonic() < end:
            idle = self.inside("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.split()
            if idle == [str(self.HOSTS)]:
                break
            time.sleep(0.1)
        self.assertEqual(idle, [str(self.HOSTS)])
        cores = list(range(self.HOSTS * self.SLOTS))
        random.Random(4).shuffle(cores)
        self.write("mapping", cores)
        self.cores = cores

    def launch_and_verify(self, *command, status=0):
        ranks = len(self.cores)
        return self.inside("salloc", "-Q", "-N", str(self.HOSTS), "-n", str(ranks), "rankloom", "run", "mapping", "-t", "lab.json", "--strict", "--json", "--", *command, status=status)

    def test_follows_the_mapping(self):
        ranks = str(len(self.cores))
        for command in (["srun", "-n", ranks], [OPEN_MPI, "-n", ranks], [MPICH, "-launcher", "ssh", "-rmk", "user", "-n", ranks]):
            with self.subTest(command=command):
                done = self.launch_and_verify(*command, "sleep", "0.2")
                self.assertEqual(json.loads(done.stdout)["confirmed"], len(self.cores), done.stderr)
        self.assertIn("-rmk user", self.launch_and_verify(MPICH, "-n", ranks, "true", status=2).stderr)

        made = json.loads(self.rankloom("emit", "mapping", "-t", "lab.json", "--to", "slurm", "-o", "launch", "--program", "./where", "--json").stdout)
        script = pathlib.Path(self.directory.name, "where")
        script.write_text(WHERE.replace("$PMI_RANK", "$SLURM_PROCID"))
        output = self.inside("sh", "-c", made["commands"][-1]["text"]).stdout
        self.assertEqual(self.reported(output, True), [self.requested(core, True) for core in self.cores])

    def test_binds_ranks_to_several_cores(self):
        self.rankloom("map", "gen:ring:ranks=8", "-t", "lab.json", "--cores-per-rank", "2", "-o", "mapping")
        for options in (["-c", "2"], ["-c", "2", "--cpu-bind=cores", "--ntasks-per-node=2"], ["-c", "2", "--distribution=block:block", "--hint=nomultithread"]):
            with self.subTest(options=options):
                done = self.launch_and_verify("srun", "-n", "8", *options, "sleep", "0.2")
                self.assertEqual(json.loads(done.stdout)["confirmed"], 8, done.stderr)

    def test_ranks_may_differ_in_cores(self):
        self.rankloom("map", "gen:ring:ranks=8", "-t", "lab.json", "--cores-per-rank", "2x3,6x1", "-o", "mapping")
        done = self.launch_and_verify("srun", "-n", "8", "sleep", "0.2")
        self.assertEqual(json.loads(done.stdout)["confirmed"], 8, done.stderr)

    def test_records_programs_started_by_srun(self):
        programs = pathlib.Path(__file__).resolve().parent.parent / "record" / "programs"
        # On one node: between these hosts, MPICH sometimes hangs in MPI_Finalize, and Open MPI needs a separate /tmp per host.
        for mpi, plugin in (("mpich", "pmi2"), *([("openmpi", "pmix")] if installed_slurm.has_pmix() else [])):
            with self.subTest(mpi=mpi):
                subprocess.run([f"mpicc.{mpi}", programs / "ring.c", *([KEEP_LOADED] if mpi == "openmpi" else []), "-o", pathlib.Path(self.directory.name) / mpi], check=True)
                self.inside("salloc", "-Q", "-N", "1", "-n", "4", "rankloom", "record", "-o", "srun.prof", "--", "srun", f"--mpi={plugin}", "-n", "4", f"./{mpi}")
                lines = self.rankloom("import", "srun.prof", "--to", "pairs").stdout.splitlines()
                pairs = [tuple(map(int, line.split()))[:4] for line in lines if not line.startswith("#")]
                self.assertEqual(pairs, [(0, 1, 1000, 1), (1, 2, 2000, 1), (2, 3, 3000, 1), (3, 0, 4000, 1)])


class VirtualCluster(TemporaryDirectoryTest):
    def running_clusters(self):
        names = json.loads(self.rankloom("lab", "list", "--json").stdout)["labs"]
        return [lab["name"] for lab in names if str(os.getpid()) in lab["name"]]

    def test_ends_with_its_command(self):
        name = f"f{os.getpid()}"
        output = self.rankloom("lab", "exec", "--name", name, "--hosts", "2", "--slots", "2", "--", OPEN_MPI, "-n", "4", "hostname").stdout
        self.assertEqual(sorted(output.split()), [f"{name}1"] * 2 + [f"{name}2"] * 2)
        self.assertEqual(self.running_clusters(), [])

    def test_is_the_machine_of_run(self):
        self.write("mapping", [3, 0, 2, 1])
        inside = f"rankloom run mapping --lab --strict --json -- {OPEN_MPI} -n 4 true && rankloom lab topo | grep -c node"
        output = self.rankloom("lab", "exec", "--name", f"m{os.getpid()}", "--hosts", "2", "--slots", "2", "--", "sh", "-c", inside).stdout.split("\n")
        self.assertEqual(json.loads(output[0])["confirmed"], 4)

    def test_ends_after_an_interruption(self):
        name = f"i{os.getpid()}"
        arguments = [str(PROGRAM), "lab", "exec", "--name", name, "--hosts", "2", "--", "sh", "-c", "echo ready; sleep 60"]
        with subprocess.Popen(arguments, env=self.env, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.terminate()
            process.wait(60)
        self.assertEqual(self.running_clusters(), [])

    def test_kills_its_processes_when_it_is_stopped(self):
        name = f"d{os.getpid()}"
        self.rankloom("lab", "up", "--name", name, "--hosts", "2")
        inside = [str(PROGRAM), "lab", "exec", "--name", name, "--on", f"{name}2", "--", "sh", "-c", "echo ready; exec sleep 60"]
        with subprocess.Popen(inside, env=self.env, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            self.rankloom("lab", "down", "--name", name)
            self.assertEqual(process.wait(60), -9)
        self.assertEqual(self.running_clusters(), [])
        self.rankloom("lab", "exec", "--name", name, "--", "true", status=5)

    def test_refuses_wrong_arguments(self):
        self.rankloom("lab", "up", "--name", "Bad/Name", status=2)
        self.rankloom("lab", "up", "--rate", "fast", status=2)
        self.rankloom("lab", "down", "--name", "nosuchlab", status=5)
        name = f"o{os.getpid()}"
        self.rankloom("lab", "up", "--name", name, "--hosts", "1")
        self.addCleanup(self.rankloom, "lab", "down", "--name", name)
        self.assertIn("lab down", self.rankloom("lab", "up", "--name", name, status=5).stderr)
        self.rankloom("lab", "exec", "--name", name, "--on", "nosuchhost", "--", "true", status=2)

    def test_needs_root(self):
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(PROGRAM), "lab", "up"], env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("root", done.stderr)


class DeadHost(VirtualClusterTest):
    """A host fails before or while ranks run on it: the command ends with an error, and soon."""

    LIMIT = 60  # seconds; far more than a launcher needs to notice
    RUNNING = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank;
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "started.%d", rank);
  fclose(fopen(name, "w"));
  pause();
}
"""

    def kill_host(self, number):
        """Kills all processes in the network namespace of a host, and with them the host."""
        cluster = json.loads(pathlib.Path(f"/run/rankloom-lab/{self.name}/lab.json").read_text())
        holder = next(host["holder"] for host in cluster["hosts"] if host["name"] == f"{self.name}{number}")
        network = os.readlink(f"/proc/{holder}/ns/net")
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "ns" / "net") == network:
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:  # it has ended, or this user may not look at it
                pass

    def compile(self):
        (pathlib.Path(self.directory.name) / "app.c").write_text(self.RUNNING)
        subprocess.run(["mpicc.openmpi", "app.c", KEEP_LOADED, "-o", "app"], cwd=self.directory.name, check=True)

    def start(self, *command):
        """Starts the command with six ranks in the cluster."""
        self.write("mapping", Emit.CORES)
        words = [PROGRAM, "lab", "exec", "--name", self.name, "--", PROGRAM, *command, "--", OPEN_MPI, "-n", "6", "./app"]
        child = subprocess.Popen(words, cwd=self.directory.name, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def assert_it_fails(self, child, text):
        out, _ = child.communicate(timeout=self.LIMIT)
        if not installed_mpi.open_mpi().is_prrte:  # mpirun 5.0 returns 0 when it has lost a host
            self.assertNotEqual(child.returncode, 0, out)
        self.assertRegex(out, text)
        self.assertEqual([path.name for path in pathlib.Path(self.directory.name).iterdir() if path.name.startswith(".rankloom")], [])

    def kill_during(self, *command):
        self.compile()
        child = self.start(*command)
        end = time.monotonic() + self.LIMIT
        started = lambda: len(list(pathlib.Path(self.directory.name).glob("started.*")))
        while started() < 6 and time.monotonic() < end and child.poll() is None:
            time.sleep(0.02)
        self.assertEqual(started(), 6)
        self.kill_host(2)
        self.assert_it_fails(child, r"(?i)lost|abort|killed|missing|signal|ended without|unable to reliably start")

    def test_before_the_launch_is_an_error(self):
        self.compile()
        self.kill_host(2)
        for command in (("run", "mapping", "-t", "lab.json"), ("record", "-o", "out.prof")):
            with self.subTest(command=command[0]):
                self.assert_it_fails(self.start(*command), f"{self.name}2")

    def test_during_run_ends_it(self):
        self.kill_during("run", "mapping", "-t", "lab.json")

    def test_during_record_ends_it(self):
        self.kill_during("record", "-o", "out.prof")


class Groups(VirtualClusterTest):
    """The benchmark of Getmanskiy 2015: if each group is on one host, the links between hosts have nothing to carry. The times are
    asserted by tests/tune, which measures them as users do."""

    HOSTS, SLOTS = 4, 4

    def sent_by_hosts(self):
        """Bytes that the network interfaces of all hosts have sent so far."""
        total = 0
        for host in range(1, self.HOSTS + 1):
            table = self.rankloom("lab", "exec", "--name", self.name, "--on", f"{self.name}{host}", "--", "cat", "/proc/net/dev").stdout
            total += int(re.search(r"eth0:(.*)", table)[1].split()[8])
        return total

    def measure(self, cores, *options):
        """Bytes sent between hosts."""
        self.write("mapping", cores)
        before = self.sent_by_hosts()
        done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", "none", "--strict", "--", OPEN_MPI, "-n", "16", str(PROGRAM.parent / "rankloom-groups.openmpi"), "--json", "--inside", "300000", "--iterations", "2", *options)
        result = json.loads(done.stdout)
        self.assertTrue(result["correct"])
        sent = self.sent_by_hosts() - before
        print(f"{sent / 1e6:.1f} MB between hosts, {result['seconds']:.3f} s", file=sys.stderr)
        return sent

    def positions(self, seed):
        """The shuffle of the program: ranks by position (SplitMix64, Fisher-Yates from the end)."""
        mask, ranks, state = (1 << 64) - 1, list(range(16)), seed
        for i in range(16, 1, -1):
            state = (state + 0x9e3779b97f4a7c15) & mask
            z = ((state ^ (state >> 30)) * 0xbf58476d1ce4e5b9) & mask
            z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & mask
            other = (z ^ (z >> 31)) % i
            ranks[i - 1], ranks[other] = ranks[other], ranks[i - 1]
        return ranks

    def test_use_no_links_when_each_group_is_on_one_host(self):
        together = [0] * 16
        for position, rank in enumerate(self.positions(1)):
            together[rank] = position
        for options in ((), ("--communicators",)):
            with self.subTest(options=options):
                self.assertLess(self.measure(together, *options), self.measure(range(16), *options) / 10)

    def test_report_wrong_arguments(self):
        done = self.inside(OPEN_MPI, "-n", "2", str(PROGRAM.parent / "rankloom-groups.openmpi"), "--per-group", "3", "--groups", "1", status=2)
        self.assertIn("need 3 ranks, but there are 2", done.stderr)


if __name__ == "__main__":
    if missing_requirements():
        print(f"skipped: missing {', '.join(missing_requirements())}")
        sys.exit(SKIPPED)
    unittest.main()
