#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests: rankloom's node selection in a complete Slurm of 64 nodes, an 8 x 8 mesh. usage: select_test.py PROGRAM [CLASS]
import glob
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import installed_slurm  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SEARCH_PATH = os.environ["PATH"] + ":/usr/sbin"
SKIP = 77
SIDE = 8


def missing():
    if os.geteuid() != 0:
        return "root is needed"
    for tool in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(tool, path=SEARCH_PATH):
            return f"there is no {tool}"
    if not glob.glob("/usr/lib/*/slurm-wlm/select_cons_tres.so"):
        return "there is no slurm-wlm-basic-plugins"
    if not (PROGRAM.parent.parent / "lib" / "slurm" / "select_cons_tres.so").exists():
        return "the plugin was not built"
    return None


def run(*words, env=None, status=0, timeout=60):
    done = subprocess.run(list(map(str, words)), env=env, capture_output=True, text=True, timeout=timeout, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def expand(text):
    """Expands n[1-3,9] to node numbers from 0."""
    numbers = []
    for ranges in re.findall(r"n(?:\[([^\]]*)\]|(\d+))", text):
        for part in (ranges[0] or ranges[1]).split(","):
            first, _, last = part.partition("-")
            numbers += range(int(first) - 1, int(last or first))
    return sorted(numbers)


def is_rectangle(nodes, side=SIDE):
    """Whether the nodes are all nodes of a rectangle."""
    rows, columns = {node // side for node in nodes}, {node % side for node in nodes}
    return (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1) == len(nodes)


class Cluster(unittest.TestCase):
    """One Slurm per class; every test starts and ends with an empty queue."""

    MACHINE = f"mesh:{SIDE}x{SIDE}"
    POLICY = "closed-best"
    OPTIONS = ()  # of `slurm lab up`

    @classmethod
    def setUpClass(cls):
        cls.name = f"select{os.getpid()}"
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(run, PROGRAM, "slurm", "lab", "down", "--name", cls.name, status=None)
        made = json.loads(run(PROGRAM, "slurm", "lab", "up", "--name", cls.name, "-t", cls.MACHINE, "--policy", cls.POLICY, "--share", cls.scratch.name, *cls.OPTIONS, "--json", timeout=120).stdout)
        cls.env = {**os.environ, **made["environment"]}
        cls.directory = pathlib.Path(made["directory"])

    def setUp(self):
        self.state = os.path.join(self.scratch.name, "state")
        run(PROGRAM, "alloc", "init", "--force", "-t", self.MACHINE, "--state", self.state)

    def tearDown(self):
        self.slurm("scancel", "-u", "root", status=None)
        self.wait(lambda: not self.jobs(), "the queue is empty")

    def slurm(self, *words, **options):
        return run(*words, env=self.env, **options).stdout

    def submit(self, nodes, *options, minutes=30, limit=30):
        """Requests an allocation. Returns its job id, or None if it did not start within `limit` seconds."""
        done = run("salloc", "--no-shell", f"-I{limit}", "-t", minutes, *(["-N", nodes] if nodes else []), *options, env=self.env, status=None)
        found = re.search(r"Granted job allocation (\d+)", done.stderr)
        return found[1] if found else None

    def queue(self, nodes, *options, minutes=30):
        """Submits a job to the queue."""
        return self.slurm("sbatch", "--parsable", "-o", "/dev/null", "-N", nodes, "-t", minutes, *options, "--wrap", "exec sleep 1000").strip()

    def jobs(self, states="all"):
        """Job → (state, nodes)."""
        lines = self.slurm("squeue", "-h", "-t", "PD,R,CG,S" if states == "all" else states, "-o", "%i|%T|%N").splitlines()
        return {job: (state, expand(nodes)) for job, state, nodes in (line.split("|") for line in lines)}

    def nodes_of(self, job):
        return self.jobs().get(job, ("GONE", []))[1]

    def wait(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.05)
        self.fail(f"not true after {seconds} s: {what}\n{self.slurm('squeue')}")

    def wait_for_backfill(self, cycles):
        """Waits until the backfill scheduler has completed this number of further cycles."""

        def completed():
            statistics = self.slurm("sdiag").partition("Backfilling stats")[2]
            return int(re.search(r"Total cycles: +(\d+)", statistics)[1])

        for _ in range(cycles):
            end = completed() + 1
            for job in self.jobs("PD"):
                self.slurm("scontrol", "update", f"JobId={job}", f"Comment={end}", status=None)  # it looks at the jobs again only after a change
            self.wait(lambda: completed() >= end, "the next backfill cycle")

    def wait_for_start(self, job, seconds=60):
        self.assertIsNotNone(job, "it was not allocated")
        self.wait(lambda: self.jobs().get(job, ("",))[0] == "RUNNING", f"job {job} runs", seconds)
        return self.nodes_of(job)

    def cancel(self, job):
        self.slurm("scancel", job)
        self.wait(lambda: job not in self.jobs(), f"job {job} is gone")
        # A node is free again after its epilog has ended.
        self.wait(lambda: "COMPLETING" not in self.slurm("sinfo", "-h", "-N", "-o", "%T").upper(), "no node is completing")

    def drain(self, node):
        self.slurm("scontrol", "update", f"NodeName=n{node + 1}", "State=DRAIN", "Reason=test")
        self.addCleanup(self.resume, node)

    def resume(self, node):
        """Resumes a node and waits until it responds."""
        self.slurm("scontrol", "update", f"NodeName=n{node + 1}", "State=RESUME", status=None)
        self.wait(lambda: "*" not in self.slurm("sinfo", "-h", "-n", f"n{node + 1}", "-o", "%T"), f"node {node} answers")

    def request(self, nodes, job, *options):
        """Requests nodes from `rankloom alloc`. Returns them, or None if the job has to wait."""
        done = run(PROGRAM, "alloc", "request", nodes, "--job", job, "--state", self.state, "--json", *options, status=None)
        return sorted(json.loads(done.stdout)["nodes"]) if done.returncode == 0 else None

    def release(self, job):
        run(PROGRAM, "alloc", "release", job, "--state", self.state)

    def log(self):
        return (self.directory / "log" / "slurmctld.log").read_text()

    def check_contention(self):
        done = run(PROGRAM, "slurm", "check", "--json", env=self.env)
        self.assertTrue(json.loads(done.stdout)["contention_free"])

    def controller(self):
        return int((self.directory / "slurmctld.pid").read_text())

    def restart_controller(self):
        old = self.controller()
        os.kill(old, signal.SIGTERM)
        self.wait(lambda: not pathlib.Path(f"/proc/{old}/exe").exists(), "slurmctld has ended")
        run(PROGRAM, "slurm", "lab", "exec", "--name", self.name, "--", "slurmctld", "-f", self.env["SLURM_CONF"])
        self.wait(lambda: "is UP" in self.slurm("scontrol", "ping", status=None), "slurmctld is up")
        self.wait_for_nodes()

    def wait_for_nodes(self):
        """Jobs do not get nodes that have not responded since the start of slurmctld."""
        self.wait(lambda: not re.search(r"\*|unk", self.slurm("sinfo", "-h", "-N", "-o", "%t")), "all nodes respond")


class Select(Cluster):
    def test_jobs_are_isolated_rectangles_and_wait_for_nodes(self):
        sizes = [9, 4, 16, 6, 4, 9, 12, 5]
        jobs = [self.submit(size) for size in sizes[:-1]] + [self.queue(sizes[-1])]
        running = self.jobs("R")
        self.assertEqual(set(running), set(jobs[:-1]), "4 nodes are left for a job of 5")
        for job, size in zip(jobs[:-1], sizes):
            self.assertEqual(len(running[job][1]), size)
            self.assertTrue(is_rectangle(running[job][1]), running[job])
        self.check_contention()
        for job, size in zip(jobs[:-1], sizes):
            self.assertEqual(running[job][1], self.request(size, job), f"job {job} of {size} nodes")
        self.assertIsNone(self.request(5, jobs[-1]))
        run(PROGRAM, "alloc", "verify", "--state", self.state)
        self.cancel(jobs[3])  # of 6 nodes
        self.release(jobs[3])
        self.assertEqual(self.wait_for_start(jobs[-1]), self.request(5, jobs[-1]))
        self.check_contention()

    def test_selects_the_same_nodes_as_alloc(self):
        """A random sequence of jobs, cancellations, drained nodes, and jobs with a fallback."""
        chance = random.Random(5)
        running, drained, started, waited, shared = [], [], 0, 0, 0
        for step in range(55):
            kind = chance.random()
            if kind < 0.22 and running:
                job = running.pop(chance.randrange(len(running)))
                self.cancel(job)
                self.release(job)
            elif kind < 0.28 and len(drained) < 3:
                node = chance.randrange(SIDE * SIDE)
                drained.append(node)
                self.drain(node)
                run(PROGRAM, "alloc", "drain", node, "--state", self.state)
            elif kind < 0.33 and drained:
                node = drained.pop()
                if node not in drained:
                    self.resume(node)
                    run(PROGRAM, "alloc", "drain", "--resume", node, "--state", self.state)
            else:
                size = chance.choice([1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16])
                name = f"step{step}"
                expected = self.request(size, name)
                options = []
                if expected is None and waited > shared:  # in turn
                    options = ["--comment", "rankloom:fallback=diameter"]
                    expected = self.request(size, name, "--fallback", "diameter")
                    shared += expected is not None
                job = self.submit(size, *options, limit=1 if expected is None else 30)
                if expected is None:
                    self.assertIsNone(job, f"step {step}: {size} nodes")
                    waited += 1
                else:
                    self.assertEqual(self.nodes_of(job), expected, f"step {step}: {size} nodes, {options}; drained {drained}\n{self.slurm('sinfo')}{self.slurm('squeue')}")
                    self.release(name)
                    self.assertEqual(self.request(size, job, *(["--fallback", "diameter"] if options else [])), expected)
                    running.append(job)
                    started += 1
        self.assertGreater(started, 10)
        self.assertGreater(waited, 0)
        self.assertGreater(shared, 0)

    def test_a_large_job_is_not_starved(self):
        quarters = [self.submit(16, minutes=10) for _ in range(4)]
        self.assertEqual(len(self.jobs("R")), 4)
        large = self.queue(49, minutes=10)
        small = [self.queue(4, minutes=600) for _ in range(12)]
        short = [self.queue(4, minutes=1) for _ in range(2)]
        for count, quarter in enumerate(quarters):
            self.cancel(quarter)
            if count == 0:  # 16 nodes are free for jobs that end before the large one starts
                for job in short:
                    self.wait_for_start(job)
                self.wait_for_backfill(2)
                self.assertLessEqual(len(self.jobs("R")), 3 + 2 + 15 // 4, "small jobs start only outside of the nodes planned for the large one")
                for job in short:
                    self.cancel(job)
            else:
                self.wait_for_backfill(1)
        nodes = self.wait_for_start(large)
        self.assertEqual(len(nodes), 49)
        self.assertTrue(is_rectangle(nodes))
        self.check_contention()
        self.assertTrue(any(state == "PENDING" for job, (state, _) in self.jobs().items() if job in small))

    def test_respects_the_requirements_of_jobs(self):
        named = self.nodes_of(self.submit(4, "-w", "n28"))
        self.assertIn(27, named)
        self.assertEqual(self.nodes_of(self.submit(2, "-w", "n1,n2")), [0, 1])
        tasks = self.submit(None, "-n", 23)
        self.assertEqual(len(self.nodes_of(tasks)), 6, "23 tasks on nodes of 4 processors")
        between = self.submit("3-5")
        self.assertEqual(len(self.nodes_of(between)), 5)
        without = self.submit(9, "-x", "n[33-64]")
        self.assertTrue(all(node < 32 for node in self.nodes_of(without)))
        self.check_contention()
        interactive = self.slurm("srun", "-N", 4, "hostname").split()
        self.assertTrue(is_rectangle(sorted(int(name[1:]) - 1 for name in interactive)))

    def test_reads_running_jobs_after_a_restart(self):
        sizes = [9, 6, 16, 12]
        jobs = [self.submit(size) for size in sizes]
        for job, size in zip(jobs, sizes):
            self.assertEqual(self.nodes_of(job), self.request(size, job))
        self.restart_controller()
        self.assertEqual(set(self.jobs("R")), set(jobs))
        for size in (4, 9, 2):
            job = self.queue(size)
            self.assertEqual(self.wait_for_start(job), self.request(size, job), f"{size} nodes after the restart")
        self.check_contention()

    def test_supports_several_partitions(self):
        self.slurm("scontrol", "create", "PartitionName=left", "Nodes=n[1-4,9-12,17-20,25-28]", "OverSubscribe=EXCLUSIVE")
        self.addCleanup(self.slurm, "scontrol", "delete", "PartitionName=left", status=None)
        left = self.nodes_of(self.submit(6, "-p", "left"))
        self.assertTrue(left and all(node % SIDE < 4 and node // SIDE < 4 for node in left), left)
        self.assertTrue(is_rectangle(left))
        self.nodes_of(self.submit(16))
        self.check_contention()
        self.cancel(next(iter(self.jobs())))


    def explain(self, job, *options):
        return json.loads(run(PROGRAM, "slurm", "why", job, "--json", *options, env=self.env).stdout)

    def test_says_why_a_job_waits(self):
        left, right = self.submit(1, "-w", "n28", minutes=20), self.submit(1, "-w", "n37", minutes=40)
        waiting = self.queue(55)  # a box of 7 x 8 has 54 free nodes
        self.wait_for_backfill(1)
        found = self.explain(waiting)
        self.assertEqual((found["why"], found["nodes"], found["free_nodes"], found["policy"]), ("not_isolated", 55, 62, "closed-best"))
        self.assertEqual(found["blockers"], [left, right])
        self.assertEqual(len(found["start_nodes"]), 55)
        end = self.slurm("squeue", "-h", "-j", left, "-o", "%e").strip()
        self.assertEqual(found["start"], end)
        text = run(PROGRAM, "slurm", "why", waiting, "--comment", env=self.env).stdout
        self.assertIn("62 are free, but closed-best finds no 55 of them that share no routers with other jobs", text)
        self.assertIn(f"{left} (ends by {end})", text)
        self.assertIn("62 are free", self.slurm("scontrol", "show", "job", waiting))
        run(PROGRAM, "slurm", "why", waiting, "--comment", env=self.env)  # its own comment is replaced
        self.slurm("scontrol", "update", f"JobId={waiting}", "AdminComment=ask Ann first")
        refused = run(PROGRAM, "slurm", "why", waiting, "--comment", env=self.env, status=2)
        self.assertIn("rankloom did not write", refused.stderr)
        self.assertIn("AdminComment=ask Ann first", self.slurm("scontrol", "show", "job", waiting))
        self.cancel(left)
        self.assertEqual(len(self.wait_for_start(waiting)), 55)
        self.assertEqual(self.explain(waiting), {"job": waiting, "state": "RUNNING", "waits": False})
        too_many = self.queue(20)
        found = self.explain(too_many)
        self.assertEqual((found["why"], found["free_nodes"], found["blockers"]), ("few_nodes", 8, [waiting]))
        self.assertEqual(run(PROGRAM, "slurm", "why", "999999", env=self.env, status=None).returncode, 5)
        self.assertEqual(run(PROGRAM, "slurm", "why", "--json", "-x;y", env=self.env, status=None).returncode, 2)

    def look(self, *options, env=None):
        return json.loads(run(PROGRAM, "slurm", "watch", "--count", 1, "--json", *options, env=env or self.env).stdout)

    def test_watches_jobs_that_share_routers(self):
        first = self.submit(2, "-w", "n1,n4")
        second = self.submit(2, "-w", "n2,n3", "--comment=rankloom:fallback=diameter")
        alone = self.submit(4)
        metrics = os.path.join(self.scratch.name, "slurm.prom")
        found = self.look("--prometheus", metrics)
        self.assertEqual((found["nodes"], found["nodes_in_use"], found["jobs_sharing"], found["shared_resources"]), (64, 8, 2, 2))
        self.assertEqual(found["busiest"], {"where": f"the router of n2 is used by jobs {first}, {second}", "jobs": [first, second]})
        self.assertEqual({job["job"]: job["shared_resources"] for job in found["jobs"]}, {first: 2, second: 2, alone: 0})
        self.assertEqual(found["policy"], {"name": "closed-best", "isolated": 3, "waiting": 0})
        text = pathlib.Path(metrics).read_text()
        self.assertIn('rankloom_slurm_jobs_sharing{resource="routers"} 2\n', text)
        self.assertIn('rankloom_slurm_nodes{state="unused"} 56\n', text)
        self.assertEqual(run(PROGRAM, "slurm", "check", env=self.env, status=None).returncode, 4)
        self.check_status(first, second, alone)
        text = run(PROGRAM, "slurm", "watch", "--count", 2, "--interval", "100ms", env=self.env).stdout
        self.assertEqual(len(re.findall("3 jobs on 8 of 64 nodes; 2 share routers; with closed-best 3 would be isolated", text)), 2)
        other = os.path.join(self.scratch.name, "other.prom")
        pathlib.Path(other).write_text("mine\n")
        self.assertNotEqual(run(PROGRAM, "slurm", "watch", "--count", 1, "--prometheus", other, env=self.env, status=None).returncode, 0)
        self.assertEqual(pathlib.Path(other).read_text(), "mine\n")

    def check_status(self, first, second, alone):
        waiting = self.queue(64)
        page = os.path.join(self.scratch.name, "status.html")
        found = json.loads(run(PROGRAM, "slurm", "status", "--json", "-o", page, env=self.env).stdout)
        self.assertEqual((found["nodes"], found["nodes_in_use"], found["waiting"], found["output"]), (64, 8, [waiting], page))
        jobs = {job["job"]: job for job in found["jobs"]}
        self.assertEqual({name: job["shared_resources"] for name, job in jobs.items()}, {first: 2, second: 2, alone: 0})
        self.assertEqual((jobs[first]["nodes"], jobs[second]["nodes"]), (["n1", "n4"], ["n2", "n3"]))
        limits = run("squeue", "-h", "-j", first, "-o", "%S %e", env={**self.env, "SLURM_TIME_FORMAT": "%s"}).stdout.split()
        self.assertEqual([jobs[first]["start"], jobs[first]["end"]], [float(time) for time in limits])
        data = json.loads(re.search(r'id="rankloom-data">(.*?)</script>', pathlib.Path(page).read_text(), re.DOTALL).group(1))
        self.assertEqual(data["verdict"]["sentence"], "3 jobs on 8 of 64 nodes; 2 share routers; 1 waits.")
        self.assertEqual(data["verdict"]["commands"], [f"rankloom slurm why {waiting}"])
        section = data["allocation"]
        self.assertEqual((section["names"][0], section["machine"]["boxes"][63]["label"]), ("n1", "n64"))
        for job in section["policies"][0]["jobs"]:
            self.assertLessEqual(job["start"], section["now"])
            self.assertGreater(job["end"], section["now"])
        text = run(PROGRAM, "slurm", "status", env=self.env).stdout
        self.assertIn("3 jobs on 8 of 64 nodes; 2 share routers; 1 waits\n", text)
        self.assertRegex(text, rf"{first} +2 +\S+ \S+ +\S+ \S+ +2 +n1, n4\n")
        self.assertIn(f"next: rankloom slurm why {waiting}\n", text)
        self.assertIn("--json", run(PROGRAM, "slurm", "status", "-o", "status.json", env=self.env, status=2).stderr)
        self.cancel(waiting)

    def test_watches_a_slurm_without_a_plugin(self):
        """The machine comes from Slurm's topology.conf, or from the command line."""
        directory = pathlib.Path(self.scratch.name, "plain")
        directory.mkdir()
        shutil.copy(self.env["SLURM_CONF"], directory / "slurm.conf")
        env = {**self.env, "SLURM_CONF": str(directory / "slurm.conf")}
        first, second = self.submit(2, "-w", "n1,n64", "--comment=rankloom:fallback=diameter"), self.submit(2, "-w", "n2,n63", "--comment=rankloom:fallback=diameter")
        words = (PROGRAM, "slurm", "watch", "--count", 1, "--json")
        self.assertIn("topology.conf", run(*words, env=env, status=5).stderr)
        (directory / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-32]\nSwitchName=s2 Nodes=n[33-64]\nSwitchName=top Switches=s[1-2]\n")
        found = self.look(env=env)
        self.assertEqual((found["resource"], found["jobs_sharing"], found["busiest"]["jobs"]), ("links", 2, [first, second]))
        self.assertIn("the link from the switch above n", found["busiest"]["where"])
        self.assertEqual(self.look("-t", "mesh:8x8", "--nodes", "n[1-64]", env=env)["resource"], "routers")
        self.assertIn("--nodes", run(*words, "-t", "mesh:8x8", env=env, status=3).stderr)


class Fallback(Cluster):
    """With an invalid configuration, slurmctld continues, logs an error, and jobs run as without the plugin."""

    MACHINE = "mesh:3x3"

    def configure(self, text):
        path = self.directory / "rankloom.conf"
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        before = len(self.log())
        self.slurm("scontrol", "reconfigure")
        self.wait(lambda: "rankloom: " in self.log()[before:], "the log has a message")
        return self.log()[before:]

    def wait_for_idle_nodes(self):
        """From 23.11 on, nodes register again after slurmctld has read its configuration."""
        self.wait(lambda: self.slurm("sinfo", "-h", "-t", "idle", "-o", "%D").split() == ["9"], "all nodes are idle")

    def test_runs_jobs_like_slurm_does(self):
        whole = (self.directory / "rankloom.conf").read_text()
        controller = self.controller()
        cases = {
            "an unknown key": whole + "polcy = closed-best\n",
            "an unknown policy": whole.replace("closed-best", "closed-bets"),
            "no configuration": None,
            "a missing topology": whole.replace("topology.json", "nowhere.json"),
            "an invalid topology": "topology = slurm.conf\n",
            "too few names": re.sub("nodes = .*", "nodes = n[1-5]", whole),
            "nodes unknown to Slurm": re.sub("nodes = .*", "nodes = m[1-9]", whole),
            "some nodes unknown to Slurm": re.sub("nodes = .*", "nodes = n[1-4],m[5-9]", whole),
            "random bytes": "\0\xff\n" * 50,
            "an empty file": "",
        }
        for what, text in cases.items():
            with self.subTest(what):
                log = self.configure(text)
                self.assertIn("without rankloom", log)
                self.wait_for_idle_nodes()
                job = self.submit(5)
                self.assertIsNotNone(job, "it was not allocated")
                try:
                    self.assertEqual(self.wait_for_start(job), list(range(5)), "the first five nodes, as selected by Slurm")
                finally:
                    self.cancel(job)
                # From 23.11 on, slurmctld replaces itself by a new process that has read the configuration.
                self.assertTrue(installed_slurm.release() >= (23, 11) or self.controller() == controller)
                self.assertIn("is UP", self.slurm("scontrol", "ping"))
        self.assertIn("node selection: 9 nodes", self.configure(whole))
        self.wait_for_idle_nodes()
        job = self.submit(4)
        self.assertTrue(is_rectangle(self.wait_for_start(job), 3))

    def test_reads_the_topology_of_slurm(self):
        whole = (self.directory / "rankloom.conf").read_text()
        self.addCleanup(self.configure, whole)
        (self.directory / "topology.conf").write_text("".join(f"SwitchName=s{i} Nodes=n[{3 * i - 2}-{3 * i}]\n" for i in (1, 2, 3)) + "SwitchName=top Switches=s[1-3]\n")
        self.addCleanup((self.directory / "topology.conf").unlink)
        self.assertIn("node selection: 9 nodes, policy closed-best, jobs do not share links", self.configure("topology = topology.conf\n"))
        self.wait_for_idle_nodes()
        self.assertIn(self.nodes_of(self.submit(3)), ([0, 1, 2], [3, 4, 5], [6, 7, 8]))
        self.assertIn("jobs do not share routers", self.configure("topology = mesh:3x3\nnodes = n[1-9]\n"))

    def test_a_job_waits_for_a_drained_node_that_it_needs(self):
        self.drain(4)
        job = self.queue(9)
        self.wait_for_backfill(1)
        self.assertEqual(self.jobs()[job][0], "PENDING")
        self.resume(4)
        self.assertEqual(self.wait_for_start(job), list(range(9)))

    def test_leaves_other_nodes_to_slurm(self):
        whole = (self.directory / "rankloom.conf").read_text()
        topology = self.directory / "small.json"
        run(PROGRAM, "topo", "convert", "mesh:2x3", "-o", topology)
        (self.directory / "rankloom.conf").write_text(re.sub("nodes = .*", "nodes = n[1-6]", whole).replace("topology.json", "small.json"))
        self.addCleanup(self.configure, whole)
        self.slurm("scontrol", "reconfigure")
        self.wait(lambda: "3 nodes of Slurm do not belong to this machine" in self.log(), "the log says so")
        self.slurm("scontrol", "create", "PartitionName=other", "Nodes=n[7-9]", "OverSubscribe=EXCLUSIVE")
        self.addCleanup(self.slurm, "scontrol", "delete", "PartitionName=other")
        self.assertEqual(self.nodes_of(self.submit(2, "-p", "other")), [6, 7])
        inside = self.nodes_of(self.submit(4))
        self.assertIn(inside, ([0, 1, 3, 4], [1, 2, 4, 5]))
        self.assertEqual(self.nodes_of(self.submit(1, "-w", "n9")), [8])


class VirtualSlurm(unittest.TestCase):
    def test_two_at_the_same_time_leave_nothing_behind(self):
        names = [f"one{os.getpid()}", f"two{os.getpid()}"]
        ports = []
        for name in names:
            self.addCleanup(run, PROGRAM, "slurm", "lab", "down", "--name", name, status=None)
            made = json.loads(run(PROGRAM, "slurm", "lab", "up", "--name", name, "--nodes", 2, "--json").stdout)
            ports.append(made["port"])
            said = run("srun", "-N", 2, "hostname", env={**os.environ, **made["environment"]}).stdout.split()
            self.assertEqual(sorted(said), ["n1", "n2"])
        self.assertNotEqual(*ports)
        again = run(PROGRAM, "slurm", "lab", "up", "--name", names[0], status=5)
        self.assertIn("slurm lab down", again.stderr)
        taken = run(PROGRAM, "slurm", "lab", "up", "--name", f"x{os.getpid()}", "--port", ports[0], status=5)
        self.assertIn("taken", taken.stderr)
        holders = [int(line.split()[1]) for line in pathlib.Path(f"/run/rankloom-slurm/{names[0]}/namespace_holders").read_text().splitlines()]
        slurmctld = int(pathlib.Path(f"/run/rankloom-slurm/{names[0]}/slurmctld.pid").read_text())
        run(PROGRAM, "slurm", "lab", "down", "--name", names[0])
        for process in [*holders, slurmctld]:
            self.assertFalse(pathlib.Path(f"/proc/{process}/exe").exists(), process)
        self.assertFalse(pathlib.Path(f"/run/rankloom-slurm/{names[0]}").exists())
        self.assertEqual(run("srun", "-N", 2, "true", env={**os.environ, **made["environment"]}).returncode, 0, "the other one still runs")
        run(PROGRAM, "slurm", "lab", "down", "--name", names[0], status=5)

    def test_an_interrupted_start_is_removed(self):
        name = f"half{os.getpid()}"
        process = subprocess.Popen([str(PROGRAM), "slurm", "lab", "up", "--name", name, "--nodes", "32"], stdout=subprocess.DEVNULL)
        holders = pathlib.Path(f"/run/rankloom-slurm/{name}/namespace_holders")
        end = time.monotonic() + 60
        while not (holders.exists() and len(holders.read_text().splitlines()) > 5) and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
        process.wait()
        started = [int(line.split()[1]) for line in holders.read_text().splitlines()]
        self.assertIn("half", run(PROGRAM, "slurm", "lab", "status").stdout)
        run(PROGRAM, "slurm", "lab", "down", "--name", name)
        for process in started:
            self.assertFalse(pathlib.Path(f"/proc/{process}/exe").exists(), process)
        self.assertFalse(holders.parent.exists())

    def test_rejects_invalid_options(self):
        for words in (["--name", "Bad/Name"], ["--nodes", "0"], ["--policy", "closed-best"], ["--nodes", "3", "-t", "mesh:2x2"], ["--policy", "closed-bets", "-t", "mesh:2x2"]):
            run(PROGRAM, "slurm", "lab", "up", *words, status=2)
        run(PROGRAM, "slurm", "lab", "exec", "--name", "nosuchlab", "--", "true", status=5)
        done = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "slurm", "lab", "up", status=5)
        self.assertIn("root", done.stderr)


if __name__ == "__main__":
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    names = sys.argv[2:] or ["Select", "Fallback", "VirtualSlurm"]
    unittest.main(argv=[sys.argv[0], "-v", *names])
