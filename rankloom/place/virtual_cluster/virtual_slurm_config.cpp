// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: the configuration files and environment of a virtual Slurm.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <unistd.h>

#include "rankloom/place/virtual_cluster/mpi_environment.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm_hosts.hpp"

namespace rankloom {

std::string slurm_plugin_directory() {
  glob_t matches{};
  std::string directory;
  if (::glob("/usr/lib/*/slurm-wlm/select_cons_tres.so", 0, nullptr, &matches) == 0 && matches.gl_pathc > 0)
    directory = std::filesystem::path(matches.gl_pathv[0]).parent_path().string();
  ::globfree(&matches);
  return directory;
}

std::uint32_t slurm_release(std::string_view version) {
  version.remove_prefix(std::min(version.find_first_of("0123456789"), version.size()));
  const char* const end = version.data() + version.size();
  std::uint32_t year = 0, month = 0;
  const auto [point, error] = std::from_chars(version.data(), end, year);
  if (error != std::errc() || point == end || *point != '.' || year > 99) return 0;
  if (std::from_chars(point + 1, end, month).ec != std::errc() || month > 12) return 0;
  return 100 * year + month;
}

std::string slurm_conf_text(const VirtualSlurm& slurm, const VirtualSlurmOptions& options) {
  std::string text = fmt::format(
      "# Written by `rankloom slurm lab up`; `rankloom slurm lab down --name {0}` removes it.\n"
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
      slurm.name, slurm_head, slurm.first_port, slurm.first_port + 1, slurm.directory);
  if (!options.plugin_directory.empty())
    text += fmt::format("PluginDir={}:{}\n", options.plugin_directory, slurm_plugin_directory());
  if (!options.gpus.empty()) text += "GresTypes=gpu\n";
  // One line per node, because the names need not have a common prefix.
  for (std::size_t i = 0; i < slurm.nodes.size(); ++i) {
    const bool has_gpus = i < options.gpus.size() && options.gpus[i] > 0;
    text += fmt::format(
        "NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs={} RealMemory=64000 State=UNKNOWN{}\n",
        slurm.nodes[i].name, slurm.first_port + 1 + i, slurm.cpus,
        has_gpus ? fmt::format(" Gres=gpu:{}", options.gpus[i]) : "");
  }
  text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE State=UP\n";
  for (const std::string& line : options.config_lines) text += line + "\n";
  return text;
}

std::string slurm_gres_text(const VirtualSlurm& slurm, const VirtualSlurmOptions& options) {
  std::string text;
  for (std::size_t i = 0; i < options.gpus.size(); ++i) {
    if (options.gpus[i] == 0) continue;
    text += fmt::format("NodeName={} Name=gpu File={}/gpu[0-{}]\n", slurm.nodes[i].name, slurm.directory,
                        options.gpus[i] - 1);
  }
  return text;
}

std::string slurm_hosts_text(const VirtualSlurm& slurm) {
  std::array<char, 256> machine_name{};
  ::gethostname(machine_name.data(), machine_name.size() - 1);
  std::string text = fmt::format("127.0.0.1 localhost {} {}\n", slurm_head, machine_name.data());
  for (const VirtualHost& node : slurm.nodes) text += fmt::format("127.0.0.1 {}\n", node.name);
  return text;
}

Environment virtual_slurm_environment(const VirtualSlurm& slurm) {
  Environment variables = mpi_environment("lo", installed_open_mpi());
  variables.emplace_back("SLURM_CONF", slurm.conf());
  return variables;
}

}  // namespace rankloom
