# SPDX-License-Identifier: Apache-2.0
"""Training jobs of examples/training/tiny_gpt.py on the hosts of a virtual cluster with two switches, for tests and benchmarks.

    lab = TorchLab(program, folder, hosts=4, slots=2, rate="400mbit", uplink="100mbit")
    lab.up()
    lab.write_mappings(arguments, ["lab1", "lab3", "lab2", "lab4"])   "list.map", and "auto.map" by rankloom
    output = lab.run("auto.map", arguments)                           with mpirun, verified by `rankloom run --strict`
    lab.down()
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed_mpi  # noqa: E402

TRAINING = pathlib.Path(__file__).resolve().parents[2] / "examples/training/tiny_gpt.py"
LABS = pathlib.Path("/run/rankloom-lab")
PORT = "29500"


class TorchLab:
    def __init__(self, program, folder, hosts, slots, rate, uplink):
        self.program, self.folder, self.slots = pathlib.Path(program).resolve(), folder, slots
        self.name = f"t{os.getpid()}"
        self.hosts = [f"{self.name}{number + 1}" for number in range(hosts)]
        self.size = ["--hosts", str(hosts), "--slots", str(slots), "--switches", "2", "--rate", rate, "--uplink", uplink]
        self.environment = dict(os.environ, PATH=f"{self.program.parent}:{os.environ['PATH']}", OMPI_MCA_mpi_yield_when_idle="1", **installed_mpi.open_mpi().as_root)

    @property
    def ranks(self):
        return len(self.hosts) * self.slots

    def start(self, *arguments):
        return subprocess.Popen(arguments, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def command(self, *arguments):
        """What a command prints. One that fails is an error."""
        return self.finish(self.start("timeout", "-k", "5", "500", *arguments))

    def finish(self, process):
        output, _ = process.communicate()
        if process.returncode != 0:
            raise AssertionError(f"{' '.join(process.args)}: status {process.returncode}\n{output}")
        return output

    def rankloom(self, *arguments):
        return self.command(str(self.program), *arguments)

    def up(self):
        self.rankloom("lab", "up", "--name", self.name, *self.size)
        self.rankloom("lab", "topo", "--name", self.name, "-o", "lab.json")

    def down(self):
        self.rankloom("lab", "down", "--name", self.name)

    def on(self, host, *arguments):
        return ["timeout", "-k", "5", "500", str(self.program), "lab", "exec", "--name", self.name, "--on", host, "--", *arguments]

    def write_mappings(self, arguments, hosts):
        """The ranks in their order on the hosts of a list, and as rankloom maps them."""
        cores = [self.hosts.index(host) * self.slots + slot for host in hosts for slot in range(self.slots)]
        pathlib.Path(self.folder, "list.map").write_text("".join(f"{core}\n" for core in cores))
        self.rankloom("gen", "llm", "--gpus", str(self.ranks), "--number-bytes", "4", "--gradient-bytes", "4", "-o", "step.prof", "--", *arguments)
        self.rankloom("map", "step.prof", "-t", "lab.json", "--raw", "-o", "auto.map")

    def hosts_of(self, mapping):
        """The host of every rank."""
        return [self.hosts[int(core) // self.slots] for core in pathlib.Path(self.folder, mapping).read_text().split()]

    def run(self, mapping, arguments, backend="gloo"):
        """Fails if a rank does not run on its host."""
        first = self.hosts_of(mapping)[0]
        command = ["mpirun.openmpi", "-n", str(self.ranks), "env", f"MASTER_ADDR={first}", f"MASTER_PORT={PORT}", sys.executable, str(TRAINING), "--backend", backend, *arguments]
        return self.finish(self.start(*self.on(self.hosts[0], str(self.program), "run", mapping, "-t", "lab.json", "--strict", "--bind", "none", "--", *command)))

    def uplink_bytes(self):
        """What the switches have sent to the root switch."""
        holder = json.loads((LABS / self.name / "lab.json").read_text())["bridge"]["holder"]
        links = json.loads(self.command("nsenter", f"--net=/proc/{holder}/ns/net", "ip", "-s", "-j", "link", "show"))
        return sum(link["stats64"]["tx"]["bytes"] for link in links if link["ifname"].startswith("uplink"))
