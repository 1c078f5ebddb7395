#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the Debian packages: creates a minimal Debian in a directory, installs the packages there with apt, uses them (checks.sh),
# removes them, and looks for files that remain. Needs root and debootstrap. All mounts are in a separate mount namespace, so
# none of them can remain.
#
#   smoke.sh FOLDER_OF_PACKAGES FOLDER_OF_THE_PROJECT
#
# RANKLOOM_SMOKE_KEEP=1 keeps the folder, to look around in it; RANKLOOM_SMOKE_BASE=FOLDER copies a minimal Debian that is there
# already, instead of making one.
set -euo pipefail

packages=$(realpath "$1")
project=$(realpath "$2")
here=$(dirname "$(realpath "$0")")

# Debian as this machine gets it: the first archive of this release that apt is configured for.
base_system() {
  if [ "${RANKLOOM_SMOKE_BASE:-}" ]; then
    cp -aT "$RANKLOOM_SMOKE_BASE" "$root"
    return
  fi
  local release mirror proxy
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $release" 'Component: main' | head -1)
  [ -n "$mirror" ] || { echo "smoke.sh: apt has no source for $release main" >&2; exit 5; }
  proxy=$(apt-config shell proxy Acquire::http::Proxy | sed "s/^proxy='\(.*\)'$/\1/")
  case "$proxy" in "" | DIRECT) ;; *) export http_proxy="$proxy" ;; esac
  debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 5; }
}

# The same sources for what comes later; names resolve as here.
configure_apt() {
  rm -f "$root/etc/apt/sources.list"
  local part
  for part in sources.list sources.list.d trusted.gpg.d keyrings apt.conf.d preferences.d; do
    [ ! -e "/etc/apt/$part" ] || cp -rT "/etc/apt/$part" "$root/etc/apt/$part"
  done
  mkdir -p "$root/usr/share/keyrings"
  cp -n /usr/share/keyrings/*.gpg "$root/usr/share/keyrings/" 2>/dev/null || true
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"  # which Debian's installer writes, not debootstrap
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick"  # this system will not live long
}

inside() {
  mount --make-rprivate /
  mount --bind "$root" "$root"  # a mount of its own, to become the root
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/run"
  mkdir "$root/run/lock" "$root/run/outside"
  # Not only chroot: who is in one may not make namespaces, as labs do.
  cd "$root"
  pivot_root . run/outside
  exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} bash /smoke/checks.sh
}

if [ "${RANKLOOM_SMOKE_ROOT:-}" ]; then
  root=$RANKLOOM_SMOKE_ROOT
  inside
  exit
fi

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
configure_apt
echo "a minimal Debian after $((SECONDS - began)) s"
mkdir -p "$root/smoke"
cp "$packages"/*.deb "$root/smoke/"
cp "$here/checks.sh" "$root/smoke/"
mkdir -p "$root/smoke/project/tests" "$root/smoke/project/docs"
cp -r "$project/tests/capi" "$project/tests/docs" "$root/smoke/project/tests/"
cp "$project/README.md" "$root/smoke/project/"
cp "$project"/docs/*.md "$root/smoke/project/docs/"
# Its processes end with it, and so do its mounts.
RANKLOOM_SMOKE_ROOT=$root unshare --mount --pid --fork --kill-child --ipc --uts "$0" "$@" &
child=$!
status=0
wait "$child" || status=$?
child=
echo "all in $((SECONDS - began)) s"
exit "$status"
