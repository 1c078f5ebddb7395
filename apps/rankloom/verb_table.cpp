// SPDX-License-Identifier: Apache-2.0
// apps: the table of verbs, with their help texts and examples.
#include <array>

#include "apps/rankloom/verb.hpp"

namespace rankloom::app {

namespace {

constexpr auto table = std::to_array<VerbInfo>({
    {"tune", "make a program faster: record, map, verify and measure it in one step",
     "Records the program in a first run, discovers the machine that the launcher reaches, computes a mapping, runs "
     "the program in pairs with the launcher's default placement and with the mapping until the difference is clear, "
     "and verifies that every rank runs where the mapping puts it. It reports the measured speedup with its confidence "
     "interval; if there is none, it reports why. If the program fails, its status is returned. All files are kept in "
     "a directory, together with the command to use from now on.",
     "# tune a program\n"
     "rankloom tune -- mpirun -n 4 ./app\n"
     "# only show the commands that it would run\n"
     "rankloom tune --dry-run -- mpirun -n 4 ./app\n"
     "# write a job script that measures the program of your own job script\n"
     "printf '#!/bin/sh\\nmpirun -n 4 ./app\\n' > job.sh && rankloom tune --script job.sh",
     make_tune},
    {"map", "compute a mapping of ranks to cores",
     "Reads the communication pattern (a profile) and the machine, and writes the core of every rank: one core number "
     "per line, line i for rank i. The result never costs more than the launcher's default placement (block), unless "
     "--raw is given; with --judge, its predicted or simulated time is never longer. An option of a mapper can be "
     "given as a flag or in the spec of the mapper: --tries 1000 or -a "
     "pair-exchange:tries=1000.",
     "# map a recorded program onto two switches with six nodes each\n"
     "rankloom map app.prof -t \"switch:2=4.1 node:6=3.7 core:16=1\" -o mapping.txt\n"
     "# the same with another algorithm, a time limit and JSON output\n"
     "rankloom map app.prof -t cluster.json -a greedy --budget 2s --json\n"
     "# a quadratic assignment problem, which contains its distances\n"
     "rankloom map nug12.dat -a mpipp --restarts 10",
     make_map},
    {"eval", "evaluate mappings and compare their costs",
     "Computes the cost of mapping files, or of mappers, which it runs first, in every cost model, and the bytes that "
     "cross each level of the machine. With more than 20 million edges, only the chosen cost model and the levels are "
     "computed, unless --all is given.",
     "# compare a mapping with the launcher's default placement\n"
     "rankloom eval mapping.txt block --profile app.prof -t cluster.json\n"
     "# ten million ranks, generated and evaluated in one command\n"
     "rankloom eval block --profile gen:stencil3d:size=216x216x216,points=27 -t \"node:78732=10 core:128=1\"\n"
     "# the links with the most traffic in a torus\n"
     "rankloom eval block random --links --model congestion --profile app.prof -t \"torus:4x4x4 core:8\"",
     make_eval},
    {"compare", "run several mappers and compare their results",
     "Runs several mappers on one problem, or on one for each profile, and sorts them by the cost of their mappings. "
     "Mappers are separated by commas, or -a is repeated; a comma is followed by the next mapper, or by another option "
     "of the current one. -a exec:COMMAND runs another program, -a file:FILE evaluates a mapping. With --runs, each "
     "mapper runs with several seeds, and the table shows mean and standard deviation. Results "
     "that cost more than the launcher's default placement are shown as they are.",
     "# all mappers that suit the size of the problem\n"
     "rankloom compare app.prof -t cluster.json\n"
     "# two mappers with ten seeds each\n"
     "rankloom compare app.prof -t cluster.json -a mpipp:restarts=5,pair-exchange:tries=100000,order=turn --runs 10",
     make_compare},
    {"bench", "run an experiment: mappers on many graphs and machines, with many seeds",
     "Runs every mapper on every graph and machine with every seed, each in a process of its own, and records cost, "
     "CPU "
     "time, wall-clock time and peak memory. All mappers of one instance and seed run after each other. The rows are "
     "JSON lines in the output directory; an experiment that was interrupted goes on with the same command. At the end "
     "it prints geometric means and ratios to a baseline for each class of instances, and for each mapper whether it "
     "costs less than the baseline (Wilcoxon's signed-rank test), and writes CSV, LaTeX and plots as SVG. The exit "
     "status is 4 if a run failed. -a exec:COMMAND runs another program: {graph}, {graph.pairs}, {graph.mtx}, "
     "{machine}, {hierarchy}, {distance}, {seed}, {ranks}, {cores} and {out} are replaced.",
     "# three mappers on a set of instances\n"
     "rankloom bench pack:npb -a auto:effort=fast,metis,scotch --seeds 3 -o npb\n"
     "# two graphs on two machines, compared with metis\n"
     "rankloom bench gen:rgg:ranks=64 gen:stencil2d:size=8x8,shuffle -t \"node:8=10 core:8=1\" -t \"torus:4x4 core:4\" "
     "-a auto,metis --baseline metis -o two\n"
     "# your own program, which reads a METIS graph and prints one core number per line\n"
     "rankloom bench gen:ring:ranks=16 -t \"node:4=10 core:4=1\" -a auto,exec:'seq 0 $(({ranks} - 1))' --seeds 2 -o "
     "own",
     make_bench},
    {"llm", "plan the layout of a training job on GPUs",
     "`plan` enumerates the layouts of a training job (tensor, context, pipeline, data and expert parallel) that fit "
     "into the memory of the GPUs by a simple model, predicts the communication time of a step in the usual order of "
     "ranks, maps the best of them with `auto`, and sorts them by the predicted time. Degrees that are given are kept. "
     "Every core of the machine stands for one GPU. Nothing is measured.",
     "# layouts of a model with 8 billion parameters on 64 GPUs below two leaf switches\n"
     "rankloom llm plan --model llama3-8b --sequence-parallel --global-batch-size 128 --layouts 2 -t \"leaf:2=20GB/s "
     "node:4=50GB/s core:8=450GB/s\"\n"
     "# the same with a given tensor and pipeline parallel degree\n"
     "rankloom llm plan --model llama3-8b --sequence-parallel --global-batch-size 128 --tp 8 --pp 2 -t "
     "\"leaf:2=20GB/s node:4=50GB/s core:8=450GB/s\"",
     make_llm_verb},
    {"simulate", "predict run times by replaying a program on a simulated machine",
     "Replays the communication of a program on a SimGrid simulation of the machine and reports the run time of each "
     "mapping. The communication comes from a trace of `record --trace`, or is synthesised in rounds from a profile. "
     "With --job, several programs run at once, each on its own nodes, and slow each other down where they share "
     "links; --alone also simulates each of them by itself. --calibrate fits the simulated platform to the costs of "
     "the machine, level by level.",
     "# two mappings of a stencil on two switches with six nodes each\n"
     "rankloom simulate block random --profile gen:stencil2d:size=8x8 -t \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
     "# two jobs that share links of a mesh, and how much they slow each other down\n"
     "rankloom simulate --alone --job gen:alltoall:ranks=8@nodes:0,2 --job gen:alltoall:ranks=8@nodes:1,3 -t "
     "\"mesh:4=1 core:4=1\"\n"
     "# fit the simulation to the latencies and bandwidths of the machine\n"
     "rankloom simulate --calibrate -t \"node:2=10,2us core:4=1,100ns\" -o calibration.json",
     make_simulate},
    {"emit", "export a mapping for a launcher",
     "Writes the files that a launcher needs to follow a mapping, and prints the command that uses them. The topology "
     "provides the host names and the numbers of the processing units. With --from, the input is a file of a launcher "
     "instead of a mapping, for example to convert a rankfile into a hostfile, or with --to plain into a mapping.",
     "# a rankfile for Open MPI, and the command to use\n"
     "rankloom emit mapping.txt -t cluster.json --to openmpi4 -o launch\n"
     "# the same for MPICH, with host names for the nodes of a topology string\n"
     "rankloom emit mapping.txt -t \"node:12=10 core:16=1\" --hosts n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12 --to mpich\n"
     "# convert a rankfile back into a mapping\n"
     "rankloom emit launch/rankfile --from openmpi4 -t cluster.json --to plain -o again",
     make_emit},
    {"run", "run a program with a mapping and verify the placement",
     "Rewrites a command of mpirun, mpiexec or srun so that the launcher (Open MPI, MPICH, Intel MPI or Slurm) follows "
     "the mapping, runs it, and compares the host and processing units that every rank reports with the mapping. "
     "Options of another placement are replaced. With --auto it computes the mapping first. The exit status is "
     "that of the program; with --strict it is 5 if a rank is misplaced.",
     "# two ranks on this machine, the first one on the second core\n"
     "printf '1\\n0\\n' > swap.txt && rankloom run swap.txt -t core:2 -- mpirun -n 2 hostname\n"
     "# only show the command and the files that it would use\n"
     "rankloom run swap.txt -t core:2 --dry-run -- mpirun -n 2 hostname\n"
     "# in a job script: with the profile that was recorded earlier, on the hosts of this job\n"
     "rankloom run --auto -- mpirun -n 4 ./app",
     make_run},
    {"topo", "discover, measure, draw and check machines",
     "Discovers a machine (this host, hosts that a launcher reaches, or files that describe the network and the "
     "nodes), measures its communication costs, draws it as a tree in which equal subtrees are drawn once, checks it, "
     "or converts it to topology JSON. A machine is a file from any source of `rankloom list topologies`, a topology "
     "string, or --hierarchy and --distance.",
     "# this host\n"
     "rankloom topo discover -o node.json\n"
     "# a cluster: its network from Slurm, the inside of its nodes from hwloc\n"
     "rankloom topo discover --network topology.conf --node node.xml -o cluster.json\n"
     "# all hosts that a launcher reaches\n"
     "rankloom topo discover -- mpirun --map-by node\n"
     "# measure the communication costs between 4 ranks\n"
     "rankloom topo probe --seconds 1 -o measured.json -- mpirun -n 4\n"
     "# draw two switches with six nodes of sixteen cores each\n"
     "rankloom topo show \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
     "# a page with the picture of a network\n"
     "rankloom topo show torus:4x4x4 -o machine.html\n"
     "# check a topology file\n"
     "rankloom topo check cluster.json\n"
     "# write a topology string as a file, to edit it by hand\n"
     "rankloom topo convert \"torus:4x4 core:8\" -o torus.json",
     make_topo},
    {"gen", "generate a synthetic communication pattern",
     "Writes a synthetic profile. Wherever a profile is read, the pattern can also be given directly, without a file: "
     "gen:stencil2d:size=16x16. --shuffle permutes the ranks at random, so that the launcher's default placement is "
     "bad.",
     "# a 16 x 16 halo exchange with permuted ranks\n"
     "rankloom gen stencil2d --size 16x16 --shuffle -o halo.prof\n"
     "# a random geometric graph for partitioners\n"
     "rankloom gen rgg --ranks 4096 --to metis -o rgg.graph\n"
     "# a training step, from the arguments of the training program\n"
     "rankloom gen llm --gpus 64 -o step.prof -- --tensor-model-parallel-size 8 --num-layers 32 --hidden-size 4096\n"
     "# its volumes with their formulas\n"
     "rankloom gen llm --model llama3-8b --gpus 64 --explain\n"
     "# a workload of jobs for a machine with 1,024 nodes\n"
     "rankloom gen workload --nodes 1024 --jobs 1000 -o jobs.swf\n"
     "# list all patterns\n"
     "rankloom list patterns",
     make_gen},
    {"import", "convert another tool's format into a profile",
     "Reads any format of `rankloom list formats`, which it recognises by its content, and writes a profile in the "
     "native format or in another format that has a writer. The output of `sacct --parsable2` becomes a workload for "
     "`rankloom alloc replay`.",
     "# a METIS graph as a profile\n"
     "rankloom import mesh.graph -o mesh.prof\n"
     "# a profile as a Matrix Market file\n"
     "rankloom import mesh.prof --to matrix-market -o mesh.mtx",
     make_import},
    {"show", "summarise a profile",
     "Prints how much a program sends, point to point and in collectives, between which ranks and in messages of which "
     "size, how much time it spends in MPI (an upper limit for what a mapping can save), its phases, and a heat map of "
     "the traffic.",
     "# a summary\n"
     "rankloom show app.prof\n"
     "# without collectives, and with more of the heaviest pairs\n"
     "rankloom show app.prof --collectives none --top 30\n"
     "# the same data for scripts\n"
     "rankloom show app.prof --json",
     make_show},
    {"report", "write a report of a result as one HTML page or as drawings",
     "Shows a result: a verdict in one sentence with the commands to use, heat maps of the traffic before and after, "
     "the machine with the ranks on its cores, bytes across each level, the links with the most traffic, message "
     "sizes, collectives, phases, a comparison of mappers, jobs over time, and how to reproduce the result, with the "
     "SHA-256 of every file. The page is one HTML file that loads nothing from elsewhere. Nothing is run, except "
     "mappers given by name. If only a profile and a machine are given, `auto` computes the mapping. Values that were "
     "not measured are labelled as predicted.",
     "# the result of tune as a page\n"
     "rankloom report app.tune -o report.html\n"
     "# a mapping compared with the default placement, with the results of compare\n"
     "rankloom report mapping.txt compare.json -p app.prof -t cluster.json -o report.html\n"
     "# in the terminal: a pattern that auto maps\n"
     "rankloom report gen:groups:groups=4,per-group=4 -t \"node:4=10 core:4=1\"\n"
     "# drawings for a paper\n"
     "rankloom report app.prof -t cluster.json --svg pictures\n"
     "# replay a workload under two policies\n"
     "rankloom alloc replay jobs.swf -t \"mesh:8x8 core:1\" --detail --json > replay.json\n"
     "# and show its jobs over time\n"
     "rankloom report replay.json -o report.html",
     make_report},
    {"record", "run a program and record its communication",
     "Runs the command after -- unchanged, with a PMPI preload library in its ranks, and writes a profile: the bytes "
     "and messages from each rank to each other rank, the message sizes, the collectives, and the time inside and "
     "outside MPI. The program is not changed. Works for C, C++ and Fortran with Open MPI and MPICH, with mpirun, "
     "mpiexec and srun, and for programs compiled by rankloom cc. The exit status is that of the program.",
     "# record a program, started as usual\n"
     "rankloom record -- mpirun -n 4 ./app\n"
     "# with one traffic matrix per second, to see phases\n"
     "rankloom record -o app.prof --window 1s -- mpirun -n 4 ./app && rankloom show app.prof\n"
     "# with a trace that SimGrid can replay\n"
     "rankloom record --trace app.trace -- mpirun -n 4 ./app && rankloom import app.trace",
     make_record},
    {"online", "move ranks or threads inside a node while a program runs",
     "Runs the command after -- unchanged, with an agent on each node that reads the traffic of the ranks in time "
     "windows. When the communication pattern changes, the agent computes the best cores of its node for the ranks, "
     "and moves ranks if the expected gain in the rest of the phase exceeds the cost of the moves. Ranks never move "
     "between nodes; the gain of a restart with another mapping is reported at the end. A program compiled by "
     "`rankloom cc` or `rankloom c++` needs no launcher: its threads are moved. The exit status is that of the "
     "program.",
     "# a program, started as usual\n"
     "rankloom online -o online.json -- mpirun -n 4 ./app\n"
     "# threads of a program that is compiled with the thread recorder\n"
     "rankloom cc -O2 -fopenmp threads.c -o threads && rankloom online -- ./threads\n"
     "# what moving ranks would have gained: replay recorded windows on a node with two packages\n"
     "rankloom record -o app.prof --window 10ms -- mpirun -n 4 ./app && rankloom online --replay app.prof -t "
     "\"package:2=3GB/s core:2=12GB/s\"",
     make_online},
    {"reorder", "make reorder=1 effective in MPI virtual topologies",
     "Runs the command after -- unchanged, with a PMPI preload library in its ranks: MPI_Cart_create, "
     "MPI_Graph_create, MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent with reorder = 1 then number the "
     "processes of the new communicator so that neighbours are placed close to each other. The program is not changed "
     "and gets the same results. Works for C, C++ and Fortran with Open MPI and MPICH, and needs no recording or "
     "measurement. By the cost model, the result is never worse than the given order; on any error, the given order "
     "stays. The exit status is that of the program.",
     "# a program, started as usual\n"
     "rankloom reorder -- mpirun -n 4 ./app\n"
     "# with one line per virtual topology: its cost before and after\n"
     "rankloom reorder --verbose -- mpirun -n 4 ./app\n"
     "# with the switches of the machine; node names must equal host names\n"
     "rankloom reorder -t topology.conf -- mpirun -n 64 ./app",
     make_reorder},
    {"lab", "run a virtual cluster on one machine",
     "Creates hosts from Linux namespaces: each has its own name, network, shared memory and message queues, and links "
     "of limited bandwidth connect them; files and processors are those of the machine. mpirun and mpiexec work on the "
     "hosts without changes. Needs root. `exec --hosts N` creates a temporary virtual cluster for one command.",
     "# a temporary virtual cluster for one command: sixteen ranks on four hosts\n"
     "rankloom lab exec --hosts 4 --slots 4 -- mpirun -n 16 hostname\n"
     "# start a virtual cluster, use it and stop it\n"
     "rankloom lab up --hosts 2 --rate 400mbit && rankloom lab topo -o lab.json && rankloom lab exec --on lab2 -- "
     "hostname; rankloom lab down\n"
     "# list running virtual clusters\n"
     "rankloom lab list",
     make_lab},
    {"alloc", "allocate nodes to jobs without network contention between them",
     "Gives each job a set of nodes with a small diameter whose routes share no resource with the routes of other "
     "jobs. Such a set is isolated (Zhang 2014 calls it closed, hence the names of the policies). A state file, which "
     "several processes may use at once, contains the allocations. The commands draw the machine with its jobs, verify "
     "that no two jobs share a resource, and replay recorded workloads to compare policies. If a job has to wait, "
     "`request` changes nothing and its exit status is 4.",
     "# a machine and two jobs, drawn and verified\n"
     "rankloom alloc init -t \"mesh:8x8 core:16\" && rankloom alloc request 9 --job first && rankloom alloc request "
     "--tasks 64 && rankloom alloc status && rankloom alloc verify\n"
     "# take a node out of service and back, and end a job\n"
     "rankloom alloc drain 63 --reason memory && rankloom alloc drain 63 --resume && rankloom alloc release first\n"
     "# compare policies on a generated workload\n"
     "rankloom gen workload --jobs 500 --nodes 64 -o jobs.swf && rankloom alloc replay jobs.swf -t \"mesh:8x8 core:1\" "
     "--policy closed-best,closed-minimum,first-fit --load 1.0\n"
     "# nodes and the mapping of the ranks, chosen together for a program's traffic\n"
     "rankloom alloc request 8 --pattern stencil3d --job joint -o joint.map",
     make_alloc},
    {"slurm", "run a Slurm cluster on one machine, and check the jobs of any Slurm installation",
     "`lab` starts a private Slurm: munged, slurmctld, and one slurmd for every node of the machine that -t describes, "
     "each with its own host name, shared memory and /tmp, so that MPI programs treat them as hosts. With --policy, "
     "rankloom chooses the nodes of jobs so that no two jobs share network resources. An existing Slurm of the machine "
     "is not touched, and `down` removes everything. Needs root. `check` queries any Slurm installation for its "
     "running jobs and recomputes their routes. `watch` does this at intervals, for people, as JSON lines and for "
     "Prometheus, and shows what a policy would have chosen; it needs no plugin. `status` lists the running jobs, or "
     "shows them on the machine in a page. `why` says why a job waits although "
     "nodes are free. `place` prints the placement of an srun step; the plugin of `srun --rankloom=MAPPING` "
     "calls it. `profiles` lists and removes the profiles that `srun --rankloom=learn` has recorded for your jobs.",
     "# start four nodes, run a job and stop them\n"
     "rankloom slurm lab up --nodes 4 && rankloom slurm lab exec -- srun -N 4 hostname; rankloom slurm lab down\n"
     "# a mesh in which no two jobs share network resources\n"
     "rankloom slurm lab up -t mesh:3x3 --policy closed-best && rankloom slurm lab exec -- srun -N 4 hostname; "
     "rankloom slurm lab down\n"
     "# which running jobs share network resources, and why a job waits\n"
     "rankloom slurm lab up -t mesh:3x3 --policy closed-best && rankloom slurm lab exec -- rankloom slurm watch "
     "--count 1 && rankloom slurm lab exec -- sh -c 'rankloom slurm why $(sbatch --parsable -N 9 --wrap \"sleep 9\")'; "
     "rankloom slurm lab down\n"
     "# list running clusters\n"
     "rankloom slurm lab status\n"
     "# the profiles that were learned from your jobs\n"
     "rankloom slurm profiles list\n"
     "# show where an srun command would place its ranks\n"
     "printf 'n1 1\\nn2 1\\n' > two.txt && printf '1\\n0\\n' > swap.txt && rankloom slurm place -- srun "
     "--rankloom=swap.txt,topology=two.txt ./app",
     make_slurm},
    {"cc", "compile a C program with the thread recorder",
     "Calls the compiler (RANKLOOM_CC, CC, or gcc) with all arguments unchanged, and adds flags that make the program "
     "record which of its threads access the same cache lines. At its end, the program writes a profile to "
     "RANKLOOM_THREADS_OUT, or to rankloom-threads.PID.prof in its working directory. Without arguments, it shows the "
     "added flags.",
     "# a program with OpenMP, and its profile\n"
     "rankloom cc -O2 -fopenmp threads.c -o threads && RANKLOOM_THREADS_OUT=threads.prof ./threads\n"
     "# a build with make\n"
     "make CC=\"rankloom cc\" CFLAGS=\"-O2 -fopenmp\" threads",
     make_cc},
    {"c++", "compile a C++ program with the thread recorder",
     "Calls the compiler (RANKLOOM_CXX, CXX, or g++) with all arguments unchanged, and adds flags that make the "
     "program record which of its threads access the same cache lines. Everything else is as for `rankloom cc`.",
     "# a program with std::thread, and its profile\n"
     "rankloom c++ -O2 -pthread threads.cpp -o threads && RANKLOOM_THREADS_OUT=threads.prof ./threads\n"
     "# show the flags, for builds that cannot use another compiler\n"
     "rankloom c++",
     make_cxx},
    {"list", "list mappers, cost models, formats, patterns, launchers, ...",
     "Prints the tables that the other verbs use: the names to type, what they mean, and the papers that they follow. "
     "With a name, it shows one row with its options.",
     "# all mapping algorithms\n"
     "rankloom list mappers\n"
     "# one mapper with its options\n"
     "rankloom list mappers pair-exchange",
     make_list},
    {"doctor", "check what is installed, or where the ranks and threads of a command run",
     "Examines the machine and the programs that rankloom uses: which are present, which are missing, what they are "
     "needed for and how to install them. The exit status is 5 if something essential is missing. With a command after "
     "--, it runs the command as it is and shows where its ranks and threads run, with a remedy for ranks that share "
     "cores, are not bound, or have more busy threads than processing units. The exit status is that of the program.",
     "# a list for the terminal\n"
     "rankloom doctor\n"
     "# the same for scripts\n"
     "rankloom doctor --json\n"
     "# where do my ranks and threads run?\n"
     "rankloom doctor -- mpirun -n 4 ./app",
     make_doctor},
    {"completion", "print a completion script for bash, zsh or fish",
     "Prints a script with which the shell completes verbs, options and values.",
     "# for the current bash session\n"
     "source <(rankloom completion bash)\n"
     "# for every new fish shell\n"
     "rankloom completion fish > ~/.config/fish/completions/rankloom.fish",
     make_completion},
    {"man", "print the manual pages",
     "Prints the manual page of rankloom or of one verb in roff, generated from the same tables as the help; with -o, "
     "it writes all pages into a directory.",
     "# read the page of map\n"
     "rankloom man map | man -l -\n"
     "# write all pages\n"
     "rankloom man -o man1",
     make_man},
});

}  // namespace

std::span<const VerbInfo> verbs() {
  return table;
}

}  // namespace rankloom::app
