#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks, one after another, and collects their JSON rows. run.sh BIN [NAME…]
# `lab` needs root and a machine that does nothing else: only by its name.
# auto_qaplib takes five minutes (31 instances of 10 s), auto_ranks and auto_scale a few minutes each.
set -euo pipefail
bin=$1
shift
rows=$(dirname "$bin")/bench.jsonl
[ $# -gt 0 ] || set -- read_speed exhaustive qaplib matrices clustering eager_scotch eager_load huge_eval threads record startup \
  auto_ranks auto_networks auto_few auto_meshes auto_applications auto_qaplib auto_scale \
  allocation joint prediction time training online
failed=0
for name in "$@"; do
  name=${name/#flagship_/auto_}  # the former names of the benchmarks of `auto`
  program=$bin/bench_$name
  [ -x "$program" ] || { echo "no benchmark is called $name" >&2; exit 2; }
  printf '\n== %s\n' "$name"
  status=0
  "$program" "$bin" >"$rows.one" || status=$?
  sed '$d' "$rows.one"
  tail -n 1 "$rows.one" >>"$rows"
  [ $status -eq 0 ] || failed=1
done
rm -f "$rows.one"
[ $failed -eq 0 ] && echo "all required figures were reached" || { echo "a required figure was not reached" && exit 1; }
