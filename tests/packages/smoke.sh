#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the Debian packages: creates a minimal Debian in a directory, installs the packages there with apt, uses them (checks.sh),
# removes them, and looks for files that remain. Needs root and debootstrap. All mounts are in a separate mount namespace
# (../debian/enter.sh), so none of them can remain.
#
#   smoke.sh FOLDER_OF_PACKAGES FOLDER_OF_THE_PROJECT
#
# RANKLOOM_SMOKE_KEEP=1 keeps the folder, to look around in it; RANKLOOM_SMOKE_BASE=FOLDER copies a minimal Debian that is there
# already, instead of making one.
set -euo pipefail

packages=$(realpath "$1")
project=$(realpath "$2")
here=$(dirname "$(realpath "$0")")

. "$here/../debian/minimal_debian.sh"

# Debian as this machine has it.
base_system() {
  local suite
  suite=$(host_suite)
  if [ "${RANKLOOM_SMOKE_BASE:-}" ]; then
    cp -aT "$RANKLOOM_SMOKE_BASE" "$root"
    configure_apt "$suite" "$root" "$(debian_archive)"
  else
    minimal_debian "$suite" "$root"
  fi
}

[ "$(id -u)" -eq 0 ] || { echo "smoke.sh: needs root" >&2; exit 5; }
began=$SECONDS
root=$(mktemp -d "${TMPDIR:-/tmp}/rankloom-smoke.XXXXXX")
child=
leave() {
  if [ "$child" ]; then
    kill -KILL "$child" 2>/dev/null || true  # unshare hears nothing else; what it started dies with it
    wait "$child" 2>/dev/null || true
    sleep 1
  fi
  if [ "${RANKLOOM_SMOKE_KEEP:-}" ]; then echo "kept: $root"; else rm -rf --one-file-system "$root" "$root.log"; fi
}
trap leave EXIT
trap 'exit 1' INT TERM

chmod 755 "$root"
base_system
use_proxy_of_apt
echo "a minimal Debian after $((SECONDS - began)) s"
mkdir -p "$root/smoke"
cp "$packages"/*.deb "$root/smoke/"
cp "$here/checks.sh" "$root/smoke/"
mkdir -p "$root/smoke/project/tests" "$root/smoke/project/docs"
cp -r "$project/tests/capi" "$project/tests/docs" "$project/tests/support" "$root/smoke/project/tests/"
cp "$project/README.md" "$root/smoke/project/"
cp "$project"/docs/*.md "$root/smoke/project/docs/"
# Its processes end with it, and so do its mounts.
"$here/../debian/enter.sh" "$root" bash /smoke/checks.sh &
child=$!
status=0
wait "$child" || status=$?
child=
echo "all in $((SECONDS - began)) s"
exit "$status"
