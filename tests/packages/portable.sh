#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the portable archive in several releases of Debian: unpacks it in the home of a user there, and uses it with the MPI
# implementations of that release (portable_checks.sh). Needs root and debootstrap. FOLDER keeps the systems for the next time.
#
#   portable.sh ARCHIVE FOLDER [SUITE…]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/../debian/minimal_debian.sh"

PACKAGES="gcc g++ libc6-dev openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2 hwloc-nox openssh-client"

[ "$(id -u)" -eq 0 ] || { echo "portable.sh: needs root" >&2; exit 5; }
archive=$(realpath "$1")
folder=$(mkdir -p "$2" && realpath "$2")
shift 2
[ $# -gt 0 ] || set -- bullseye bookworm trixie forky

# A system that was not completed is made again.
make_system() {
  local suite=$1 root=$folder/$1
  [ ! -e "$root.complete" ] || return 0
  rm -rf --one-file-system "$root"
  minimal_debian "$suite" "$root"
  "$here/../debian/enter.sh" "$root" bash -e -c "apt-get update -q; apt-get install -y -q --no-install-recommends $PACKAGES; useradd -m user" \
    >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 5; }
  touch "$root.complete"
}

use_proxy_of_apt
failed=()
for suite in "$@"; do
  make_system "$suite"
  echo "== $suite"
  root=$folder/$suite
  rm -rf --one-file-system "$root/portable" "$root"/home/user/* "$root"/root/*
  mkdir "$root/portable"
  cp "$archive" "$here/portable_checks.sh" "$here/../../apps/groups/groups.cpp" "$root/portable/"
  "$here/../debian/enter.sh" --private-network "$root" bash /portable/portable_checks.sh || failed+=("$suite")
done
[ ${#failed[@]} -eq 0 ] || { echo "fails in: ${failed[*]}"; exit 1; }
