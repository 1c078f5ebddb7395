// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: the table of instance packs. A better cost than the best known one goes into its row, with the
// mapper that found it; `rankloom bench pack:NAME` marks such results. Those of npb, meshes and networks are the
// lowest ones of some seeds of auto:effort=best, auto, scotch and metis; none of them is proved to be the lowest cost.
#include "rankloom/evaluate/experiment/instance_packs.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr std::string_view two_switches = "switch:2=4.1 node:4=3.7 core:8=1";
constexpr std::string_view three_levels = "rack:8=100 node:8=10 core:4=1";

/// Patterns of the NAS Parallel Benchmarks: the butterfly of CG, the sweeps of LU, the halos of MG, BT and SP, and the
/// transposition of FT and IS.
constexpr std::array npb{
    PackInstance{"gen:cg:ranks=64", two_switches, "CG", 20696, "auto"},
    PackInstance{"gen:cg:ranks=64,class=B", two_switches, "CG", 61064703744, "auto"},
    PackInstance{"gen:cg:ranks=32,class=C,shuffle", two_switches, "CG", 54777871872, "auto"},
    PackInstance{"gen:sweep:size=8x8", two_switches, "LU", 16515072, "auto"},
    PackInstance{"gen:sweep:size=16x4,shuffle", two_switches, "LU", 15171584, "auto"},
    PackInstance{"gen:stencil3d:size=4x4x4,points=7,periodic=all", two_switches, "MG", 46400, "auto"},
    PackInstance{"gen:stencil3d:size=4x4x4,points=27,shuffle", two_switches, "MG", 33919.6, "auto"},
    PackInstance{"gen:stencil2d:size=8x8,periodic=all,shuffle", two_switches, "BT, SP", 2640, "auto"},
    PackInstance{"gen:alltoall:ranks=48,expanded", two_switches, "FT, IS", 32151961.6, "auto"},
};

constexpr std::array meshes{
    PackInstance{"gen:grid2d:size=16x16,shuffle", three_levels, "grids", 8256, "auto"},
    PackInstance{"gen:grid2d:size=32x8", three_levels, "grids", 7456, "auto"},
    PackInstance{"gen:grid3d:size=8x8x4,shuffle", three_levels, "grids", 15616, "auto"},
    PackInstance{"gen:stencil2d:size=16x16,points=9,shuffle", three_levels, "stencils", 96168, "auto"},
    PackInstance{"gen:stencil3d:size=8x8x4,points=7,shuffle", three_levels, "stencils", 1561600, "auto"},
    PackInstance{"gen:stencil3d:size=8x8x4,points=27,shuffle", three_levels, "stencils", 2042160, "auto"},
    PackInstance{"gen:rgg:ranks=256,seed=1", three_levels, "geometric graphs", 64844, "auto:effort=best"},
    PackInstance{"gen:rgg:ranks=256,seed=2", three_levels, "geometric graphs", 78492, "auto"},
    PackInstance{"gen:rgg:ranks=250,seed=3", three_levels, "geometric graphs", 78010, "auto:effort=best"},
};

constexpr std::array networks{
    PackInstance{"gen:stencil3d:size=4x8x8,points=27,shuffle", "torus:4x4x4=3 core:4=1", "tori", 52076, "scotch"},
    PackInstance{"gen:stencil2d:size=16x16,shuffle", "torus:4x4x4=3 core:4=1", "tori", 2240, "auto"},
    PackInstance{"gen:rgg:ranks=256,seed=1", "torus:4x4x4=3 core:4=1", "tori", 4086, "auto"},
    PackInstance{"gen:stencil3d:size=4x8x8,points=27,shuffle", "mesh:8x8=3 core:4=1", "meshes", 60348,
                 "auto:effort=best"},
    PackInstance{"gen:rgg:ranks=256,seed=1", "mesh:8x8=3 core:4=1", "meshes", 4177, "auto:effort=best"},
    PackInstance{"gen:powerlaw:ranks=256,seed=1", "mesh:8x8=3 core:4=1", "meshes", 24217, "auto:effort=best"},
    PackInstance{"gen:stencil3d:size=4x8x8,points=27,shuffle", "dragonfly:4,4,4=3 core:4=1", "dragonflies", 129246,
                 "auto:effort=best"},
    PackInstance{"gen:rgg:ranks=256,seed=1", "dragonfly:4,4,4=3 core:4=1", "dragonflies", 7637, "auto"},
    PackInstance{"gen:blocks:ranks=256,seed=1", "dragonfly:4,4,4=3 core:4=1", "dragonflies", 229383, "auto"},
    PackInstance{"gen:stencil3d:size=4x8x8,points=27,shuffle", "fattree:k=4=3 core:16=1", "fat trees", 101384, "auto"},
    PackInstance{"gen:rgg:ranks=256,seed=1", "fattree:k=4=3 core:16=1", "fat trees", 2658, "auto:effort=best"},
    PackInstance{"gen:powerlaw:ranks=256,seed=1", "fattree:k=4=3 core:16=1", "fat trees", 29942, "auto:effort=best"},
};

/// The best known costs of this set are those of QAPLIB: proved to be the lowest ones, except that of sko42.
constexpr std::array qaplib{
    PackInstance{"gen:qaplib:name=nug12", "mesh:3x4=1", "Nugent", 578, "QAPLIB, optimal"},
    PackInstance{"gen:qaplib:name=nug15", "mesh:3x5=1", "Nugent", 1150, "QAPLIB, optimal"},
    PackInstance{"gen:qaplib:name=nug20", "mesh:4x5=1", "Nugent", 2570, "QAPLIB, optimal"},
    PackInstance{"gen:qaplib:name=nug25", "mesh:5x5=1", "Nugent", 3744, "QAPLIB, optimal"},
    PackInstance{"gen:qaplib:name=nug30", "mesh:5x6=1", "Nugent", 6124, "QAPLIB, optimal"},
    PackInstance{"gen:qaplib:name=sko42", "mesh:6x7=1", "Skorin-Kapov", 15812, "QAPLIB"},
};

constexpr std::array packs{
    InstancePack{"meshes", "grids, stencils and random geometric graphs on racks, nodes and cores", "bytes", meshes},
    InstancePack{"networks", "stencils and random graphs on tori, meshes, dragonflies and fat trees", "hopbytes",
                 networks},
    InstancePack{"npb", "patterns of the NAS Parallel Benchmarks on two switches", "bytes", npb},
    InstancePack{"qaplib-small", "quadratic assignment problems of the literature, 12 to 42 ranks on meshes",
                 "hopbytes", qaplib},
};

}  // namespace

std::span<const InstancePack> instance_packs() {
  return packs;
}

Result<const InstancePack*> find_instance_pack(std::string_view name) {
  const auto* const found =
      std::find_if(packs.begin(), packs.end(), [&](const InstancePack& pack) { return pack.name == name; });
  if (found != packs.end()) return found;
  std::string names;
  for (const InstancePack& pack : packs) names += fmt::format("{}pack:{}", names.empty() ? "" : ", ", pack.name);
  return fail(Code::usage, at(fmt::format("pack:{}", name)), "unknown set of instances",
              fmt::format("one of: {}", names));
}

}  // namespace rankloom
