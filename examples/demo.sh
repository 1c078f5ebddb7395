#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What rankloom does, in a minute: demo.sh path/to/rankloom
set -euo pipefail
program=$(realpath "${1:?usage: demo.sh path/to/rankloom}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$program" "$folder/bin/rankloom"
export PATH="$folder/bin:$PATH"
cd "$folder"

if [ -t 1 ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; else bold='' dim='' plain=''; fi
tell() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
try() {
  local words='' word
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_.,:=/-]*) words+=" \"$word\"" ;; *) words+=" $word" ;; esac
  done
  printf '%s$%s%s\n' "$dim" "$words" "$plain"
  "$@"
}

cluster="switch:2=4.1 node:6=3.7 core:16=1"

tell "1. A program of 192 ranks in 12 groups that exchange much; which ranks form a group is shuffled."
try rankloom gen groups --groups 12 --per-group 16 -o app.prof

tell "2. A cluster: 2 switches, 6 nodes each, 16 cores each; sending across costs 3.7 and 4.1 times as much as inside a node."
try rankloom topo show "$cluster"

tell "3. Mappers side by side: what do their mappings cost, and how long do they take?"
try rankloom compare app.prof -t "$cluster" -a block,round-robin,random,greedy,pe-500k,refine,auto

tell "4. The mapping itself, and where the bytes go now."
try rankloom map app.prof -t "$cluster" -o app.map
printf '%s$ head -3 app.map   # the core of ranks 0, 1, 2%s\n' "$dim" "$plain"
head -3 app.map

tell "5. The same on a torus, looking at the most loaded link."
try rankloom compare app.prof -t "torus:4x3 core:16" --model congestion -a block,greedy,auto --budget 5s

if rankloom lab up --name demo --hosts 4 --slots 4 --rate 400mbit >/dev/null 2>&1 && command -v mpirun.openmpi >/dev/null; then
  trap 'rankloom lab down --name demo >/dev/null 2>&1; rm -rf "$folder"' EXIT
  export RANKLOOM_LAB=demo OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  tell "6. All of it with a real program, in one command: 16 ranks on four hosts made of namespaces, cables of 400 Mbit/s."
  groups=$(dirname "$program")/rankloom-groups.openmpi
  try rankloom tune --lab --runs 3 -o app.tune -- mpirun.openmpi -n 16 "$groups" --iterations 5

  if command -v mpicc.openmpi >/dev/null; then
    tell "7. Without a second run: a ring of processes that are dealt out to the hosts in turn, and MPI's own reorder, which now works."
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
  tell "8. While it runs: a program that talks in a ring, then in pairs, and so on. Its ranks move when that pays, here on a node of two packages."
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

tell "What to type next"
cat <<'TEXT'
  export PATH=$PWD/build/bin:$PATH             (after ./dev build)
  rankloom tune -- mpirun -n 64 ./app          your own program, on your own cluster
  rankloom list mappers                        the algorithms, each with its paper
  rankloom gen stencil3d --help                other patterns: rankloom list patterns
  rankloom map YOUR_FILE -t YOUR_CLUSTER       METIS, Matrix Market, dense text, QAPLIB, … are recognised
  rankloom topo show --help                    how to write down your machine (docs/topology.md)
TEXT
