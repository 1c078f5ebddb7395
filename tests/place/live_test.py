#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches real programs by real launchers on the hosts of a lab, and looks where every rank landed.

    live_test.py PROGRAM [CLASS]
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
OPEN_MPI, MPICH = "mpirun.openmpi", "mpiexec.hydra"
SLURM_TOOLS = ("munged", "slurmctld", "slurmd", "srun", "salloc")
SKIPPED = 77

# Says where it is, once a rank: "rank host cpus".
WHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
echo "$rank $(hostname) $(sed -n 's/^Cpus_allowed_list:\\t//p' /proc/self/status)"
"""


def lacks():
    """What this machine has not got of what the tests need."""
    tools = (OPEN_MPI, MPICH, "ip", "tc") + (SLURM_TOOLS if "Slurm" in sys.argv else ())
    missing = [tool for tool in tools if not shutil.which(tool)]
    if os.geteuid() != 0:
        missing.append("root")
    elif subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        missing.append("namespaces")
    return missing


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="place-")
        self.addCleanup(self.folder.cleanup)
        self.env = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        where = pathlib.Path(self.folder.name, "where")
        where.write_text(WHERE)
        where.chmod(0o755)

    def run_words(self, *words, status=0, timeout=60):
        done = subprocess.run(["timeout", "-k", "5", str(timeout), *words], cwd=self.folder.name, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def rankloom(self, *words, **options):
        return self.run_words(str(PROGRAM), *words, **options)

    def write(self, name, cores):
        pathlib.Path(self.folder.name, name).write_text("".join(f"{core}\n" for core in cores))


class InLab(Folder):
    """Every test has a lab of its own, named after the process."""

    HOSTS, SLOTS, RATE = 3, 2, "none"

    def setUp(self):
        super().setUp()
        self.name = f"t{os.getpid()}"
        self.rankloom("lab", "up", "--name", self.name, "--hosts", str(self.HOSTS), "--slots", str(self.SLOTS), "--rate", self.RATE)
        self.addCleanup(self.rankloom, "lab", "down", "--name", self.name)
        self.rankloom("lab", "topo", "--name", self.name, "-o", "lab.json")
        self.cpus = sorted(os.sched_getaffinity(0))

    def inside(self, *words, **options):
        return self.rankloom("lab", "exec", "--name", self.name, "--", *words, **options)

    def asked(self, core, bind):
        host = f"{self.name}{core // self.SLOTS + 1}"
        return (host, str(self.cpus[core % self.SLOTS % len(self.cpus)])) if bind else host

    def found(self, text, bind):
        seats = {}
        for line in text.split("\n"):
            if line.startswith("#") or not line.strip():
                continue
            rank, host, cpus = line.split()
            seats[int(rank)] = (host, cpus) if bind else host
        return [seats.get(rank) for rank in range(len(seats))]


class Emit(InLab):
    """The commands that emit prints, run as they are."""

    CORES = [5, 0, 3, 2, 4, 1]

    def launch(self, launcher, bind, command=None):
        self.write("mapping", self.CORES)
        made = json.loads(self.rankloom("emit", "mapping", "-t", "lab.json", "--to", launcher, "-o", "launch", "--bind", "core" if bind else "none", "--program", "./where", "--json").stdout)
        words = made["commands"][-1]["text"]
        said = self.inside("sh", "-c", command.format(words) if command else words).stdout
        self.assertEqual(self.found(said, bind), [self.asked(core, bind) for core in self.CORES], words)

    def as_open_mpi(self):
        """mpirun is Open MPI's whatever the system's default is."""
        return "mpirun() {{ mpirun.openmpi \"$@\"; }}; {}"

    def test_rankfile_of_open_mpi(self):
        self.launch("openmpi4", True, self.as_open_mpi())

    def test_hosts_of_open_mpi(self):
        self.launch("openmpi4", False, self.as_open_mpi())

    def test_hostfile_of_open_mpi(self):
        self.launch("hostfile", False, self.as_open_mpi())

    def test_hosts_and_wrapper_of_mpich(self):
        as_mpich = "mpiexec() {{ mpiexec.hydra \"$@\"; }}; {}"
        self.launch("mpich", True, as_mpich)
        self.launch("mpich", False, as_mpich)

    def test_hostfile_of_mpich(self):
        self.write("mapping", self.CORES)
        self.rankloom("emit", "mapping", "-t", "lab.json", "--to", "hostfile", "-o", "launch")
        said = self.inside(MPICH, "-f", "launch/hosts", "-n", "6", "./where").stdout
        self.assertEqual(self.found(said, False), [self.asked(core, False) for core in self.CORES])

    def test_wrapper_behind_both(self):
        hosts = "rankloom emit mapping -t lab.json --to hostfile -o launch >/dev/null && "
        self.launch("wrapper", True, hosts + f"{OPEN_MPI} -n 6 --hostfile launch/hosts --map-by seq --bind-to none {{}}")
        self.launch("wrapper", True, hosts + f"{MPICH} -n 6 -f launch/hosts {{}}")


class Run(InLab):
    def prove(self, launcher, bind, *options, status=0, program=("./where",)):
        self.write("mapping", Emit.CORES)
        done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", bind, "--json", *options, "--", launcher, "-n", "6", *program, status=status)
        return json.loads(done.stdout), done.stderr

    def test_verifies_what_the_ranks_themselves_say(self):
        for launcher in (OPEN_MPI, MPICH):
            for bind in ("core", "none"):
                with self.subTest(launcher=launcher, bind=bind):
                    seen, said = self.prove(launcher, bind)
                    self.assertTrue(seen["verified"])
                    self.assertEqual(seen["confirmed"], 6)
                    lines = [line for line in said.split("\n") if len(line.split()) == 3 and line.split()[0].isdigit()]
                    wanted = [self.asked(core, bind == "core") for core in Emit.CORES]
                    self.assertEqual(self.found("\n".join(lines), bind == "core"), wanted)

    def test_gives_the_status_of_the_program(self):
        for launcher in (OPEN_MPI, MPICH):
            self.assertEqual(self.prove(launcher, "core", status=7, program=("sh", "-c", "exit 7"))[0]["status"], 7)

    def test_tells_which_ranks_are_elsewhere(self):
        """A machine file that is wrong about the processing units."""
        machine = json.loads(pathlib.Path(self.folder.name, "lab.json").read_text())
        text = json.dumps(machine).replace('"os_index": 1', '"os_index": 900')
        if len(self.cpus) < 2:
            self.skipTest("one processing unit")
        self.assertIn("900", text)
        pathlib.Path(self.folder.name, "lab.json").write_text(text)
        seen, said = self.prove(MPICH, "core", "--strict", status=5)
        self.assertFalse(seen["verified"])
        self.assertEqual(seen["confirmed"], 3)
        self.assertEqual(seen["differences"][0]["rank"], 0)
        self.assertIn("cpu 900", seen["differences"][0]["requested"])
        self.assertIn("cannot be bound to 900", said)
        self.assertEqual(self.prove(MPICH, "core")[0]["status"], 0)  # without --strict the program's own
        seen, said = self.prove(OPEN_MPI, "core", status=1)  # ends without a word of its own
        self.assertEqual(seen["unreported"], 6)

    def test_keeps_the_files_where_asked(self):
        self.prove(OPEN_MPI, "core", "-o", "kept")
        self.assertEqual(sorted(path.name for path in pathlib.Path(self.folder.name, "kept").iterdir()), ["rankfile", "report"])
        self.assertEqual([path for path in pathlib.Path(self.folder.name).iterdir() if path.name.startswith(".rankloom")], [])

    def test_places_several_programs(self):
        self.write("mapping", Emit.CORES)
        for launcher in (OPEN_MPI, MPICH):
            done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--json", "--", launcher, "-n", "2", "./where", ":", "-n", "4", "true")
            self.assertTrue(json.loads(done.stdout)["verified"], done.stderr)


class Permutation(InLab):
    HOSTS, SLOTS = 8, 8

    def test_of_64_ranks_lands_where_asked(self):
        cores = list(range(64))
        random.Random(2015).shuffle(cores)
        self.write("mapping", cores)
        for launcher in (OPEN_MPI, MPICH):
            for bind in ("core", "none"):
                with self.subTest(launcher=launcher, bind=bind):
                    done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", bind, "--strict", "--json", "--", launcher, "-n", "64", "true")
                    seen = json.loads(done.stdout)
                    self.assertEqual((seen["confirmed"], seen["ranks"]), (64, 64), done.stderr)


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


class Slurm(InLab):
    """A real Slurm whose nodes are the hosts of the lab; everything of it ends with the lab."""

    HOSTS, SLOTS = 4, 4

    def setUp(self):
        missing = [tool for tool in SLURM_TOOLS if not shutil.which(tool)]
        if missing:
            self.skipTest(f"there is no {missing[0]}")
        super().setUp()
        folder = pathlib.Path(self.folder.name)
        folder.chmod(0o755)  # munged insists
        keys = folder / "munge"
        keys.mkdir(mode=0o700)
        (keys / "key").write_bytes(os.urandom(1024))
        (keys / "key").chmod(0o400)
        (folder / "state").mkdir()
        conf = folder / "slurm.conf"
        conf.write_text(SLURM_CONF.format(name=self.name, folder=folder, hosts=self.HOSTS, slots=self.SLOTS))
        self.env["SLURM_CONF"] = str(conf)
        self.inside("munged", "--force", f"--key-file={keys}/key", f"--socket={folder}/munge.socket", f"--pid-file={keys}/pid", f"--log-file={keys}/log", f"--seed-file={keys}/seed")
        self.inside("slurmctld", "-f", str(conf), "-c")
        for host in range(1, self.HOSTS + 1):
            self.rankloom("lab", "exec", "--name", self.name, "--on", f"{self.name}{host}", "--", "slurmd", "-f", str(conf), "-N", f"{self.name}{host}")
        for _ in range(300):
            idle = self.inside("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.split()
            if idle == [str(self.HOSTS)]:
                break
            time.sleep(0.1)
        self.assertEqual(idle, [str(self.HOSTS)])
        cores = list(range(self.HOSTS * self.SLOTS))
        random.Random(4).shuffle(cores)
        self.write("mapping", cores)
        self.cores = cores

    def prove(self, *command, status=0):
        ranks = len(self.cores)
        return self.inside("salloc", "-Q", "-N", str(self.HOSTS), "-n", str(ranks), "rankloom", "run", "mapping", "-t", "lab.json", "--strict", "--json", "--", *command, status=status)

    def test_follows_the_mapping(self):
        ranks = str(len(self.cores))
        for command in (["srun", "-n", ranks], [OPEN_MPI, "-n", ranks], [MPICH, "-launcher", "ssh", "-rmk", "user", "-n", ranks]):
            with self.subTest(command=command):
                done = self.prove(*command, "true")
                self.assertEqual(json.loads(done.stdout)["confirmed"], len(self.cores), done.stderr)
        self.assertIn("-rmk user", self.prove(MPICH, "-n", ranks, "true", status=2).stderr)

        made = json.loads(self.rankloom("emit", "mapping", "-t", "lab.json", "--to", "slurm", "-o", "launch", "--program", "./where", "--json").stdout)
        script = pathlib.Path(self.folder.name, "where")
        script.write_text(WHERE.replace("$PMI_RANK", "$SLURM_PROCID"))
        said = self.inside("sh", "-c", made["commands"][-1]["text"]).stdout
        self.assertEqual(self.found(said, True), [self.asked(core, True) for core in self.cores])

    def test_what_srun_starts_is_recorded(self):
        programs = pathlib.Path(__file__).resolve().parent.parent / "record" / "programs"
        # On one node: between these hosts, MPICH hangs in its end now and then, and Open MPI misses a /tmp of its own.
        for mpi, plugin in (("mpich", "pmi2"), ("openmpi", "pmix")):
            with self.subTest(mpi=mpi):
                subprocess.run([f"mpicc.{mpi}", programs / "ring.c", "-o", pathlib.Path(self.folder.name) / mpi], check=True)
                self.inside("salloc", "-Q", "-N", "1", "-n", "4", "rankloom", "record", "-o", "srun.prof", "--", "srun", f"--mpi={plugin}", "-n", "4", f"./{mpi}")
                lines = self.rankloom("import", "srun.prof", "--to", "pairs").stdout.splitlines()
                pairs = [tuple(map(int, line.split()))[:4] for line in lines if not line.startswith("#")]
                self.assertEqual(pairs, [(0, 1, 1000, 1), (1, 2, 2000, 1), (2, 3, 3000, 1), (3, 0, 4000, 1)])


class VirtualCluster(Folder):
    def left(self):
        names = json.loads(self.rankloom("lab", "list", "--json").stdout)["labs"]
        return [lab["name"] for lab in names if str(os.getpid()) in lab["name"]]

    def test_is_gone_after_its_command(self):
        name = f"f{os.getpid()}"
        said = self.rankloom("lab", "exec", "--name", name, "--hosts", "2", "--slots", "2", "--", OPEN_MPI, "-n", "4", "hostname").stdout
        self.assertEqual(sorted(said.split()), [f"{name}1"] * 2 + [f"{name}2"] * 2)
        self.assertEqual(self.left(), [])

    def test_is_the_machine_of_run(self):
        self.write("mapping", [3, 0, 2, 1])
        inside = f"rankloom run mapping --lab --strict --json -- {OPEN_MPI} -n 4 true && rankloom lab topo | grep -c node"
        said = self.rankloom("lab", "exec", "--name", f"m{os.getpid()}", "--hosts", "2", "--slots", "2", "--", "sh", "-c", inside).stdout.split("\n")
        self.assertEqual(json.loads(said[0])["confirmed"], 4)

    def test_is_gone_after_an_interruption(self):
        name = f"i{os.getpid()}"
        words = [str(PROGRAM), "lab", "exec", "--name", name, "--hosts", "2", "--", "sh", "-c", "echo ready; sleep 60"]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.terminate()
            process.wait(20)
        self.assertEqual(self.left(), [])

    def test_takes_everything_with_it(self):
        name = f"d{os.getpid()}"
        self.rankloom("lab", "up", "--name", name, "--hosts", "2")
        inside = [str(PROGRAM), "lab", "exec", "--name", name, "--on", f"{name}2", "--", "sleep", "60"]
        with subprocess.Popen(inside, env=self.env) as process:
            self.rankloom("lab", "down", "--name", name)
            self.assertEqual(process.wait(20), -9)
        self.assertEqual(self.left(), [])
        self.rankloom("lab", "exec", "--name", name, "--", "true", status=5)

    def test_refuses_what_it_cannot_do(self):
        self.rankloom("lab", "up", "--name", "Bad/Name", status=2)
        self.rankloom("lab", "up", "--rate", "fast", status=2)
        self.rankloom("lab", "down", "--name", "nosuchlab", status=5)
        name = f"o{os.getpid()}"
        self.rankloom("lab", "up", "--name", name, "--hosts", "1")
        self.addCleanup(self.rankloom, "lab", "down", "--name", name)
        self.assertIn("lab down", self.rankloom("lab", "up", "--name", name, status=5).stderr)
        self.rankloom("lab", "exec", "--name", name, "--on", "nosuchhost", "--", "true", status=2)

    def test_says_that_it_needs_root(self):
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(PROGRAM), "lab", "up"], env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("root", done.stderr)


class Groups(InLab):
    """The benchmark of Getmanskiy 2015, slow in the default order and fast where its groups sit together."""

    HOSTS, SLOTS, RATE = 4, 4, "25mbit"  # slow, so that the network decides on a busy machine too

    def measure(self, cores, *options):
        self.write("mapping", cores)
        done = self.inside("rankloom", "run", "mapping", "-t", "lab.json", "--bind", "none", "--strict", "--", OPEN_MPI, "-n", "16", str(PROGRAM.parent / "rankloom-groups.openmpi"), "--json", "--inside", "300000", "--iterations", "2", *options)
        seen = json.loads(done.stdout)
        self.assertTrue(seen["correct"])
        return seen["seconds"]

    def positions(self, seed):
        """The program's own shuffle: ranks by position (SplitMix64, Fisher-Yates from the end)."""
        mask, ranks, state = (1 << 64) - 1, list(range(16)), seed
        for i in range(16, 1, -1):
            state = (state + 0x9e3779b97f4a7c15) & mask
            z = ((state ^ (state >> 30)) * 0xbf58476d1ce4e5b9) & mask
            z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & mask
            other = (z ^ (z >> 31)) % i
            ranks[i - 1], ranks[other] = ranks[other], ranks[i - 1]
        return ranks

    def test_run_twice_as_fast_when_they_sit_together(self):
        together = [0] * 16
        for position, rank in enumerate(self.positions(1)):
            together[rank] = position
        for options in ((), ("--communicators",)):
            with self.subTest(options=options):
                self.assertLess(self.measure(together, *options), self.measure(range(16), *options) / 2)

    def test_say_what_is_wrong(self):
        done = self.inside(OPEN_MPI, "-n", "2", str(PROGRAM.parent / "rankloom-groups.openmpi"), "--per-group", "3", "--groups", "1", status=2)
        self.assertIn("need 3 ranks, there are 2", done.stderr)


if __name__ == "__main__":
    if lacks():
        print(f"skipped: there is no {', no '.join(lacks())}")
        sys.exit(SKIPPED)
    unittest.main()
