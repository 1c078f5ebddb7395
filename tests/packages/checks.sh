#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What smoke.sh runs inside a minimal Debian: install, use, remove. Each check is a line; what a failing one said is shown.
set -uo pipefail
cd /smoke || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
machine="switch:2=4.1 node:2=3.7 core:4=1"
failed=0

# check WHAT COMMAND… where COMMAND is a line for the shell
check() {
  local began=$SECONDS
  if timeout 600 bash -e -o pipefail -c "$2" >/smoke/said 2>&1 </dev/null; then
    echo "ok    $1 ($((SECONDS - began)) s)"
  else
    echo "FAILS $1: status $?"
    tail -40 /smoke/said
    failed=$((failed + 1))
  fi
}
# Without it nothing else can be seen.
need() {
  local before=$failed
  check "$@"
  [ "$failed" -eq "$before" ] || exit 1
}
install="apt-get install -y -q --no-install-recommends"
version=$(dpkg -f rankloom_*.deb Version)

need "apt reads its sources" "apt-get update -q"

# The program alone: nothing but its own dependencies is there.
need "rankloom installs by itself" "$install ./rankloom_*.deb"
check "it says its version" "rankloom --version | grep -F '${version%-*}'"
check "doctor" "rankloom doctor; rankloom doctor | grep 'apt install rankloom-simulate'"
check "gen" "rankloom gen groups --groups 4 --per-group 4 -o app.prof"
check "map" "rankloom map app.prof -t '$machine' -o app.map && test \$(grep -c ^[0-9] app.map) = 16"
check "compare, with the mappers of Scotch and METIS" "rankloom compare app.prof -t '$machine' -a scotch -a metis -a auto"
check "eval" "rankloom eval app.map block --profile app.prof -t '$machine'"
check "emit" "rankloom emit app.map -t '$machine' --to openmpi4 -o launch && ls launch"
check "without the recorder, record names its package" \
  "if rankloom record --mpi openmpi -- /bin/true 2>said.record; then exit 1; fi; grep 'apt install rankloom-record-openmpi' said.record"
check "no file is left without a package" "for file in /usr/bin/rankloom* /usr/lib/rankloom/*; do dpkg -S \$file; done"

# All of them, and the software that users combine with them.
need "all packages install together" "$install ./*.deb"
need "MPI, compilers, Slurm and others install as well" \
  "$install openmpi-bin libopenmpi-dev mpich gcc libc6-dev make cmake pkg-config man-db zsh bash-completion iproute2 munge slurmctld slurmd slurm-client"
check "every library that is needed is there" "
  for file in /usr/bin/rankloom* /usr/lib/rankloom/rankloom-* /usr/lib/rankloom/*.so /usr/lib/rankloom/slurm/*.so /usr/lib/*/librankloom.so.1; do
    if ldd \$file 2>/dev/null | grep 'not found'; then echo \$file; exit 1; fi
  done"
check "doctor finds all parts" "rankloom doctor --json >doctor.json; ! grep -E 'apt install rankloom|build again' doctor.json"
check "manual pages" "for page in rankloom rankloom-map rankloom-bind rankloom-agent rankloom-groups rankloom-groups.mpich; do man -w \$page; done"
check "manual pages are read" "man rankloom-map | grep -q topology && man rankloom-groups | grep -q per-group"
check "completion in bash" \
  "bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader rankloom; complete -p rankloom'"
check "completion in zsh" "zsh -fc 'autoload -U compinit; compinit -u -D; print \$_comps[rankloom]' | grep _rankloom"
check "completion file of fish" "test -s /usr/share/fish/vendor_completions.d/rankloom.fish"

for mpi in openmpi mpich; do
  launch="mpiexec.$mpi -n 4"
  [ $mpi = mpich ] || launch="mpirun.openmpi -n 4"
  check "record with $mpi" "
    timeout 120 rankloom record -o $mpi.prof --trace $mpi.trace -- $launch rankloom-groups.$mpi --per-group 2 --iterations 3
    rankloom map $mpi.prof -t 'node:2=10 core:2=1' -o $mpi.map && rankloom show $mpi.prof | grep -A2 'pairs with the most traffic'"
  check "reorder with $mpi" "timeout 120 rankloom reorder -- $launch rankloom-groups.$mpi --per-group 2 --iterations 1"
  check "topo probe with $mpi" "timeout 120 rankloom topo probe --seconds 1 -o $mpi.json -- $launch && rankloom topo show $mpi.json"
done
check "rankloom-groups is one of them" "readlink -f /usr/bin/rankloom-groups | grep openmpi"
check "simulate" "rankloom simulate openmpi.map block --profile openmpi.prof --trace openmpi.trace -t 'node:2=10,2us core:2=1,100ns'"
check "threads" "
  printf '%s\n' '#include <pthread.h>' 'static long all[4];' 'static void* work(void* at) { for (int i = 0; i < 1000; ++i) ++*(long*)at; return 0; }' \
    'int main(void) { pthread_t t[4]; for (int i = 0; i < 4; ++i) pthread_create(&t[i], 0, work, &all[i]); for (int i = 0; i < 4; ++i) pthread_join(t[i], 0); }' >threads.c
  rankloom cc -O1 -pthread threads.c -o threads && rankloom record -o threads.prof -- ./threads && rankloom show threads.prof"
check "Python" "python3 -c \"
import rankloom
topology = rankloom.Topology('node:4=10 core:4=1')
assert topology.cores == 16 and rankloom.__version__ == '${version%-*}' and len(rankloom.mappers()) > 10
\""
check "a C program by pkg-config" "gcc -std=c11 project/tests/capi/external/main.c -o by_flags \$(pkg-config --cflags --libs rankloom) && ./by_flags"
check "a C program by CMake" "cmake -S project/tests/capi/external -B external && cmake --build external && external/external"
check "packages of such programs can depend on the library" "
  readelf -d by_flags | grep 'librankloom.so.1\]' && grep '^librankloom 1 librankloom1' /var/lib/dpkg/info/librankloom1*.shlibs"

# Slurm for real: its own controller loads one plugin, its own srun the other. Ports of others on this machine are not met;
# names resolve only where there is another address than that of lo.
check "Slurm chooses nodes and ranks" "unshare --net bash -e -c '
  ip link set lo up
  ip link add here type veth peer name there && ip addr add 192.0.2.1/24 dev here && ip link set here up && ip link set there up
  rankloom slurm lab up --name smoke -t \"mesh:3x3 core:2\" --policy closed-best
  trap \"rankloom slurm lab down --name smoke\" EXIT
  . /run/rankloom-slurm/smoke/env
  salloc --no-shell --quiet -N 4
  squeue -h -t R -o %N | tee jobs
  test -s jobs
  rankloom slurm check
  grep \"rankloom: node selection: 9 nodes\" /run/rankloom-slurm/smoke/log/slurmctld.log
  printf \"%s\\\\n\" 3 0 1 2 >four.map
  timeout 60 rankloom slurm lab exec --name smoke -- salloc -Q -N 2 -n 4 srun -l --rankloom=strict:four.map hostname'"

# What the pages promise to people who begin.
for page in README docs/installing docs/start; do
  [ ! -f project/$page.md ] || check "every command of $page.md" "python3 project/tests/docs/run_docs.py --program /usr/bin/rankloom project/$page.md"
done

check "a second installation changes nothing" "$install --reinstall ./*.deb && rankloom --version && rankloom-groups --help"
names=$(for file in ./*.deb; do dpkg -f "$file" Package; done | tr '\n' ' ')
check "docs/installing.md names every package" "for name in $names; do grep -F \"| \\\`\$name\\\` |\" project/docs/installing.md; done"
check "all packages are removed" "apt-get purge -y -q $names"
check "nothing of them is left" "
  if dpkg-query -W -f='\${db:Status-Status} \${Package}\n' '*rankloom*' 2>/dev/null | grep -v '^not-installed'; then exit 1; fi
  if update-alternatives --query rankloom-groups 2>/dev/null; then exit 1; fi
  left=\$(find / -xdev -iname '*rankloom*' -not -path '/smoke/*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/var/lib/dpkg/*' -not -path '/var/cache/man/*' -not -path '/root/*' -not -path '/tmp/*')
  echo \"\$left\"
  test -z \"\$left\""

[ "$failed" -eq 0 ] || { echo "$failed checks fail"; exit 1; }
