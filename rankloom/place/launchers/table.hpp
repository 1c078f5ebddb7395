// SPDX-License-Identifier: Apache-2.0
// place/launchers: the table of launchers. To add a launcher: CONTRIBUTING.md, "How to add".
#pragma once

#include <array>

#include "rankloom/place/launchers.hpp"

namespace rankloom::launcher_rows {

extern const Launcher openmpi4;                          // open_mpi.cpp
extern const Launcher openmpi5, openmpi6;                // prrte.cpp
extern const Launcher mpich, mpich5, intelmpi;           // hydra.cpp
extern const Launcher slurm, cray;                       // slurm.cpp
extern const Launcher flux;                              // flux.cpp
extern const Launcher lsf, pbs, fujitsu;                 // batch.cpp
extern const Launcher torchrun, slurm_torch, deepspeed;  // training.cpp
extern const Launcher ray, kubernetes, rank_table;       // training.cpp
extern const Launcher hostfile, wrapper, plain_mapping;  // plain.cpp

inline constexpr std::array all{&openmpi4,  &openmpi5, &openmpi6,   &mpich,      &mpich5,   &intelmpi, &slurm,
                                &cray,      &flux,     &lsf,        &pbs,        &fujitsu,  &torchrun, &slurm_torch,
                                &deepspeed, &ray,      &kubernetes, &rank_table, &hostfile, &wrapper,  &plain_mapping};

}  // namespace rankloom::launcher_rows
