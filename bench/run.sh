#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks, one after another, and collects their JSON rows. run.sh BIN [NAME…]
# flagship_qaplib takes five minutes by itself (31 instances of 10 s), flagship_ranks and flagship_scale a few each.
set -euo pipefail
bin=$1
shift
rows=$(dirname "$bin")/bench.jsonl
[ $# -gt 0 ] || set -- read_speed exhaustive qaplib matrices clustering eager_scotch eager_load huge_eval threads record \
  flagship_ranks flagship_few flagship_meshes flagship_applications flagship_qaplib flagship_scale \
  allocation prediction online
failed=0
for name in "$@"; do
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
[ $failed -eq 0 ] && echo "every figure that must be reached was reached" || { echo "a figure was missed" && exit 1; }
