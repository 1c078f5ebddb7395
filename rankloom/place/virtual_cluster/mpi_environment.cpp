// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: the environment variables with which MPI programs run on virtual hosts. Open MPI up to 4.1
// reads variables named OMPI_MCA_. From 5.0 on, its launcher PRRTE reads variables named PRTE_MCA_ and ignores the
// parameters of the old launcher; 6.0 prints a warning about each of the names of 5.0 (observed with 5.0.7 and
// 6.0.0rc2).
#include "rankloom/place/virtual_cluster/mpi_environment.hpp"

#include "rankloom/core/system/process.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

std::uint32_t installed_open_mpi() {
  for (const char* const program : {"mpirun.openmpi", "mpirun"}) {
    if (find_program(program).empty()) continue;
    const std::string text = output_of({program, "--version"});
    const Launcher* const launcher = recognise_launcher(program, text);
    if (launcher != nullptr && launcher->command_line->mpi == "openmpi") return major_version(text);
  }
  return 0;
}

Environment mpi_environment(const std::string& network_device, std::uint32_t open_mpi) {
  Environment variables{
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl_tcp_if_include", network_device},
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      {"UCX_NET_DEVICES", network_device},
      {"UCX_TLS", "tcp,self,sm"},
      {"HYDRA_IFACE", network_device},
  };
  if (open_mpi < 5) {
    variables.insert(variables.end(), {{"OMPI_MCA_btl", "tcp,self,vader"},
                                       {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                       {"OMPI_MCA_oob_tcp_if_include", network_device},
                                       {"OMPI_MCA_hwloc_base_binding_policy", "none"}});
  } else {
    variables.insert(variables.end(),
                     {{"PRTE_ALLOW_RUN_AS_ROOT", "1"},
                      {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                      {"OMPI_MCA_btl", "tcp,self,sm"},
                      {"OMPI_MCA_smsc", "^cma,knem,xpmem"},
                      // A rank that waits by sched_yield keeps the rank that it waits for from running, if they share
                      // a bound core and other programs run: 8.5 s instead of 0.06 s for five small exchanges.
                      {"OMPI_MCA_threads_pthreads_yield_strategy", "nanosleep"},
                      {open_mpi == 5 ? "PRTE_MCA_hwloc_default_binding_policy" : "PRTE_MCA_bindto", "none"}});
  }
  return variables;
}

Environment remote_launch_environment(const LaunchFiles& files, std::uint32_t open_mpi) {
  Environment variables{
      {"HYDRA_HOST_FILE", files.machines}, {"HYDRA_LAUNCHER", "ssh"}, {"HYDRA_LAUNCHER_EXEC", files.remote_shell}};
  if (open_mpi < 5) {
    variables.insert(variables.end(), {{"OMPI_MCA_plm_rsh_agent", files.remote_shell},
                                       {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                       {"OMPI_MCA_orte_default_hostfile", files.slots}});
  } else {
    variables.insert(variables.end(), {{"PRTE_MCA_plm_ssh_agent", files.remote_shell},
                                       {open_mpi == 5 ? "PRTE_MCA_rmaps_default_mapping_policy" : "PRTE_MCA_mapby",
                                        "slot:oversubscribe"},
                                       {"PRTE_MCA_prte_default_hostfile", files.slots}});
  }
  return variables;
}

}  // namespace rankloom
