# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# tests: makes a minimal Debian of any suite in a folder. For scripts that source it and run as root with debootstrap installed.

# host_suite  The suite of this machine, or nothing.
host_suite() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

# debian_archive  The first archive with Debian's component main that apt of this machine is configured for.
debian_archive() {
  local archive
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $(host_suite)" 'Component: main' | head -1)
  [ -n "$archive" ] || { echo "$(basename "$0"): apt has no source for $(host_suite) main" >&2; return 5; }
  echo "$archive"
}

# use_proxy_of_apt  debootstrap and programs in the minimal Debian use the proxy that apt of this machine uses.
use_proxy_of_apt() {
  local proxy
  proxy=$(apt-config shell proxy Acquire::http::Proxy | sed "s/^proxy='\(.*\)'$/\1/")
  case "$proxy" in "" | DIRECT) ;; *) export http_proxy="$proxy" ;; esac
}

# minimal_debian SUITE FOLDER  The messages of debootstrap are in FOLDER.log.
minimal_debian() {
  local suite=$1 folder=$2 archive script
  archive=$(debian_archive) || return
  use_proxy_of_apt
  # A debootstrap that is older than the suite has no script of its name.
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  mkdir -p "$folder"
  chmod 755 "$folder"
  debootstrap --variant=minbase "$suite" "$folder" "$archive" "$script" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; return 5; }
  configure_apt "$suite" "$folder" "$archive"
}

# configure_apt SUITE FOLDER ARCHIVE  apt has the configuration of this machine, names resolve as here.
configure_apt() {
  local suite=$1 folder=$2 archive=$3 part
  mkdir -p "$folder/usr/share/keyrings"
  cp -n /usr/share/keyrings/*.gpg "$folder/usr/share/keyrings/" 2>/dev/null || true
  for part in trusted.gpg.d keyrings apt.conf.d; do
    [ ! -e "/etc/apt/$part" ] || cp -rT "/etc/apt/$part" "$folder/etc/apt/$part"
  done
  if [ "$suite" = "$(host_suite)" ]; then
    rm -f "$folder/etc/apt/sources.list"
    for part in sources.list sources.list.d preferences.d; do
      [ ! -e "/etc/apt/$part" ] || cp -rT "/etc/apt/$part" "$folder/etc/apt/$part"
    done
  else
    echo "deb $archive $suite main" >"$folder/etc/apt/sources.list"
    # A copy of a suite in development becomes too old for apt after a week.
    echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/90-check-valid-until"
  fi
  cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
  # debootstrap does not write this file; enter.sh sets the host name.
  { echo "127.0.0.1 localhost"; echo "127.0.1.1 debian"; grep -v '^127\.' /etc/hosts || true; } >"$folder/etc/hosts"
  echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/quick"  # this system need not survive a power failure
}
