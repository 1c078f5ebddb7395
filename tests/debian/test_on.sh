#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests: runs `./dev test` in a minimal Debian of another suite, with the compilers and libraries of that suite. The system is made
# once and stays in FOLDER/SUITE/root, with the build of the working tree in it. The result is appended to FOLDER/results.jsonl and,
# if all tests ran, to results.jsonl of this directory, from which table.py makes the table in docs/versions.md. Needs root.
#
#   test_on.sh PROJECT FOLDER SUITE [REGEX | --build]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/minimal_debian.sh"

[ "$(id -u)" -eq 0 ] || { echo "test_on.sh: needs root" >&2; exit 5; }
project=$(realpath "$1") suite=$3 what=("${@:4}")
mkdir -p "$2/$suite"
folder=$(realpath "$2")
root=$folder/$suite/root

say() { printf '\033[1m%s: %s\033[0m\n' "$suite" "$*" >&2; }

# A system that was not completed is made again.
make_system() {
  [ ! -e "$folder/$suite/complete" ] || return 0
  say "making a minimal Debian"
  rm -rf --one-file-system "$root"
  minimal_debian "$suite" "$root"
  touch "$folder/$suite/complete"
}

# The tracked files as they are in the working tree; times are kept, so that only what has changed is compiled again.
copy_sources() {
  local files=$folder/$suite/files target=$root/rankloom
  mkdir -p "$target"
  (cd "$project" && git -c safe.directory="$project" ls-files | while read -r file; do [ ! -f "$file" ] || echo "$file"; done) | LC_ALL=C sort >"$files.new"
  [ ! -e "$files" ] || LC_ALL=C comm -23 "$files" "$files.new" | (cd "$target" && xargs -r -d '\n' rm -f)
  tar -C "$project" -c -T "$files.new" | tar -C "$target" -x
  mv "$files.new" "$files"
}

# inside [--private-network] WORD…  ./dev with these words.
inside() {
  local network=()
  if [ "$1" = --private-network ]; then
    network=("$1")
    shift
  fi
  "$here/enter.sh" "${network[@]}" "$root" sh -c 'cd /rankloom && exec ./dev "$@"' dev "$@"
}

# add_result OUTCOME WORD…  OUTCOME: what `./dev test` did.
add_result() {
  local commit
  commit=$(git -c safe.directory="$project" -C "$project" rev-parse --short=8 HEAD 2>/dev/null || echo unknown)
  # The results of earlier runs do not count as changes.
  [ "$commit" = unknown ] || git -c safe.directory="$project" -C "$project" diff --quiet HEAD -- . ':!docs/versions.md' ':!tests/debian/results.jsonl' ||
    commit+=-dirty
  python3 "$here/table.py" add --suite "$suite" --root "$root" --commit "$commit" --outcome "$@"
}

make_system
copy_sources
use_proxy_of_apt
say "packages and build"
inside test --build || { status=$?; add_result "not built" "$folder/results.jsonl"; exit "$status"; }
[ "${what[0]:-}" != --build ] || exit 0
say "tests"
rm -f "$root"/rankloom/build/tests*.xml
status=0
inside --private-network test "${what[@]}" || status=$?
reports=("$root"/rankloom/build/tests*.xml)
if [ ${#what[@]} -gt 0 ]; then
  add_result selected "$folder/results.jsonl" "${reports[@]}"
else
  add_result complete "$folder/results.jsonl" "${reports[@]}"
  add_result complete "$here/results.jsonl" "${reports[@]}"
  python3 "$here/table.py" page "$here/results.jsonl" "$project/docs/versions.md"
  say "docs/versions.md has the result"
fi
exit "$status"
