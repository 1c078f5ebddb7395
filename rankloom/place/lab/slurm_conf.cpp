// SPDX-License-Identifier: Apache-2.0
// place: the configuration of a Slurm on one machine.
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <unistd.h>

#include "rankloom/place/lab/slurm_parts.hpp"

namespace rankloom {

std::string slurm_plugin_folder() {
  glob_t found{};
  std::string folder;
  if (::glob("/usr/lib/*/slurm-wlm/select_cons_tres.so", 0, nullptr, &found) == 0 && found.gl_pathc > 0)
    folder = std::filesystem::path(found.gl_pathv[0]).parent_path().string();
  ::globfree(&found);
  return folder;
}

std::string slurm_conf_text(const SlurmLab& lab, const SlurmLabOptions& options) {
  const std::string& folder = lab.folder;
  std::string text = fmt::format(
      "# Written by `rankloom slurm lab up`; it goes with `rankloom slurm lab down --name {0}`.\n"
      "ClusterName={0}\n"
      "SlurmctldHost={1}(127.0.0.1)\n"
      "SlurmctldPort={2}\n"
      "SlurmdPort={3}\n"
      "SlurmUser=root\n"
      "SlurmdUser=root\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={4}/munge.socket\n"
      "CredType=cred/munge\n"
      "StateSaveLocation={4}/state\n"
      "SlurmdSpoolDir={4}/spool/%n\n"
      "SlurmctldPidFile={4}/slurmctld.pid\n"
      "SlurmdPidFile={4}/spool/%n.pid\n"
      "SlurmctldLogFile={4}/log/slurmctld.log\n"
      "SlurmdLogFile={4}/log/%n.log\n"
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "JobAcctGatherType=jobacct_gather/none\n"
      "AccountingStorageType=accounting_storage/none\n"
      "JobCompType=jobcomp/none\n"
      "MpiDefault=none\n"
      "MailProg=/bin/true\n"
      "ReturnToService=2\n"
      "KillWait=2\n"
      "MessageTimeout=60\n"
      "SlurmdTimeout=600\n"
      "TCPTimeout=10\n"
      "SlurmdParameters=config_overrides\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core\n"
      "SchedulerType=sched/backfill\n"
      "SchedulerParameters=bf_interval=1,bf_resolution=1,bf_continue,batch_sched_delay=0,sched_min_interval=0,"
      "sched_interval=2\n",
      lab.name, slurm_head, lab.first_port, lab.first_port + 1, folder);
  if (!options.plugins.empty()) text += fmt::format("PluginDir={}:{}\n", options.plugins, slurm_plugin_folder());
  // One line for each node: names need no common stem.
  for (std::size_t i = 0; i < lab.nodes.size(); ++i) {
    text += fmt::format(
        "NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs={} RealMemory=64000 State=UNKNOWN\n",
        lab.nodes[i].name, lab.first_port + 1 + i, lab.cpus);
  }
  text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE State=UP\n";
  for (const std::string& line : options.lines) text += line + "\n";
  return text;
}

std::string slurm_hosts_text(const SlurmLab& lab) {
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  std::string text = fmt::format("127.0.0.1 localhost {} {}\n", slurm_head, own.data());
  for (const SlurmHost& node : lab.nodes) text += fmt::format("127.0.0.1 {}\n", node.name);
  return text;
}

std::vector<std::pair<std::string, std::string>> slurm_lab_environment(const SlurmLab& lab) {
  return {
      {"SLURM_CONF", lab.conf()},
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl", "tcp,self,vader"},
      {"OMPI_MCA_btl_tcp_if_include", "lo"},
      {"OMPI_MCA_oob_tcp_if_include", "lo"},
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      {"UCX_NET_DEVICES", "lo"},
      {"UCX_TLS", "tcp,self,sm"},
      {"HYDRA_IFACE", "lo"},
  };
}

}  // namespace rankloom
