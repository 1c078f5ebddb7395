# SPDX-License-Identifier: Apache-2.0
"""reproduce: the table of experiments. A new experiment is a file next to this one with a function `run(run)` that returns an Outcome, a
row here, and rows in its paper's list (reproduce/papers)."""

import dataclasses
import importlib


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    paper: str  # and its tables and figures
    about: str  # the experiment in a sentence or two
    simulates: bool = False  # needs SimGrid

    def run(self, run):
        module = importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")
        return module.run(run)


TABLE = [
    Experiment("wang-time", "time to compute a mapping", "Wang 2015, Table 1",
               "Whole commands `rankloom map -a clustering`, reading and writing included, on this machine."),
    Experiment("wang-npb", "NPB programs under seven mappings", "Wang 2015, Figures 2, 3, 7, 8, 9, 10",
               "CG and SP as measured, LU and BT re-created, on 2 switches × 6 nodes × 16 cores.", simulates=True),
    Experiment("zhang-jobs", "jobs next to other jobs", "Zhang 2014, Table 1 and Figure 5",
               "NPB-like jobs of 4, 16 and 64 processes arrive on 2 × 2 × 8 nodes × 12 cores next to other jobs.", simulates=True),
    Experiment("getmanskiy-groups", "groups on two coprocessors and on ten nodes", "Getmanskiy 2015, Tables 2 and 3",
               "The synthetic benchmark: groups with heavy traffic inside, with shuffled ranks.", simulates=True),
    Experiment("getmanskiy-grid", "a Qbox-like grid of processes", "Getmanskiy 2015, Table 4 and Figure 12",
               "Rows × 12 columns of processes with heavy traffic along rows, 300 to 4,800 ranks.", simulates=True),
    Experiment("cruz-time", "time of mapping algorithms", "Cruz 2019, Figures 5 and 7",
               "The algorithms alone, 32 to 4,096 tasks, on this machine."),
    Experiment("cruz-quality", "quality of mappings", "Cruz 2019, Figures 1 and 6",
               "Equation 7 on four processors × 8 cores × 2 threads, relative to the mean of 30 random mappings."),
    Experiment("cruz-cluster", "NPB on six clusters", "Cruz 2019, Figure 11",
               "Run time of the communication of eight programs under five mappings.", simulates=True),
    Experiment("cruz-online", "remapped at every phase", "Cruz 2019, Figure 9",
               "Recorded windows of HPCC and of a program of two phases: online, every fixed mapping, and an oracle."),
    Experiment("cruz-load", "work of unequal threads", "Cruz 2019, Figure 10",
               "228 threads of unequal work on 57 cores × 4 hardware threads."),
]


def find(name):
    return next((row for row in TABLE if row.name == name), None)
