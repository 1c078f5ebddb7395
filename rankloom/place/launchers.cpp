// SPDX-License-Identifier: Apache-2.0
// place: the table of launchers.
#include "rankloom/place/launchers.hpp"

#include <array>

#include <fmt/format.h>

#include "rankloom/core/shell_word.hpp"
#include "rankloom/core/suggest.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

constexpr auto table = std::to_array<LauncherInfo>({
    {"openmpi4", "Open MPI up to 4.1: a rankfile of physical processing units", "mpirun(1) of Open MPI 4.1, Rankfiles",
     "launched and verified here with 4.1.4", write_open_mpi_4, read_physical_rankfile},
    {"openmpi5", "Open MPI 5: a rankfile of logical cores", "PRRTE 3 (Open MPI 5.0), Rankfiles and --map-by",
     "read in its manual; not launched", write_open_mpi_5, read_logical_rankfile},
    {"mpich", "MPICH (hydra): a host for each rank, and a wrapper that binds", "mpiexec(1) of MPICH 4, hydra",
     "launched and verified here with 4.0.2", write_mpich, read_hostfile},
    {"intelmpi", "Intel MPI: a configuration of runs of ranks",
     "Intel MPI Developer Reference 2021.15, Hydra options and process pinning; Getmanskiy 2015, 4.1",
     "read in its manual, files compared with the paper's; not launched", write_intel, read_intel},
    {"slurm", "srun: a host for each task, and a wrapper that binds", "srun(1), --distribution=arbitrary",
     "launched and verified here with 22.05", write_slurm, read_hostfile},
    {"cray", "Cray MPICH: ranks in the order of slots", "LUMI training materials, MPICH_RANK_REORDER_METHOD=3",
     "from a site's guide; not checked against its manual", write_cray, read_cray},
    {"flux", "Flux: a host for each task, and a wrapper that binds", "flux-run(1), --taskmap=hostfile, from 0.61 on",
     "read in its manual; not launched", write_flux, read_hostfile},
    {"lsf", "LSF: ranks of each host", "IBM Spectrum LSF 10.1, Running jobs with task geometry; Span string",
     "read in its manual; not launched", write_lsf, read_lsf},
    {"pbs", "PBS: a selection of chunks in the order of ranks", "OpenPBS: qsub(1B), pbs_resources(7B)",
     "read in its manual, the order of hosts in a site's guide; not launched", write_pbs, read_hostfile},
    {"fujitsu", "Fujitsu MPI (Fugaku): a coordinate for each rank", "Fujitsu MPI, --vcoordfile",
     "from notes; not checked against its manual", write_fujitsu, read_fujitsu},
    {"hostfile", "a host for each rank, for whatever takes one a line", "",
     "launched and verified here: Open MPI --map-by seq, MPICH -f", write_hostfile, read_hostfile},
    {"wrapper", "a table for rankloom-bind, for launchers that place but do not bind", "",
     "launched and verified here with Open MPI and MPICH", write_wrapper, read_wrapper},
    {"plain", "one core number a line, as `rankloom map` writes it", "", "read by every verb", write_plain, read_plain},
});

}  // namespace

std::string EmitOptions::path(std::string_view file) const {
  if (folder.empty()) return std::string(file);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", file);
}

std::string LauncherCommand::text() const {
  std::string line;
  for (const std::string& assignment : environment) {
    const std::size_t equals = assignment.find('=');
    line += assignment.substr(0, equals + 1) + shell_word(assignment.substr(equals + 1)) + " ";
  }
  for (std::size_t i = 0; i < words.size(); ++i) line += (i > 0 ? " " : "") + shell_word(words[i]);
  return line;
}

std::span<const LauncherInfo> launchers() {
  return table;
}

Result<const LauncherInfo*> find_launcher(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LauncherInfo& row : table) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return fail(Code::usage, at("launchers"), fmt::format("there is no '{}'", name), suggest(name, names));
}

}  // namespace rankloom
