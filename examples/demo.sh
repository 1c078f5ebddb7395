#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows what rankloom does, in about a minute: demo.sh path/to/rankloom
set -euo pipefail
program=$(realpath "${1:?usage: demo.sh path/to/rankloom}")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/bin"
ln -s "$program" "$directory/bin/rankloom"
export PATH="$directory/bin:$PATH"
cd "$directory"

if [ -t 1 ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
try() {
  local command='' argument
  for argument in "$@"; do
    case $argument in *[!A-Za-z0-9_.,:=/-]*) command+=" \"$argument\"" ;; *) command+=" $argument" ;; esac
  done
  printf '%s$%s%s\n' "$dim" "$command" "$plain"
  "$@"
}

cluster="switch:2=4.1 node:6=3.7 core:16=1"

title "1. The profile of a program with 192 ranks in 12 groups. Ranks of a group exchange much data; the ranks are shuffled."
try rankloom gen groups --groups 12 --per-group 16 -o app.prof

title "2. A cluster with 2 switches of 6 nodes of 16 cores. A byte costs 1 within a node, 3.7 between nodes, and 4.1 between switches."
try rankloom topo show "$cluster"

title "3. Several mappers: the predicted communication time with their mappings, and how long they take."
try rankloom compare app.prof -t "$cluster" -a block,round-robin,random,greedy,pe-500k,refine,auto

title "4. The mapping, and how many bytes cross each level of the machine."
try rankloom map app.prof -t "$cluster" -o app.map
printf '%s$ head -3 app.map   # the cores of ranks 0, 1 and 2%s\n' "$dim" "$plain"
head -3 app.map

title "5. The same program on a torus, where messages share links. Scotch is the mapper of many partitioning tools."
scotch=$(rankloom list mappers | grep -q "^ *scotch" && echo ",scotch" || true)
try rankloom compare app.prof -t "torus:4x3 core:16" -a "block,greedy$scotch,auto" --budget 5s

if rankloom lab up --name demo --hosts 4 --slots 4 --rate 400mbit >/dev/null 2>&1 && command -v mpirun.openmpi >/dev/null; then
  trap 'rankloom lab down --name demo >/dev/null 2>&1; rm -rf "$directory"' EXIT
  export RANKLOOM_LAB=demo OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  title "6. All steps for a real program in one command: 16 ranks on a virtual cluster of four hosts with links of 400 Mbit/s."
  groups=$(dirname "$program")/rankloom-groups.openmpi
  try rankloom tune --lab --runs 3 -o app.tune -- mpirun.openmpi -n 16 "$groups" --iterations 5

  if command -v mpicc.openmpi >/dev/null; then
    title "7. No recording needed: a ring of processes that the launcher distributes round-robin over the hosts, first as it is, then with MPI's reorder=1 implemented by rankloom."
    cat > ring.c <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  static char out[200000], in[200000];
  int size, rank, left, right, periodic = 1;
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  double begin = MPI_Wtime();
  for (int i = 0; i < 20; ++i) MPI_Sendrecv(out, sizeof out, MPI_CHAR, right, 0, in, sizeof in, MPI_CHAR, left, 0, ring, MPI_STATUS_IGNORE);
  MPI_Barrier(ring);
  if (rank == 0) printf("20 rounds of the ring: %.2f s\n", MPI_Wtime() - begin);
  return MPI_Finalize();
}
PROGRAM
    mpicc.openmpi -O2 ring.c -o ring
    try rankloom lab exec --name demo -- mpirun.openmpi -n 16 --map-by node ./ring
    try rankloom lab exec --name demo -- rankloom reorder --verbose -- mpirun.openmpi -n 16 --map-by node ./ring
  fi
fi

if command -v mpicc.openmpi >/dev/null; then
  title "8. While a program runs: it communicates in a ring, then in pairs, and again. Ranks move when the gain exceeds the cost, here on a node with two packages."
  cat > phases.c <<'PROGRAM'
#include <mpi.h>
#include <unistd.h>
static char out[16384], in[16384];
int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 1600; ++i) {
    int pairs = i / 400 % 2, to = (rank + (pairs ? ranks / 2 : 1)) % ranks, from = (rank + ranks - (pairs ? ranks / 2 : 1)) % ranks;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, to, 0, in, sizeof in, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  return MPI_Finalize();
}
PROGRAM
  mpicc.openmpi -O2 phases.c -o phases
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  try rankloom online --window 50ms -t "package:2=1GB/s,1us core:2=10GB/s,200ns" -- mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 4 ./phases
fi

title "Next steps"
cat <<'TEXT'
  export PATH=$PWD/build/bin:$PATH             (after ./dev build)
  rankloom tune -- mpirun -n 64 ./app          your program on your cluster
  rankloom list mappers                        all mapping algorithms with their papers
  rankloom gen stencil3d --help                other patterns: rankloom list patterns
  rankloom map YOUR_FILE -t YOUR_CLUSTER       METIS, Matrix Market, dense text, QAPLIB, … are recognised
  rankloom topo show --help                    how to describe your machine (docs/topology.md)
TEXT
