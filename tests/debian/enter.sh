#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests: runs a command as root in a minimal Debian with mount, PID, IPC and UTS namespaces of its own: its processes and mounts
# end with the command. Needs root.
#
#   enter.sh [--private-network] FOLDER COMMAND…
#
# With --private-network, the network is a namespace of its own, too, with the addresses of private_network.sh; otherwise it is the
# network of this machine, as apt needs it.
set -euo pipefail
here=$(dirname "$(realpath "$0")")

# The first process of the namespaces.
inside() {
  local network=$1 root=$2 device
  shift 2
  hostname debian
  mount --make-rprivate /
  [ "$network" = shared ] || "$here/private_network.sh"
  mount --bind "$root" "$root"  # a mount of its own, to become the root
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s /proc/self/fd/0 "$root/dev/stdin"
  ln -s /proc/self/fd/1 "$root/dev/stdout"
  ln -s /proc/self/fd/2 "$root/dev/stderr"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mkdir -m 1777 "$root/run/lock"
  mkdir "$root/run/outside"
  # Not only chroot: a process in a chroot may not make user namespaces, as labs do.
  cd "$root"
  pivot_root . run/outside
  exec chroot . /bin/sh -c 'cd / && umount -l /run/outside && rmdir /run/outside && exec "$@"' sh \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${TERM:+TERM="$TERM"} ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
fi

network=shared namespaces=()
if [ "${1:-}" = --private-network ]; then
  network=private namespaces=(--net)
  shift
fi
[ $# -ge 2 ] || { echo "usage: enter.sh [--private-network] FOLDER COMMAND…" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "enter.sh: needs root" >&2; exit 5; }
root=$(realpath "$1")
shift
exec unshare --mount --pid --fork --kill-child --ipc --uts "${namespaces[@]}" "$0" --inside "$network" "$root" "$@"
