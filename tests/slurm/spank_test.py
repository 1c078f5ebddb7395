#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`srun --rankloom` in a complete Slurm: MPI programs print their bindings as reported by the kernel.

    spank_test.py PROGRAM [CLASS]
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PLUGIN = PROGRAM.parent.parent / "lib" / "rankloom" / "slurm" / "spank_rankloom.so"
SOURCES = pathlib.Path(__file__).resolve().parent
SUPPORT = SOURCES.parent / "support"
KEEP_LOADED = SUPPORT / "keep_loaded.c"
sys.path.insert(0, str(SUPPORT))
import installed_slurm  # noqa: E402

TOOLS = ("munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch", "mpicc.openmpi", "mpicc.mpich")
SKIPPED = 77
# Some distributions build Slurm without PMIx; Open MPI then needs its own launcher. MPI, plugin of srun, arguments of print_binding.
HAS_PMIX = installed_slurm.has_pmix()
MPIS = [*([("openmpi", "pmix", ())] if HAS_PMIX else []), ("mpich", "pmi2", ("leave",))]
DEFAULT_PLACEMENT = "Slurm's default placement is used"

# Prints "rank host cpus" and the variables of the plugin that it sees.
WHERE = """#!/bin/sh
echo "$SLURM_PROCID $(hostname) $(sed -n 's/^Cpus_allowed_list:\\t//p' /proc/self/status) $(env | grep -c RANKLOOM_CPUS)${SLURM_HOSTFILE}"
"""

def missing_requirements():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if not PLUGIN.exists():
        missing.append("plugin (libslurm-dev)")
    if os.geteuid() != 0:
        missing.append("root")
    elif subprocess.run(["unshare", "--uts", "--ipc", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        missing.append("namespaces")
    return missing


class InSlurm(unittest.TestCase):
    """One Slurm for all tests of a class: a mesh of nodes with CPUS processors each."""

    MESH, CPUS, OPTIONS = "mesh:2x4", 2, ()
    SCRIPTS = {"where": WHERE}

    @classmethod
    def machine(cls):
        """The machine as a topology string, or the name of a file of the test's directory."""
        return f"{cls.MESH} core:{cls.CPUS}"

    @classmethod
    def setUpClass(cls):
        cls.name = f"t{os.getpid()}"
        directory = tempfile.TemporaryDirectory(prefix="spank-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        cls.env = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
        for mpi in ("openmpi", "mpich"):
            subprocess.run([f"mpicc.{mpi}", SOURCES / "print_binding.c", *([KEEP_LOADED] if mpi == "openmpi" else []), "-o", cls.directory / f"print_binding.{mpi}"], check=True)
        for name, text in cls.SCRIPTS.items():
            (cls.directory / name).write_text(text)
            (cls.directory / name).chmod(0o755)
        made = subprocess.run([PROGRAM, "slurm", "lab", "up", "--name", cls.name, "-t", cls.machine(), "--cpus", str(cls.CPUS), "--json", *cls.OPTIONS],
                              cwd=cls.directory, env=cls.env, capture_output=True, text=True, timeout=120, check=False)
        assert made.returncode == 0, made.stderr
        cls.addClassCleanup(subprocess.run, [PROGRAM, "slurm", "lab", "down", "--name", cls.name], env=cls.env, capture_output=True, check=True)
        lab = json.loads(made.stdout)
        cls.env.update(lab["environment"])
        cls.nodes = lab["nodes"]
        cls.lab = pathlib.Path(lab["directory"])
        cls.units = sorted(os.sched_getaffinity(0))

    def run_command(self, *arguments, status=0, timeout=60):
        done = subprocess.run(["timeout", "-k", "5", str(timeout), *map(str, arguments)], cwd=self.directory, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
        return done

    def srun(self, ranks, *arguments, nodes=None, **options):
        """Runs srun in a job of the first `nodes` nodes; default: all nodes."""
        job = ",".join(self.nodes[:nodes])
        return self.run_command("salloc", "-Q", "-w", job, "-n", ranks, "srun", *arguments, **options)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text if isinstance(text, str) else "".join(f"{core}\n" for core in text))
        return name

    def binding(self, core):
        """The node and the processing unit of a core, as printed by the ranks. Cores share the existing units round-robin."""
        return self.nodes[core // self.CPUS], str(self.units[core % self.CPUS % len(self.units)])

    def bindings(self, text):
        bindings = {int(fields[0]): (fields[1], fields[2]) for fields in map(str.split, text.splitlines())}
        return [bindings.get(rank) for rank in range(len(bindings))]

    def shuffled(self, count, seed):
        cores = list(range(count))
        random.Random(seed).shuffle(cores)
        return cores


class Placement(InSlurm):
    def test_follows_the_mapping_with_both_mpis(self):
        cores = self.shuffled(16, 7)
        self.write("m", cores)
        for mpi, plugin, how in MPIS:
            with self.subTest(mpi=mpi):
                done = self.srun(16, f"--mpi={plugin}", "--rankloom=m", f"./print_binding.{mpi}", *how)
                self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in cores])
                self.assertNotIn("wrong", done.stdout)
                self.assertEqual(done.stderr, "")

    def test_of_a_json_mapping_and_a_topology(self):
        self.write("m.json", json.dumps({"mapping": [5, 0, 14]}))
        done = self.srun(16, "-n", "3", "--rankloom=m.json,topology=mesh:2x4 core:2", "./where")
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in (5, 0, 14)])

    def test_is_not_visible_to_the_program(self):
        self.write("m", [1, 0])
        for export in ((), ("--export=NONE",)):
            done = self.srun(2, *export, "--rankloom=m", "./where", nodes=1)
            self.assertEqual(self.bindings(done.stdout), [self.binding(1), self.binding(0)])
            self.assertEqual([line.split()[3] for line in done.stdout.splitlines()], ["0", "0"])

    def test_with_different_numbers_of_ranks_per_node(self):
        cores = [4, 0, 1, 5, 2]  # two ranks, one rank and two ranks per node
        self.write("m", cores)
        done = self.srun(6, "-n", "5", "--rankloom=m", "./where", nodes=3)
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in cores])
        self.write("two", [4, 0, 5])  # not all nodes of the job
        self.assertEqual(self.bindings(self.srun(6, "-n", "3", "--rankloom=two", "./where", nodes=3).stdout), [self.binding(core) for core in (4, 0, 5)])

    def test_without_a_binding(self):
        self.write("m", [2, 0])
        free = ",".join(map(str, self.units)).replace("0,1", "0-1") if len(self.units) == 2 else None
        for words in (("--rankloom=m,bind=none",), ("-c", "2", "--rankloom=m")):
            bindings = self.bindings(self.srun(2, *words, "./where", nodes=2).stdout)
            self.assertEqual([host for host, _ in bindings], [self.nodes[1], self.nodes[0]])
            if free:
                self.assertEqual([cpus for _, cpus in bindings], [free, free])

    def test_of_a_job_applies_to_its_steps(self):
        cores = self.shuffled(16, 3)
        self.write("m", cores)
        self.write("job.sh", "#!/bin/sh\n#SBATCH -N 8 -n 16 -o job.out -e job.err --rankloom=m\nsrun ./where\nsrun --rankloom=off ./where > off.out\nsrun -n 1 -N 1 ./where > one.out\n")
        self.run_command("sbatch", "--wait", "job.sh")
        self.assertNotIn("rankloom", (self.directory / "job.err").read_text())  # a message that a step had to wait is possible
        self.assertEqual(self.bindings((self.directory / "job.out").read_text()), [self.binding(core) for core in cores])
        self.assertEqual([host for host, _ in self.bindings((self.directory / "off.out").read_text())], sorted(self.nodes * 2))
        self.assertEqual([host for host, _ in self.bindings((self.directory / "one.out").read_text())], self.nodes[:1])

    def test_outside_of_a_job_needs_node_names(self):
        self.write("hosts.txt", f"{self.nodes[3]} 2\n{self.nodes[1]} 2\n")
        self.write("m", [2, 1])
        done = self.run_command("srun", "--rankloom=m,topology=hosts.txt", "./where")
        self.assertEqual([host for host, _ in self.bindings(done.stdout)], [self.nodes[1], self.nodes[3]])

    def test_with_a_binding_table_of_emit(self):
        self.write("hosts.txt", "".join(f"{node} 2\n" for node in self.nodes))
        self.write("m", [9, 2, 1])
        self.run_command(PROGRAM, "emit", "m", "-t", "hosts.txt", "--to", "slurm", "-o", "launch")
        done = self.srun(16, "-n", "3", "--rankloom=launch/bind.txt", "./where")
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in (9, 2, 1)])


class SharedNodes(InSlurm):
    """Slurm's own binding, and other jobs on the same node."""

    MESH = "mesh:1x2"
    OPTIONS = ("--conf", "TaskPlugin=task/affinity", "--conf", "PartitionName=shared Nodes=ALL OverSubscribe=NO State=UP")

    def setUp(self):
        if len(self.units) != self.CPUS:
            self.skipTest("task/affinity needs the real number of processing units")

    def test_the_mapping_overrides_the_binding_of_slurm(self):
        self.write("m", [3, 0, 1, 2])
        self.assertEqual(self.bindings(self.srun(4, "--rankloom=m", "./where").stdout), [self.binding(core) for core in (3, 0, 1, 2)])

    def test_ranks_use_only_the_cores_of_their_job(self):
        self.write("m", [0])
        job = ["salloc", "-Q", "-p", "shared", "-w", self.nodes[0], "-N", "1", "-n", "1", "srun", "--rankloom=m"]
        os.mkfifo(self.directory / "wake")
        with subprocess.Popen([*job, "sh", "-c", "./where; cat wake > /dev/null"], cwd=self.directory, env=self.env, stdout=subprocess.PIPE, text=True) as first:
            one = first.stdout.readline().split()
            other = self.run_command(*job, "./where").stdout.split()
            with open(self.directory / "wake", "w", encoding="ascii"):
                pass
            first.communicate(timeout=30)
        self.assertEqual({one[2], other[2]}, set(map(str, self.units)))


class WithoutPlugin(InSlurm):
    def test_emit_works_in_an_allocation(self):
        """Without the plugin, users read the machine from Slurm and pass a host list to srun."""
        (self.lab / "plugstack.conf").unlink()
        self.run_command(PROGRAM, "gen", "stencil2d", "--size", "4x4", "--shuffle", "-o", "app.prof")
        self.write("job.sh", """set -e
rankloom topo discover --slurm -o job.json > /dev/null
rankloom map app.prof -t job.json -o app.map > /dev/null
rankloom emit app.map -t job.json --to slurm -o launch --program ./where | tail -1 > command
sh command > bindings
rankloom run app.map -t job.json --strict --json -- srun -n 16 true > proof.json
""")
        self.run_command("salloc", "-Q", "-N", "8", "-n", "16", "sh", "job.sh")
        cores = [int(line) for line in (self.directory / "app.map").read_text().split()]
        self.assertEqual(self.bindings((self.directory / "bindings").read_text()), [self.binding(core) for core in cores])
        proof = json.loads((self.directory / "proof.json").read_text())
        self.assertEqual((proof["verified"], proof["confirmed"]), (True, 16))

    def test_components_of_heterogeneous_jobs_are_refused_and_the_remedy_works(self):
        self.write("four.map", [3, 0, 2, 1])
        job = ("salloc", "-Q", "-w", ",".join(self.nodes[:2]), "-n", "4", PROGRAM)
        machine = ("-t", "node:2 core:2", "--hosts", ",".join(self.nodes[:2]))
        components = ("--", "srun", "-n", "2", "./where", ":", "-n", "2", "./where")
        for verb in (("run", "four.map", *machine), ("run", "four.map", "--dry-run", *machine), ("tune",), ("tune", "--dry-run")):
            done = self.run_command(*job, *verb, *components, status=2)
            self.assertIn("components of a heterogeneous job, each on nodes of its own", done.stderr)
            self.assertIn("$SLURM_PROCID", done.stderr)
            self.assertEqual(done.stdout, "")
        by_rank = "if [ $SLURM_PROCID -lt 2 ]; then exec echo first; else exec echo second; fi"
        done = self.run_command(*job, "run", "four.map", "--strict", *machine, "--", "srun", "-n", "4", "sh", "-c", by_rank)
        self.assertEqual(sorted(done.stdout.split()), ["first"] * 2 + ["second"] * 2)
        self.assertIn("4 of 4 ranks placed as requested", done.stderr)

    @unittest.skipUnless(HAS_PMIX, "Slurm has no PMIx")
    def test_programs_of_a_heterogeneous_step_are_recorded(self):
        subprocess.run(["mpicc.openmpi", SOURCES.parent / "record" / "programs" / "ring.c", KEEP_LOADED, "-o", "ring"], cwd=self.directory, check=True)
        # srun 22.05 often hangs after the end of a step of two components with PMIx on a busy machine, also without rankloom, and only SIGKILL ends it.
        (self.directory / "bin").mkdir()
        self.write("bin/srun", f'#!/bin/sh\ntimeout -s KILL 40 {shutil.which("srun")} "$@"\nstatus=$?\n[ $status -ne 137 ] || exit 0\nexit $status\n')
        (self.directory / "bin" / "srun").chmod(0o755)
        self.run_command("salloc", "-Q", "-N", "2", "-n", "4", "env", f"PATH={self.directory}/bin:{self.env['PATH']}", "SLURM_PMIX_FENCE=ring", PROGRAM, "record", "-o", "het.prof", "--",
                         "srun", "--mpi=pmix", "-n", "2", "./ring", ":", "-n", "2", "./ring", timeout=100)
        lines = self.run_command(PROGRAM, "import", "het.prof", "--to", "pairs").stdout.splitlines()
        pairs = [tuple(map(int, line.split()))[:4] for line in lines if not line.startswith("#")]
        self.assertEqual(pairs, [(0, 1, 1000, 1), (1, 2, 2000, 1), (2, 3, 3000, 1), (3, 0, 4000, 1)])

    def test_tune_measures_three_placements(self):
        """The two processors of each node count as hardware threads of one core, and neighbours of the ring are far from each other."""
        nodes = [{"kind": "node", "name": name, "children": [{"kind": "core", "children": [{"kind": "pu", "repeat": 2}]}]} for name in self.nodes[:4]]
        switches = [{"kind": "switch", "between": 1, "children": nodes[at:at + 2]} for at in (0, 2)]
        self.write("smt.json", json.dumps({"rankloom": "topology", "version": 1, "machine": {"kind": "machine", "between": 10, "children": switches}}))
        self.write("far.pairs", "# app; ranks=4\n0 2 1000000 1000\n1 3 1000000 1000\n")
        done = self.run_command("salloc", "-Q", "-w", ",".join(self.nodes[:4]), "-n", "4", PROGRAM, "tune", "--json", "--try-smt", "-o", "smt.tune", "--profile", "far.pairs", "-t", "smt.json",
                                "--runs", "4", "--max-runs", "4", "--", "srun", "-n", "4", "-c", "2", "./where", timeout=200)
        result = json.loads(done.stdout)
        other = result["other_placements"][0]
        self.assertEqual([len(times) for times in (result["before_seconds"], result["after_seconds"], other["before_seconds"], other["after_seconds"])], [4] * 4)
        self.assertEqual({result.get("threads_per_core"), other.get("threads_per_core")}, {None, 1})
        self.assertEqual((result["confidence"], result["verified"], other["verified"]), (0.99, True, True))
        units = {name: {line.split()[2] for line in (self.directory / "smt.tune" / f"{name}-1.log").read_text().splitlines() if line[0].isdigit()} for name in ("after", "smt")}
        if len(self.units) > 1:
            self.assertEqual((units["after"], units["smt"]), ({f"{self.units[0]}-{self.units[1]}"}, {str(self.units[0])}))

    def test_tune_exchanges_pmix_data_over_a_ring_with_both_placements(self):
        script = self.directory / "fence"
        script.write_text("#!/bin/sh\necho fence $SLURM_PMIX_FENCE\n")
        script.chmod(0o755)
        self.write("far.pairs", "# app; ranks=8\n" + "".join(f"{rank} {rank + 4} 1000000 1000\n" for rank in range(4)))
        for before, fence in (([], "ring"), (["env", "SLURM_PMIX_FENCE=tree"], "tree")):
            self.run_command("salloc", "-Q", "-N", "4", "-n", "8", *before, PROGRAM, "tune", "--force", "--json", "-o", "fence.tune", "--profile", "far.pairs", "--runs", "3",
                             "--max-runs", "3", "--", "srun", "-n", "8", "./fence", timeout=200)
            for log in ("before-1.log", "after-1.log"):
                lines = (self.directory / "fence.tune" / log).read_text().splitlines()  # srun may print a warning
                self.assertEqual([line for line in lines if line.startswith("fence")], [f"fence {fence}"] * 8)

    @unittest.skipUnless(HAS_PMIX, "Slurm has no PMIx")
    def test_tune_measures_the_program_of_a_job_script(self):
        subprocess.run(["mpicc.openmpi", KEEP_LOADED.with_name("pairs.c"), KEEP_LOADED, "-o", "pairs"], cwd=self.directory, check=True)
        # Over its default tree, PMIx of Slurm 22.05 loses messages now and then, also without rankloom, and the program hangs.
        self.write("job.sh", "#!/bin/sh\n#SBATCH -N 4 -n 8 --time=5\nexport SLURM_PMIX_FENCE=ring\nsrun --mpi=pmix ./pairs\n")
        made = json.loads(self.run_command(PROGRAM, "tune", "--script", "job.sh", "--runs", "3", "--max-runs", "3", "--metric", "step: (.*)", "--json").stdout)
        self.assertEqual((made["line"], made["min_runs"], made["max_seconds"]), (4, 8, 8 * 300))
        job = self.run_command("sbatch", "--parsable", "-o", "job.out", "job.tune.sh").stdout.strip()
        end = time.monotonic() + 240
        while self.run_command("squeue", "-h", "-j", job).stdout and time.monotonic() < end:  # sbatch --wait looks every 32 s only
            time.sleep(0.3)
        output = (self.directory / "job.out").read_text()
        self.assertLess(time.monotonic(), end, output)
        result = json.loads((self.directory / f"job.tune-{job}" / "result.json").read_text())
        self.assertEqual((result["ranks"], len(result["before_seconds"]), result["verified"]), (8, 3, True), output)
        self.assertTrue(all(0 < seconds < 60 for seconds in result["before_seconds"]), output)


class MappingInTheJob(InSlurm):
    def cost(self, profile, hosts):
        """The predicted time of a host order on the whole mesh by `rankloom eval`. All cores of a node are equivalent."""
        taken, cores = {}, []
        for host in hosts:
            taken[host] = taken.get(host, -1) + 1
            cores.append(self.nodes.index(host) * self.CPUS + taken[host])
        self.write("as-run.map", cores)
        return json.loads(self.run_command(PROGRAM, "eval", "as-run.map", "--profile", profile, "-t", f"{self.MESH} core:{self.CPUS}", "--json").stdout)["mappings"][0]["costs"]["predicted"]

    def test_costs_less_than_the_default_placement(self):
        self.run_command(PROGRAM, "gen", "stencil2d", "--size", "4x4", "--shuffle", "-o", "app.prof")
        default_hosts = [host for host, _ in self.bindings(self.srun(16, "./where").stdout)]
        for request in ("app.prof", "map:app.prof,budget=200ms"):  # a profile is recognised by its content
            done = self.srun(16, f"--rankloom={request}", "./where")
            mapped = [host for host, _ in self.bindings(done.stdout)]
            self.assertEqual(done.stderr, "")
            self.assertEqual(sorted(mapped), sorted(default_hosts))
            self.assertLess(self.cost("app.prof", mapped), 0.8 * self.cost("app.prof", default_hosts))

    def test_uses_only_the_nodes_of_the_job(self):
        self.run_command(PROGRAM, "gen", "stencil2d", "--size", "4x2", "--shuffle", "-o", "small.prof")
        job = [self.nodes[i] for i in (1, 2, 5, 6)]  # a square in the middle of the mesh
        mpi, plugin, how = MPIS[0]
        done = self.run_command("salloc", "-Q", "-w", ",".join(job), "-n", "8", "srun", f"--mpi={plugin}", "--rankloom=small.prof", f"./print_binding.{mpi}", *how)
        bindings = self.bindings(done.stdout)
        self.assertEqual(sorted(host for host, _ in bindings), sorted(job * 2))
        self.assertEqual(len(set(bindings)), 8 if len(self.units) > 1 else 4, "every rank has a processing unit of its own")

    def test_the_default_placement_is_asked_from_slurm(self):
        self.run_command(PROGRAM, "gen", "stencil2d", "--size", "4x4", "--shuffle", "-o", "app.prof")
        default_hosts = [host for host, _ in self.bindings(self.srun(16, "./where").stdout)]
        network = ("--network", self.lab / "topology.json", "--nodes", ",".join(self.nodes))
        done = self.run_command("salloc", "-Q", "-w", ",".join(self.nodes), "-n", "16", PROGRAM, "slurm", "place", "--json", "--ask-order", *network, "--", "srun", "--rankloom=app.prof", "./where")
        expected = self.cost("app.prof", default_hosts)
        placement = json.loads(done.stdout)
        self.assertEqual(placement["model"], "predicted")
        self.assertAlmostEqual(placement["cost_default"], expected, delta=1e-6 * expected)

    def test_keeps_the_number_of_ranks_per_node(self):
        self.run_command(PROGRAM, "gen", "stencil2d", "--size", "4x2", "--shuffle", "-o", "small.prof")
        hosts = [host for host, _ in self.bindings(self.srun(8, "--rankloom=small.prof", "./where").stdout)]
        self.assertEqual(sorted(hosts), sorted(self.nodes))


class NodesForAProfile(InSlurm):
    """The profile of a job determines its nodes (policy closed-fit) and the order of its ranks. The user types one option."""

    MESH, CPUS, OPTIONS = "mesh:8x8", 2, ("--policy", "closed-fit")

    @classmethod
    def setUpClass(cls):
        if not (PROGRAM.parent.parent / "lib" / "slurm" / "select_cons_tres.so").exists():
            raise unittest.SkipTest("rankloom's plugin for the selection of nodes is not built")
        super().setUpClass()
        with (cls.lab / "rankloom.conf").open("a", encoding="utf-8") as conf:
            conf.write("prefer = job\n")
        subprocess.run(["scontrol", "reconfigure"], env=cls.env, check=True)
        subprocess.run([PROGRAM, "gen", "stencil2d", "--ranks", "32", "--block", "1024x1024", "--shuffle", "-o", "app.prof"], cwd=cls.directory, check=True)

    def chosen(self, *options):
        """The nodes that `rankloom alloc` chooses on an empty machine."""
        self.run_command(PROGRAM, "alloc", "init", "--force", "-t", self.machine(), "--state", "chosen.state")
        done = self.run_command(PROGRAM, "alloc", "request", "16", "--state", "chosen.state", "--policy", "closed-fit", "--json", *options)
        return [self.nodes[node] for node in json.loads(done.stdout)["nodes"]]

    def nodes_and_order(self, *options, ranks=32, nodes=16):
        """The nodes of a job, and the node of each of its ranks."""
        self.write("job.sh", "#!/bin/sh\nscontrol show hostnames > nodes\nsrun ./where > placed\n")
        self.run_command("sbatch", "--wait", "-N", nodes, "-n", ranks, "-o", "job.out", *options, "job.sh", timeout=120)
        self.assertNotIn("rankloom", (self.directory / "job.out").read_text())
        order = [host for host, _ in self.bindings((self.directory / "placed").read_text())]
        self.assertEqual(len(order), ranks)
        return (self.directory / "nodes").read_text().split(), order

    def log(self):
        return (self.lab / "log" / "slurmctld.log").read_text()

    def test_nodes_and_ranks_follow_the_profile(self):
        compact, packed = self.chosen("--profile", "app.prof", "--prefer", "job"), self.chosen()
        self.assertNotEqual(compact, packed)
        hosts, order = self.nodes_and_order()
        self.assertEqual(hosts, packed, "without a profile, the nodes are those of closed-best")
        self.assertEqual(order, sorted(order, key=self.nodes.index))
        hosts, order = self.nodes_and_order("--rankloom=app.prof")
        self.assertEqual(hosts, compact)
        self.assertEqual(sorted(order), sorted(compact * 2))
        self.assertNotEqual(order, sorted(order, key=self.nodes.index), "ranks in a random order are mapped")
        hosts, order = self.nodes_and_order("--comment=my job rankloom:profile=app.prof")
        self.assertEqual(hosts, compact)

    def test_a_profile_that_does_not_fit_is_ignored_with_a_note(self):
        hosts, _ = self.nodes_and_order("--comment=rankloom:profile=app.prof", ranks=8, nodes=4)
        self.assertEqual(len(hosts), 4)
        self.assertIn("its nodes are chosen without its traffic: 4 nodes have no room for the 32 ranks of the profile", self.log())
        self.nodes_and_order("--comment=rankloom:profile=no-such.prof")
        self.assertRegex(self.log(), "no-such.prof.*there is no such file")
        self.write("broken.prof", "not a profile")
        self.nodes_and_order("--comment=rankloom:profile=broken.prof")
        self.assertIn("the file is not a profile", self.log())


class BothPlugins(InSlurm):
    """Node selection and rank placement together: jobs on isolated rectangles of one mesh run MPI programs at the same time, each on
    its nodes and placed by its mapping."""

    MESH, CPUS, OPTIONS = "mesh:8x8", 2, ("--policy", "closed-best")
    JOBS = (9, 4, 16, 6, 4)

    @classmethod
    def setUpClass(cls):
        if not (PROGRAM.parent.parent / "lib" / "slurm" / "select_cons_tres.so").exists():
            raise unittest.SkipTest("rankloom's plugin for the selection of nodes is not built")
        super().setUpClass()

    def place(self, node):
        number = self.nodes.index(node)
        return number // 8, number % 8

    def is_rectangle(self, nodes):
        rows, columns = zip(*map(self.place, nodes))
        return len(set(nodes)) == (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)

    def start(self, number, size):
        """Submits a job. All jobs have their nodes, but they compute one after another, because MPI polls and there are few processors."""
        mpi, plugin, how = MPIS[number % len(MPIS)]
        ranks = size * self.CPUS
        cores = self.shuffled(ranks, number)
        self.write(f"map.{number}", cores)
        self.run_command(PROGRAM, "gen", "random", "--ranks", ranks, "-o", f"prof.{number}")
        self.write(f"job.{number}", f"""#!/bin/sh
#SBATCH -N {size} --ntasks-per-node={self.CPUS} -o out.{number} -e err.{number}
scontrol show hostnames > nodes.{number}
while [ ! -e go.{number} ]; do sleep 0.1; done
srun --mpi={plugin} --rankloom=map.{number} ./print_binding.{mpi} {' '.join(how)} > bindings.{number}
srun --rankloom=prof.{number} ./where > mapped.{number}
""")
        return cores, self.run_command("sbatch", "--parsable", f"job.{number}").stdout.strip()

    def test_concurrent_jobs_follow_their_mappings(self):
        jobs = [self.start(number, size) for number, size in enumerate(self.JOBS)]
        self.wait(lambda: all((self.directory / f"nodes.{number}").exists() for number in range(len(self.JOBS))))
        taken = []
        for number, (cores, job) in enumerate(jobs):
            self.write(f"go.{number}", "")
            self.wait(lambda: job not in self.run_command("squeue", "-h", "-o", "%i").stdout.split())  # pylint: disable=cell-var-from-loop
            errors = (self.directory / f"err.{number}").read_text()
            self.assertNotRegex(errors, "rankloom|rror|ignal")  # a message that a step had to wait is possible
            nodes = (self.directory / f"nodes.{number}").read_text().split()
            self.assertTrue(self.is_rectangle(nodes), nodes)
            taken += nodes
            text = (self.directory / f"bindings.{number}").read_text()
            self.assertNotIn("wrong", text)
            self.assertEqual(self.bindings(text), [(nodes[core // self.CPUS], self.binding(core)[1]) for core in cores])
            mapped = [host for host, _ in self.bindings((self.directory / f"mapped.{number}").read_text())]
            self.assertEqual(sorted(mapped), sorted(nodes * self.CPUS))
        self.assertEqual(len(taken), len(set(taken)), "two jobs share a node")

    def wait(self, ready):
        for _ in range(600):
            if ready():
                return
            time.sleep(0.1)
        self.fail(self.run_command("squeue").stdout + "".join(path.read_text() for path in self.directory.glob("err.*")))


class Errors(InSlurm):
    MESH = "mesh:1x2"

    def setUp(self):
        self.plugstack = self.lab / "plugstack.conf"
        self.stack = self.plugstack.read_text()
        self.addCleanup(self.plugstack.write_text, self.stack)
        self.write("m", [3, 0, 1, 2])

    def runs_with_default_placement(self, message, *arguments):
        """The step runs with Slurm's default placement and prints one line with the reason."""
        done = self.srun(4, *arguments, "./where", timeout=30)
        self.assertEqual([host for host, _ in self.bindings(done.stdout)], [self.nodes[0]] * 2 + [self.nodes[1]] * 2, arguments)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1 if message else 0, done.stderr)
        if message:
            self.assertIn(message, lines[0])
            self.assertIn(DEFAULT_PLACEMENT, lines[0])

    def test_in_the_request_print_one_line(self):
        self.write("words", "one\ntwo\n")
        self.write("far", [0, 1, 2, 99])
        self.write("three", [0, 1, 2])
        self.write("crowd", [0, 0, 0, 1])
        self.write("empty", "")
        self.write("others.txt", "x1 2\nx2 2\n")
        self.write("random", "".join(random.Random(1).choices("\0\x01abc{[\n", k=500)))
        for message, arguments in (
            ("no such file", ["--rankloom=nothing"]),
            ("is not a core number", ["--rankloom=words"]),
            ("99", ["--rankloom=far"]),
            ("has 3 ranks, but srun starts 4", ["--rankloom=three"]),
            ("more than 2 ranks are placed on", ["--rankloom=crowd"]),
            ("no core numbers", ["--rankloom=empty"]),
            ("random", ["--rankloom=random"]),
            ("which is not a node of the job", ["--rankloom=m,topology=others.txt"]),
            ("the machine has 3 nodes without names, but the job has 2 nodes", ["--rankloom=m,topology=node:3 core:2"]),
            ("no such file", ["--rankloom=map:nothing"]),
            ("unknown-mapper", ["--rankloom=map:m,mapper=unknown-mapper"]),
            ("\"color\" is not a known option", ["--rankloom=m,color=red"]),
            ("the file name is missing", ["--rankloom="]),
            ("conflicts with the mapping", ["--rankloom=m", "-m", "block"]),
            ("conflicts with the mapping", ["--rankloom=m", f"--nodelist={','.join(self.nodes)}"]),
        ):
            with self.subTest(arguments=arguments):
                self.runs_with_default_placement(message, *arguments)

    def test_end_a_strict_step(self):
        done = self.srun(4, "--rankloom=strict:nothing", "./where", status=255)
        self.assertEqual(done.stdout, "")
        self.assertIn("no such file", done.stderr)
        done = self.srun(4, "--rankloom=strict:m", "./where")
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in (3, 0, 1, 2)])

    def test_in_the_configuration_print_one_line(self):
        for name, script in (("silent", "exit 1"), ("slow", "sleep 20"), ("odd", "echo ranks 4; echo 0 x"), ("killed", "kill -9 $$")):
            path = self.directory / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        for message, arguments in (
            ("cannot be started", "program=/nothing/rankloom"),
            ("failed without an error message", f"program={self.directory}/silent"),
            ("did not end within 1 s", f"program={self.directory}/slow timeout=1"),
            ("malformed placement", f"program={self.directory}/odd"),
            ("failed without an error message", f"program={self.directory}/killed"),
        ):
            with self.subTest(arguments=arguments):
                self.plugstack.write_text(f"optional {PLUGIN} {arguments}\n")
                self.runs_with_default_placement(message, "--rankloom=m")
                self.runs_with_default_placement("")  # no message without the option
        self.plugstack.write_text(f"optional {PLUGIN} colour=red\n")
        done = self.srun(4, "--rankloom=m", "./where")
        self.assertIn("colour=red", done.stderr)
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in (3, 0, 1, 2)])

    def test_in_the_machine_matter_only_if_it_is_used(self):
        self.plugstack.write_text(f"optional {PLUGIN} topology=nothing.json\n")
        self.run_command(PROGRAM, "gen", "ring", "--ranks", "4", "-o", "ring.prof")
        self.runs_with_default_placement("nothing.json", "--rankloom=ring.prof")
        done = self.srun(4, "--rankloom=m", "./where")
        self.assertEqual(self.bindings(done.stdout), [self.binding(core) for core in (3, 0, 1, 2)])

    def test_in_the_plugin_file_do_not_affect_srun(self):
        broken = self.directory / "broken.so"
        broken.write_bytes(b"\x7fELF no plugin")
        for plugin in ("/nothing/spank_rankloom.so", broken):  # Slurm prints an error and continues
            self.plugstack.write_text(f"optional {plugin}\n")
            self.assertEqual(len(self.srun(4, "./where").stdout.splitlines()), 4)

    def test_in_processing_units_print_one_line_per_node(self):
        cores = [{"kind": "core", "os_index": unit} for unit in (self.units[0], 900)]
        nodes = [{"kind": "node", "name": name, "children": cores} for name in self.nodes]
        self.write("machine.json", json.dumps({"rankloom": "topology", "version": 1, "machine": {"kind": "machine", "children": nodes}}))
        done = self.srun(4, "--rankloom=m,topology=machine.json", "./where")
        bindings = self.bindings(done.stdout)
        self.assertEqual([host for host, _ in bindings], [self.nodes[1], self.nodes[0], self.nodes[0], self.nodes[1]])
        self.assertEqual([bindings[1][1], bindings[3][1]], [str(self.units[0])] * 2)
        self.assertNotEqual(bindings[0][1], "900")
        self.assertEqual(done.stderr.count("1 of 2 ranks"), 2, done.stderr)


def end(*_):
    """ctest terminates a test that takes too long; its Slurm must end, too."""
    raise KeyboardInterrupt


def run_tests():
    signal.signal(signal.SIGTERM, end)
    if missing_requirements():
        print(f"skipped: there is no {', no '.join(missing_requirements())}")
        sys.exit(SKIPPED)
    unittest.main()


if __name__ == "__main__":
    run_tests()
