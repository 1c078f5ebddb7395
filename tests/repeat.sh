#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all usual tests several times without a second attempt for any of them, and lists the tests that ever failed.
#
#   repeat.sh BUILD RUNS [--busy]      --busy: next to one busy loop per processor
set -euo pipefail
build=$1 runs=$2
failed=$(mktemp)
loops=()
trap 'rm -f "$failed"; [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"' EXIT
if [ "${3:-}" = --busy ]; then
  for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    loops+=($!)
  done
fi
log=$build/Testing/Temporary/LastTestsFailed.log
for run in $(seq "$runs"); do
  rm -f "$log"
  begin=$SECONDS
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j $(($(nproc) + 2)) --label-exclude applications >"$build/repeat.$run.log" 2>&1 || true
  tests=$(sed -n 's/.* tests failed out of //p' "$build/repeat.$run.log")
  [ -n "$tests" ] || { echo "no tests ran: see $build/repeat.$run.log" >&2; exit 1; }
  if [ -f "$log" ]; then sed 's/^[0-9]*://' "$log" >>"$failed"; fi
  echo "run $run of $runs: $(if [ -f "$log" ]; then wc -l <"$log"; else echo 0; fi) of $tests tests failed, $((SECONDS - begin)) s"
done
echo "$(sort -u "$failed" | wc -l) tests ever failed in $runs runs"
sort "$failed" | uniq -c | sort -rn
[ ! -s "$failed" ]
