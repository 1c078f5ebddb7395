// SPDX-License-Identifier: Apache-2.0
// apps: the table of verbs.
#include <array>

#include "apps/rankloom/verb.hpp"

namespace rankloom::app {

namespace {

constexpr auto table = std::to_array<VerbInfo>({
    {"tune", "from your command to a faster one, in one go",
     "Records the program in a first run, looks at the machine that the launcher reaches, finds a place for every "
     "rank, "
     "runs the program in turn as it is now and as placed, proves that every rank is where it was asked, and says how "
     "much faster that is, or that it is not, and why. Everything is kept in a folder, with the files and the command "
     "to use from now on.",
     "# the whole thing\n"
     "rankloom tune -- mpirun -n 4 ./app\n"
     "# what it would run\n"
     "rankloom tune --dry-run -- mpirun -n 4 ./app",
     make_tune},
    {"map", "find a place for every rank",
     "Reads who talks to whom (a profile) and what is near what (a machine), and writes who sits where: one core "
     "number a line, line i for "
     "rank i. The result never costs more than the order in which launchers place ranks by default, unless --raw asks "
     "for it. Every "
     "option of a mapper can be given as a flag or in its spec: --tries 1000 or -a pair-exchange:tries=1000.",
     "# map a recorded program onto two switches of six nodes\n"
     "rankloom map app.prof -t \"switch:2=4.1 node:6=3.7 core:16=1\" -o mapping.txt\n"
     "# the same with a chosen algorithm and a time limit, for a script\n"
     "rankloom map app.prof -t cluster.json -a greedy --budget 2s --json\n"
     "# a quadratic assignment problem that brings its own distances\n"
     "rankloom map nug12.dat -a mpipp --restarts 10",
     make_map},
    {"eval", "score mappings side by side",
     "Scores mapping files, or mappers that are run for it, in every cost model, with the bytes that cross each level "
     "of the machine. With "
     "more than 20 million edges only the chosen model and the levels are computed, unless --all asks for the rest.",
     "# a mapping against the launcher's default order\n"
     "rankloom eval mapping.txt block --profile app.prof -t cluster.json\n"
     "# ten million ranks, made and scored in one command\n"
     "rankloom eval block --profile gen:stencil3d:size=216x216x216,points=27 -t \"node:78732=10 core:128=1\"\n"
     "# which links carry most on a torus\n"
     "rankloom eval block random --links --model congestion --profile app.prof -t \"torus:4x4x4 core:8\"",
     make_eval},
    {"compare", "run mappers side by side",
     "Runs several mappers on one problem and sorts them by what their mappings cost. Mappers are separated by commas "
     "or by repeating -a; a "
     "word after a comma that is no mapper belongs to the options of the one before. With --runs each runs with "
     "several seeds, and the "
     "spread is shown. Results that cost more than the default order are shown as they are.",
     "# everything that suits the size\n"
     "rankloom compare app.prof -t cluster.json\n"
     "# two mappers, ten seeds each\n"
     "rankloom compare app.prof -t cluster.json -a mpipp:restarts=5,pair-exchange:tries=100000,order=turn --runs 10",
     make_compare},
    {"simulate", "how long would it take? Programs replayed on a machine that need not be there",
     "Replays what a program does, from a trace that `record --trace` wrote or in rounds made from a profile, on a "
     "simulation of the machine by SimGrid, and says how long each mapping takes. With --job several programs run at "
     "once, each on its own nodes, and those that share wires slow each other down; --alone also runs each by itself. "
     "--calibrate sends messages between two cores of each level and says how well they take what the machine says.",
     "# two mappings of a stencil on two switches of six nodes\n"
     "rankloom simulate block random --profile gen:stencil2d:size=8x8 -t \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
     "# two jobs whose messages meet on a mesh, and how much that costs them\n"
     "rankloom simulate --alone --job gen:alltoall:ranks=8@nodes:0,2 --job gen:alltoall:ranks=8@nodes:1,3 "
     "-t \"mesh:4=1 core:4=1\"\n"
     "# is a message between two nodes as slow as the machine says?\n"
     "rankloom simulate --calibrate -t \"node:2=10,2us core:4=1,100ns\" -o calibration.json",
     make_simulate},
    {"emit", "say a mapping in a launcher's words",
     "Turns a mapping into the files that a launcher takes and the command that uses them. The topology gives the "
     "names "
     "of the hosts and the numbers of their processing units. With --from it reads a launcher's file instead of a "
     "mapping, so that a rankfile becomes a hostfile, or with --to plain a mapping again.",
     "# a rankfile for Open MPI, and the command to type\n"
     "rankloom emit mapping.txt -t cluster.json --to openmpi4 -o launch\n"
     "# the same for MPICH, with names for the nodes of a topology string\n"
     "rankloom emit mapping.txt -t \"node:12=10 core:16=1\" --hosts n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12 --to mpich\n"
     "# a rankfile back into a mapping\n"
     "rankloom emit launch/rankfile --from openmpi4 -t cluster.json --to plain -o again",
     make_emit},
    {"run", "launch a program where a mapping says, and prove it",
     "Rewrites a command of mpirun, mpiexec or srun so that the launcher (Open MPI, MPICH, Intel MPI, Slurm) follows "
     "the "
     "mapping, runs it, and compares what every rank says of its host and processing units with what was asked. What "
     "the launcher would silently do otherwise is refused, with a remedy. The exit status is the program's own; with "
     "--strict it is 5 when a rank is elsewhere.",
     "# two ranks on this machine, the first on the second core\n"
     "printf '1\\n0\\n' > swap.txt && rankloom run swap.txt -t core:2 -- mpirun -n 2 hostname\n"
     "# what would be run, and with which files\n"
     "rankloom run swap.txt -t core:2 --dry-run -- mpirun -n 2 hostname",
     make_run},
    {"topo", "look at a machine: discover, measure, draw and check it",
     "Discovers a machine (this host, hosts that a launcher reaches, files of networks and nodes put together), "
     "measures "
     "what sending costs on it, draws it as a tree in which equal parts are folded, checks it, or writes it as "
     "topology "
     "JSON. Machines come as files of any "
     "source of `rankloom list topologies`, as a string, or as --hierarchy and --distance.",
     "# this host\n"
     "rankloom topo discover -o node.json\n"
     "# a cluster: the network from Slurm, the inside of its nodes from hwloc\n"
     "rankloom topo discover --network topology.conf --node node.xml -o cluster.json\n"
     "# the hosts that a launcher reaches, each looked at where it is\n"
     "rankloom topo discover -- mpirun --map-by node\n"
     "# what sending costs between 4 ranks, measured\n"
     "rankloom topo probe --seconds 1 -o measured.json -- mpirun -n 4\n"
     "# two switches of six nodes of sixteen cores\n"
     "rankloom topo show \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
     "# is this file sound?\n"
     "rankloom topo check cluster.json\n"
     "# a string as a file, to edit by hand\n"
     "rankloom topo convert \"torus:4x4 core:8\" -o torus.json",
     make_topo},
    {"gen", "make a communication pattern by rule",
     "Writes a synthetic profile. The same pattern can be used without a file wherever a profile is read: "
     "gen:stencil2d:size=16x16. --shuffle "
     "renames the ranks at random, so that the default order is a bad one.",
     "# a 16 x 16 halo exchange with renamed ranks\n"
     "rankloom gen stencil2d --size 16x16 --shuffle -o halo.prof\n"
     "# as a graph for partitioners\n"
     "rankloom gen rgg --ranks 4096 --to metis -o rgg.graph\n"
     "# jobs that come to a machine of 1,024 nodes\n"
     "rankloom gen workload --nodes 1024 --jobs 1000 -o jobs.swf\n"
     "# what there is\n"
     "rankloom list patterns",
     make_gen},
    {"import", "turn somebody else's format into a profile",
     "Reads any format of `rankloom list formats`, recognised by its content, and writes the native profile or another "
     "format that has a "
     "writer.",
     "# a METIS graph as a profile\n"
     "rankloom import mesh.graph -o mesh.prof\n"
     "# a profile as a Matrix Market file\n"
     "rankloom import mesh.prof --to matrix-market -o mesh.mtx",
     make_import},
    {"show", "what a program says, at a glance",
     "Prints what a profile holds: how much is sent, point to point and by collectives, between whom, in messages of "
     "which size, how much of the "
     "time is spent in MPI (no mapping can save more), its phases, and a picture of who talks to whom.",
     "# at a glance\n"
     "rankloom show app.prof\n"
     "# without collectives, and more of the heaviest pairs\n"
     "rankloom show app.prof --collectives none --top 30\n"
     "# for scripts\n"
     "rankloom show app.prof --json",
     make_show},
    {"report", "everything about a result on one page, or as pictures",
     "Shows what was found: a verdict in a sentence with the commands to type, who talks to whom before and after as "
     "heat maps, the machine with the ranks on their cores, bytes across each level, the hottest links, message sizes, "
     "collectives, phases, mappers side by side, jobs over time, and how to reproduce it, with SHA-256 of every file. "
     "The page is one HTML file without anything to load from elsewhere. Nothing is run but mappers that are named; a "
     "profile with a machine is mapped by auto. What was not measured is called predicted, and no gain is called so.",
     "# what tune found, as a page\n"
     "rankloom report app.tune -o report.html\n"
     "# a mapping against the default order, with the mappers of a comparison\n"
     "rankloom report mapping.txt compare.json -p app.prof -t cluster.json -o report.html\n"
     "# in the terminal: a pattern mapped by auto\n"
     "rankloom report gen:groups:groups=4,per-group=4 -t \"node:4=10 core:4=1\"\n"
     "# pictures for a paper\n"
     "rankloom report app.prof -t cluster.json --svg pictures\n"
     "# a workload replayed under two policies\n"
     "rankloom alloc replay jobs.swf -t \"mesh:8x8 core:1\" --detail --json > replay.json\n"
     "# and its jobs over time\n"
     "rankloom report replay.json -o report.html",
     make_report},
    {"record", "run a program once and see who talks to whom",
     "Runs the command behind -- as it is, with a recorder in its ranks, and writes a profile: what each rank sends to "
     "each, in how many messages of which size, the collectives, and the time inside and outside MPI. The program is "
     "not "
     "changed; C, C++ and Fortran, Open MPI and MPICH. Works with mpirun, mpiexec and srun, and with programs that "
     "rankloom cc compiled. The exit status is the program's.",
     "# a program, started as always\n"
     "rankloom record -- mpirun -n 4 ./app\n"
     "# with a matrix for each second, to see phases\n"
     "rankloom record -o app.prof --window 1s -- mpirun -n 4 ./app && rankloom show app.prof\n"
     "# with a trace that SimGrid can replay\n"
     "rankloom record --trace app.trace -- mpirun -n 4 ./app && rankloom import app.trace",
     make_record},
    {"online", "move ranks or threads inside a node while the program runs",
     "Runs the command behind -- as it is, with an agent on each node that reads what the ranks send, in windows of "
     "time. When the program begins to talk otherwise, the agent finds the best cores of its node for that, and moves "
     "ranks there if the rest of the phase is worth the moves. Between nodes nothing moves; what a restart with "
     "another mapping would gain is said at the end. A program that was compiled by `rankloom cc` or `rankloom c++` "
     "needs no launcher: its threads are moved. The exit status is the program's.",
     "# a program, started as always\n"
     "rankloom online -o online.json -- mpirun -n 4 ./app\n"
     "# threads of a program, compiled for it\n"
     "rankloom cc -O2 -fopenmp threads.c -o threads && rankloom online -- ./threads\n"
     "# what would moving bring? windows of a run, replayed on a node of two packages\n"
     "rankloom record -o app.prof --window 10ms -- mpirun -n 4 ./app && rankloom online --replay app.prof -t "
     "\"package:2=3GB/s core:2=12GB/s\"",
     make_online},
    {"reorder", "let MPI's reorder=1 do what it says",
     "Runs the command behind -- as it is, with a library in its ranks: MPI_Cart_create, MPI_Graph_create, "
     "MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent with reorder = 1 then number the processes of the new "
     "communicator so that neighbours sit near each other. The program is not changed and gets the same results; C, "
     "C++ "
     "and Fortran, Open MPI and MPICH. Nothing is to be recorded or measured before. Never worse than the given order "
     "under the model; what goes wrong leaves that order. The exit status is the program's.",
     "# a program, started as always\n"
     "rankloom reorder -- mpirun -n 4 ./app\n"
     "# with a line for each virtual topology: what it cost before and after\n"
     "rankloom reorder --verbose -- mpirun -n 4 ./app\n"
     "# with the switches of the machine, whose nodes are called as the hosts\n"
     "rankloom reorder -t topology.conf -- mpirun -n 64 ./app",
     make_reorder},
    {"lab", "a cluster on one machine, to try things on",
     "Makes hosts out of Linux namespaces: each has its own name, network, shared memory and message queues, joined by "
     "cables of a limited rate; files and processors are the machine's own. mpirun and mpiexec work on its hosts as "
     "they "
     "are. Needs root. A command for which a size is given gets a lab of its own, that goes with it.",
     "# a lab for one command: sixteen ranks on four hosts\n"
     "rankloom lab exec --hosts 4 --slots 4 -- mpirun -n 16 hostname\n"
     "# one that stays, and away with it\n"
     "rankloom lab up --hosts 2 --rate 400mbit && rankloom lab topo -o lab.json && rankloom lab exec --on lab2 -- "
     "hostname; rankloom lab down\n"
     "# what is up\n"
     "rankloom lab list",
     make_lab},
    {"alloc", "nodes for several jobs, so that none meets another",
     "Gives each job a set of nodes on which it meets no other job's messages, and whose diameter is small; keeps who "
     "has what in a state file that several processes may use at once; draws the machine with its jobs, proves that no "
     "two of them meet, and replays recorded workloads to compare policies. When a job has to wait, `request` changes "
     "nothing and its status is 4.",
     "# a machine, two jobs, a look at them, and the proof that they do not meet\n"
     "rankloom alloc init -t \"mesh:8x8 core:16\" && rankloom alloc request 9 --job first && rankloom alloc request "
     "--tasks 64 && rankloom alloc status && rankloom alloc verify\n"
     "# a node away and back, and a job's end\n"
     "rankloom alloc drain 63 --reason memory && rankloom alloc drain 63 --resume && rankloom alloc release first\n"
     "# what policies would have made of a workload\n"
     "rankloom gen workload --jobs 500 --nodes 64 -o jobs.swf && rankloom alloc replay jobs.swf -t \"mesh:8x8 core:1\" "
     "--policy closed-best,closed-minimum,first-fit --load 1.0",
     make_alloc},
    {"slurm", "a real Slurm on one machine, and proof that jobs in Slurm do not meet",
     "`lab` starts a Slurm of its own: munged, slurmctld, and a slurmd for every node of the machine that -t names, "
     "each "
     "with "
     "its own name, shared memory and /tmp, so that MPI programs take them for hosts. With --policy, the nodes of jobs "
     "are chosen by rankloom, so that no job meets another's messages. Nothing of the machine's own Slurm is touched, "
     "and nothing is left when it is down. Needs root. `check` asks any Slurm where its jobs are, and walks their "
     "routes. `place` says where the ranks of an srun go: the plugin of `srun --rankloom=MAPPING` asks it.",
     "# four nodes, a job, and away with them\n"
     "rankloom slurm lab up --nodes 4 && rankloom slurm lab exec -- srun -N 4 hostname; rankloom slurm lab down\n"
     "# a mesh on which no job meets another\n"
     "rankloom slurm lab up -t mesh:3x3 --policy closed-best && rankloom slurm lab exec -- srun -N 4 hostname; "
     "rankloom slurm lab down\n"
     "# what is up\n"
     "rankloom slurm lab status\n"
     "# where would this srun put its ranks?\n"
     "printf 'n1 1\\nn2 1\\n' > two.txt && printf '1\\n0\\n' > swap.txt && rankloom slurm place -- srun "
     "--rankloom=swap.txt,topology=two.txt ./app",
     make_slurm},
    {"cc", "compile C so that the program records its threads",
     "Calls the compiler (RANKLOOM_CC, CC, else gcc) with all words as they are, and adds what makes the program "
     "record "
     "which of its threads touch the same cache lines. When the program ends, it writes a profile: to "
     "RANKLOOM_THREADS_OUT, or rankloom-threads.PID.prof in the folder where it was started. Without words it shows "
     "what would be added.",
     "# a program with OpenMP, and its profile\n"
     "rankloom cc -O2 -fopenmp threads.c -o threads && RANKLOOM_THREADS_OUT=threads.prof ./threads\n"
     "# a build with make\n"
     "make CC=\"rankloom cc\" CFLAGS=\"-O2 -fopenmp\" threads",
     make_cc},
    {"c++", "compile C++ so that the program records its threads",
     "Calls the compiler (RANKLOOM_CXX, CXX, else g++) with all words as they are, and adds what makes the program "
     "record which of its threads touch the same cache lines. Everything else is as with `rankloom cc`.",
     "# a program with std::thread, and its profile\n"
     "rankloom c++ -O2 -pthread threads.cpp -o threads && RANKLOOM_THREADS_OUT=threads.prof ./threads\n"
     "# the flags, for a build that takes no other compiler\n"
     "rankloom c++",
     make_cxx},
    {"list", "what there is: mappers, models, formats, patterns, ..",
     "Prints the tables that every other verb uses: names to type, what they are, which paper they follow. A second "
     "word shows one row with "
     "its options.",
     "# all algorithms\n"
     "rankloom list mappers\n"
     "# one of them, with its options\n"
     "rankloom list mappers pair-exchange",
     make_list},
    {"doctor", "is everything here to work?",
     "Looks at the machine and the programs around rankloom: what is there, what is missing, what it would be needed "
     "for and how to get it. "
     "The exit status is 5 when something is missing that nothing works without.",
     "# for people\n"
     "rankloom doctor\n"
     "# for scripts\n"
     "rankloom doctor --json",
     make_doctor},
    {"completion", "completion for bash, zsh or fish",
     "Prints a script that lets the shell complete verbs, options and values.",
     "# for this shell\n"
     "source <(rankloom completion bash)\n"
     "# for every fish to come\n"
     "rankloom completion fish > ~/.config/fish/completions/rankloom.fish",
     make_completion},
    {"man", "the manual pages",
     "Prints the manual page of rankloom or of one verb in roff, made from the same tables as the help; with -o all "
     "pages into a folder.",
     "# read one\n"
     "rankloom man map | man -l -\n"
     "# write all of them\n"
     "rankloom man -o man1",
     make_man},
});

}  // namespace

std::span<const VerbInfo> verbs() {
  return table;
}

}  // namespace rankloom::app
