#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the portable archive: rankloom for every Linux of this architecture with glibc 2.31 or later. `./dev package --portable`
# runs it on Debian 12; it needs no root.
#
#   build.sh FOLDER          writes FOLDER/rankloom-VERSION-ARCHITECTURE.tar.gz
#
# The compiler is that of Debian 12. It compiles and links against a sysroot that contains the C library of Debian 11 and the other
# libraries of Debian 12, most of them as static libraries. A function that glibc 2.31 does not have is an error of the linker.
# fmt, oneTBB and hwloc, whose packages have no usable static library, are built from Debian's sources.
set -euo pipefail

project=$(realpath "$(dirname "$0")/../..")
folder=$(mkdir -p "$1" && realpath "$1")
architecture=$(uname -m)
multiarch=$(g++ -print-multiarch)
sysroot=$folder/sysroot
old_release=bullseye new_release=bookworm

OLD_PACKAGES="libc6 libc6-dev libcrypt1 libcrypt-dev linux-libc-dev libgcc-10-dev"
NEW_PACKAGES="libexpected-dev nlohmann-json3-dev libzstd-dev zlib1g-dev libsqlite3-dev libyaml-dev libcli11-dev libeigen3-dev libspectra-dev libscotch-dev libotf2-trace-dev libopenmpi-dev libopenmpi3 libmpich-dev libmpich12 libpmix-dev libevent-dev"
SOURCES="fmtlib onetbb hwloc"

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
# Runs a command, and shows the end of its output only if it fails.
quietly() { "$@" >"$folder/log" 2>&1 || { tail -40 "$folder/log" >&2; exit 1; }; }

# apt with lists of its own for both releases, from the archive that this machine uses.
configure_apt() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $new_release" 'Component: main' | head -1)
  [ -n "$mirror" ] || { echo "build.sh: apt has no source for $new_release main: the archive is built on Debian 12" >&2; exit 5; }
  mkdir -p "$folder"/apt/{lists,cache/archives}/partial
  : >"$folder/apt/status"
  local key="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
  cat >"$folder/apt/sources.list" <<TEXT
deb $key $mirror $old_release main
deb $key $mirror $new_release main
deb-src $key $mirror $new_release main
TEXT
  apt_options=(-qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/apt/lists"
    -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache" -o Acquire::Check-Valid-Until=false
    -o "APT::Sandbox::User=$(id -un)")
  quietly apt-get "${apt_options[@]}" update
}

make_sysroot() {
  say "sysroot: the C library of Debian 11, other libraries of Debian 12"
  configure_apt
  rm -rf "$sysroot" "$folder/packages" "$folder/sources"
  mkdir -p "$sysroot/gcc" "$folder/packages" "$folder/sources"
  # shellcheck disable=SC2086
  (cd "$folder/packages" &&
    quietly apt-get "${apt_options[@]}" download $(printf "%s/$old_release " $OLD_PACKAGES) $(printf "%s/$new_release " $NEW_PACKAGES))
  # shellcheck disable=SC2086
  (cd "$folder/sources" && quietly apt-get "${apt_options[@]}" source --download-only $SOURCES)
  local package
  for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
  # Absolute links would lead to the libraries of this machine.
  local link
  while read -r link; do ln -sfn "$sysroot$(readlink "$link")" "$link"; done < <(find "$sysroot" -lname '/*')
  # The unwinder of GCC 12 needs a function of glibc 2.35, that of GCC 10 does not.
  mv "$sysroot/usr/lib/gcc/$multiarch/10/libgcc_eh.a" "$sysroot/gcc/"
  rm -rf "$sysroot/usr/lib/gcc"
  # Only the static libraries, except those of the MPI implementations.
  local library
  for library in zstd z sqlite3 yaml otf2; do rm -f "$sysroot/usr/lib/$multiarch/lib$library".so*; done
  rm -f "$sysroot/usr/lib/$multiarch"/libmpich*.a
  gcc --sysroot="$sysroot" -O2 -fPIC -Wall -Wextra -Werror -c "$project/packaging/portable/newer_glibc.c" -o "$sysroot/gcc/newer_glibc.o"
}

write_toolchain() {
  # GCC looks for libraries next to itself before it looks into the sysroot.
  local libraries="-B$sysroot/usr/lib/$multiarch/ -L$sysroot/gcc -L$sysroot/usr/lib/$multiarch -L$sysroot/usr/lib -L$sysroot/lib/$multiarch"
  # The C++ library, which comes last, needs libpthread, which is not part of the old C library.
  local standard="-Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--pop-state -Wl,--as-needed -lrt -lm"
  local link="-static-libgcc -static-libstdc++ $libraries $sysroot/gcc/newer_glibc.o"
  cat >"$folder/toolchain.cmake" <<TEXT
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_LIBRARY_ARCHITECTURE $multiarch)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT "$link")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "$link")
set(CMAKE_C_STANDARD_LIBRARIES "$standard")
set(CMAKE_CXX_STANDARD_LIBRARIES "$standard")
TEXT
  # Programs that are linked with an MPI library. What that library needs is on the machine where the program runs.
  mkdir -p "$folder/wrappers"
  local mpi flags
  for mpi in openmpi mpich; do
    case $mpi in
      openmpi) flags="-isystem $sysroot/usr/lib/$multiarch/openmpi/include -L$sysroot/usr/lib/$multiarch/openmpi/lib -lmpi" ;;
      mpich) flags="-isystem $sysroot/usr/include/$multiarch/mpich -lmpich" ;;
    esac
    printf '#!/bin/sh\nexec g++ --sysroot=%s "$@" %s %s -Wl,--allow-shlib-undefined %s\n' "$sysroot" "$link" "$flags" "$standard" >"$folder/wrappers/mpicxx.$mpi"
    chmod +x "$folder/wrappers/mpicxx.$mpi"
  done
}

# Of the libraries that have no static one in Debian.
unpack() {
  rm -rf "$folder/sources/$1"
  mkdir -p "$folder/sources/$1"
  tar -xf "$folder/sources/$1"_*.orig.tar.* -C "$folder/sources/$1" --strip-components=1
}
install_with_cmake() {
  local name=$1
  shift
  say "$name"
  unpack "$name"
  quietly cmake -G Ninja -S "$folder/sources/$name" -B "$folder/sources/$name/build" -DCMAKE_TOOLCHAIN_FILE="$folder/toolchain.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF "$@"
  DESTDIR=$sysroot quietly cmake --build "$folder/sources/$name/build" --target install
}
install_hwloc() {
  say hwloc
  unpack hwloc
  # hwloc reads PCI and other devices from /sys; it reads and writes XML itself.
  (cd "$folder/sources/hwloc" &&
    quietly env CC="gcc --sysroot=$sysroot" ./configure --prefix=/usr --enable-static --disable-shared --with-pic --disable-libxml2 --disable-pci \
      --disable-libudev --disable-opencl --disable-cuda --disable-nvml --disable-rsmi --disable-levelzero --disable-gl --disable-cairo \
      --disable-plugins --disable-doxygen --disable-readme &&
    quietly make -C include install "DESTDIR=$sysroot" &&
    quietly make -C hwloc -j"$(nproc)" install "DESTDIR=$sysroot" &&
    install -D -m 644 hwloc.pc "$sysroot/usr/lib/pkgconfig/hwloc.pc")
}

export PKG_CONFIG_SYSROOT_DIR=$sysroot
export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$multiarch/pkgconfig:$sysroot/usr/lib/pkgconfig:$sysroot/usr/share/pkgconfig

# Once; the sysroot is made again when this folder changes.
recipe=$(cat "$project"/packaging/portable/* | sha256sum)
if [ "$(cat "$folder/recipe" 2>/dev/null)" != "$recipe" ]; then
  make_sysroot
  write_toolchain
  install_with_cmake fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
  install_with_cmake onetbb -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
  install_hwloc
  echo "$recipe" >"$folder/recipe"
fi

say rankloom
quietly cmake -G Ninja -S "$project" -B "$folder/build" -DCMAKE_TOOLCHAIN_FILE="$folder/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DRANKLOOM_UNITY=ON -DRANKLOOM_TESTS=OFF -DRANKLOOM_SLURM=OFF -DRANKLOOM_SIMGRID=OFF -DRANKLOOM_METIS=OFF -DRANKLOOM_PYTHON=OFF \
  -DRANKLOOM_MPICXX_openmpi="$folder/wrappers/mpicxx.openmpi" -DRANKLOOM_MPICXX_mpich="$folder/wrappers/mpicxx.mpich"
cmake --build "$folder/build" --target programs

version=$("$folder/build/bin/rankloom" --version | grep -o '[0-9][0-9.]*' | head -1)
name=rankloom-$version-$architecture
rm -rf "$folder/$name" "$folder/$name.tar.gz"
for component in program openmpi mpich plain_names; do
  quietly cmake --install "$folder/build" --prefix "$folder/$name" --component "$component" --strip
done
mkdir -p "$folder/$name/share/doc/rankloom"
cp "$project/LICENSE" "$project/README.md" "$folder/$name/share/doc/rankloom/"
for package in "$sysroot"/usr/share/doc/*/copyright; do
  cp "$package" "$folder/$name/share/doc/rankloom/copyright-$(basename "$(dirname "$package")")"
done
python3 "$project/packaging/portable/check_libraries.py" "$folder/$name"
tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$project" log -1 --format=%ct)" -czf "$folder/$name.tar.gz" "$name"
ls "$folder/$name.tar.gz"
