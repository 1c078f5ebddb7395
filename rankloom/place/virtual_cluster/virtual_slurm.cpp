// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: a complete Slurm on one machine: how it is started, found, entered and stopped.
#include "rankloom/place/virtual_cluster/virtual_slurm.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rankloom/core/software/software.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/place/virtual_cluster/namespaces.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm_hosts.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* clusters_directory = "/run/rankloom-slurm";
constexpr std::uint32_t max_nodes = 4096;
constexpr std::uint32_t max_cpus = 4096;
constexpr std::uint32_t first_candidate_port = 20000;
/// The kernel assigns ports from here on to outgoing connections.
constexpr std::uint32_t first_ephemeral_port = 32768;

std::string directory_of(const std::string& name) {
  return fmt::format("{}/{}", clusters_directory, name);
}

std::string file_contents(const std::string& path) {
  auto file = read_file(path);
  return file ? std::string(file->view()) : std::string();
}

/// The last lines of a log, for error messages.
std::string last_lines(const std::string& path, std::size_t lines) {
  const std::string text = file_contents(path);
  std::size_t begin = text.size();
  for (std::size_t found = 0; begin > 0 && found <= lines; --begin) found += text[begin - 1] == '\n' ? 1 : 0;
  return text.substr(begin);
}

bool port_is_free(std::uint32_t port) {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free = ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(file);
  return free;
}

/// Finds nodes + 1 consecutive free ports. Ports of another virtual Slurm that is just starting are in its file.
Result<std::uint32_t> find_ports(const VirtualSlurmOptions& options) {
  const auto needed = static_cast<std::uint32_t>(options.nodes.size()) + 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reserved_ranges;  // first port, number of ports
  for (const std::string& name : virtual_slurm_names()) {
    const Json json = parse_json(std::string_view(file_contents(directory_of(name) + "/lab.json")));
    if (!json.is_object() || name == options.name) continue;
    reserved_ranges.emplace_back(json.value("first_port", 0U), json.value("nodes", Json::array()).size() + 1);
  }
  const auto first_used_port = [&](std::uint32_t first) -> std::uint32_t {
    for (std::uint32_t port = first; port < first + needed; ++port) {
      const bool reserved = std::any_of(reserved_ranges.begin(), reserved_ranges.end(), [&](const auto& range) {
        return port >= range.first && port < range.first + range.second;
      });
      if (reserved || !port_is_free(port)) return port;
    }
    return 0;
  };
  if (options.first_port != 0) {
    const std::uint32_t port = first_used_port(options.first_port);
    if (port == 0) return options.first_port;
    return fail(Code::environment, at("--port"), fmt::format("port {} is taken", port),
                fmt::format("choose a port that is followed by {} free ports, or leave --port out", needed - 1));
  }
  for (std::uint32_t first = first_candidate_port; first + needed < first_ephemeral_port;) {
    const std::uint32_t port = first_used_port(first);
    if (port == 0) return first;
    first = port + 1;
  }
  return fail(Code::environment, at("slurm lab"), fmt::format("there are no {} consecutive free ports", needed),
              "stop other virtual clusters: rankloom slurm lab status shows them");
}

Result<void> check_options(const VirtualSlurmOptions& options) {
  if (auto valid = check_cluster_name(options.name); !valid) return valid;
  const auto usage_error = [](std::string what, std::string hint) {
    return fail(Code::usage, at("slurm lab"), std::move(what), std::move(hint));
  };
  if (options.nodes.empty() || options.nodes.size() > max_nodes || options.cpus < 1 || options.cpus > max_cpus) {
    return usage_error(fmt::format("cannot start {} nodes with {} processors each", options.nodes.size(), options.cpus),
                       fmt::format("use 1 to {} nodes with 1 to {} processors each", max_nodes, max_cpus));
  }
  if (options.first_port != 0 && (options.first_port < 1024 || options.first_port + options.nodes.size() > 65535))
    return usage_error(fmt::format("port {} cannot be used", options.first_port),
                       "choose a port from 1024 to 65535 minus the number of nodes");
  std::set<std::string> names{slurm_head};
  for (const std::string& name : options.nodes) {
    const bool valid = !name.empty() && name.size() < 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (!valid) return usage_error(fmt::format("'{}' is not a valid node name", name), "use letters, digits, - and _");
    if (!names.insert(name).second)
      return usage_error(fmt::format("two hosts have the name {}", name), "give every node a different name");
  }
  return {};
}

/// Slurm accepts only device files as GPUs. Their major number is one for local use, and nothing opens them.
Result<void> make_gpu_files(const std::string& directory, const VirtualSlurmOptions& options) {
  constexpr unsigned int major_number = 240;
  const std::uint32_t count = options.gpus.empty() ? 0 : *std::max_element(options.gpus.begin(), options.gpus.end());
  for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
    const std::string path = fmt::format("{}/gpu{}", directory, gpu);
    if (::mknod(path.c_str(), S_IFCHR, makedev(major_number, gpu)) == 0) continue;
    return fail(Code::environment, at(path), fmt::format("a device file cannot be created: {}", std::strerror(errno)),
                "describe the machine without GPUs, or give this container the capability CAP_MKNOD");
  }
  return {};
}

std::uint32_t installed_release() {
  ProcessSpec spec;
  spec.argv = {find_system_program("slurmctld"), "-V"};
  ProcessOptions run;
  run.capture_output = true;
  return slurm_release(run_process(spec, run).output);
}

Result<void> write_files(const VirtualSlurm& slurm, const VirtualSlurmOptions& options) {
  std::error_code error;
  for (const char* const name : {"state", "spool", "log", "munge"})
    fs::create_directories(slurm.directory + "/" + name, error);
  ::chmod(slurm.directory.c_str(), 0755);
  ::chmod((slurm.directory + "/munge").c_str(), 0700);
  std::string key(1024, '\0');
  std::random_device random;
  for (char& byte : key) byte = static_cast<char>(random());
  std::string variables;
  for (const auto& [name, value] : virtual_slurm_environment(slurm))
    variables += fmt::format("export {}={}\n", name, shell_quote(value));
  Json json{{"first_port", slurm.first_port}, {"cpus", slurm.cpus}, {"nodes", Json::array()}};
  for (const VirtualHost& node : slurm.nodes) json["nodes"].push_back(node.name);
  std::map<std::string, std::string> files = options.files;
  files["lab.json"] = dump_json(json) + "\n";
  files["slurm.conf"] = slurm_conf_text(slurm, options);
  // From 24.05 on, slurmd uses cgroups for steps even if no plugin asks for them. Earlier releases look for their
  // version at the start and end when there is none, as in many containers.
  if (installed_release() >= 2405)
    files.emplace("cgroup.conf", "CgroupPlugin=disabled\n");
  else if (!fs::exists("/sys/fs/cgroup", error) || fs::is_empty("/sys/fs/cgroup", error))
    files.emplace("cgroup.conf", "CgroupPlugin=cgroup/v1\n");
  if (!options.gpus.empty()) files["gres.conf"] = slurm_gres_text(slurm, options);
  files["hosts"] = slurm_hosts_text(slurm);
  files["nsswitch.conf"] = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n";
  files["env"] = variables;
  files["munge/key"] = key;
  for (const auto& [name, content] : files) {
    if (auto done = write_file(slurm.directory + "/" + name, content); !done) return done;
  }
  ::chmod((slurm.directory + "/munge/key").c_str(), 0400);
  return make_gpu_files(slurm.directory, options);
}

/// Standard output and standard error of a command on the head, or nothing when the command fails.
std::optional<std::string> output_on_head(const VirtualSlurm& slurm, std::vector<std::string> argv) {
  ProcessSpec spec = command_on_host(slurm, slurm.head, std::move(argv));
  spec.errors = Redirection::to_stdout();
  ProcessOptions run;
  run.capture_output = true;
  ProcessResult result = run_process(spec, run);
  if (!result.succeeded()) return std::nullopt;
  return std::move(result.output);
}

/// Starts a daemon whose standard output goes to NAME.start in the directory of logs, and its messages to NAME.log.
Result<void> start_slurm_daemon(const VirtualSlurm& slurm, const VirtualHost& host,
                                const std::vector<std::string>& arguments, const std::string& name) {
  const std::string log = slurm.directory + "/log/" + name + ".start";
  ProcessSpec spec = command_on_host(slurm, host, arguments);
  // A daemon would keep the writing end of a pipe open, so its output goes to a file.
  spec.output = Redirection::to_file(log);
  spec.errors = Redirection::to_stdout();
  const ProcessResult result = run_process(spec);
  if (result.succeeded()) return {};
  if (!result.started()) return fail(Code::environment, at(host.name), result.message, "is Slurm installed?");
  std::string reason = last_lines(log, 3);
  if (reason.empty()) reason = last_lines(slurm.directory + "/log/" + name + ".log", 3);
  return fail(Code::environment, at(log),
              fmt::format("{} on {} ended with status {}", arguments[0], host.name, result.status), reason);
}

Result<void> start_munged(const VirtualSlurm& slurm) {
  const std::string directory = slurm.directory + "/munge";
  return start_slurm_daemon(
      slurm, slurm.head,
      {find_system_program("munged"), "--force", "--key-file=" + directory + "/key",
       "--socket=" + slurm.directory + "/munge.socket", "--pid-file=" + directory + "/pid",
       "--log-file=" + directory + "/log", "--seed-file=" + directory + "/seed", "--num-threads=4"},
      "munged");
}

Result<void> start_nodes(const VirtualSlurm& slurm, Progress& progress) {
  const std::string slurmd = find_system_program("slurmd");
  for (std::size_t i = 0; i < slurm.nodes.size(); ++i) {
    const VirtualHost& node = slurm.nodes[i];
    progress.report("starting nodes", 0.7 * static_cast<double>(i) / static_cast<double>(slurm.nodes.size()));
    const std::vector<std::string> arguments{slurmd, "-f", slurm.conf(), "-N", node.name};
    if (auto done = start_slurm_daemon(slurm, node, arguments, node.name); !done) return done;
  }
  return {};
}

Result<void> wait_until_idle(const VirtualSlurm& slurm, Progress& progress) {
  const auto deadline = Clock::now() + std::chrono::seconds(30) + std::chrono::milliseconds(200) * slurm.nodes.size();
  std::uint32_t idle = 0;
  while (Clock::now() < deadline) {
    const auto states = node_states(slurm);
    const auto entry = states.find("idle");
    idle = entry == states.end() ? 0 : entry->second;
    if (idle == slurm.nodes.size()) return {};
    progress.report("waiting for nodes", 0.7 + 0.3 * idle / static_cast<double>(slurm.nodes.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(Code::environment, at(slurm.directory + "/log"),
              fmt::format("only {} of {} nodes became idle in time", idle, slurm.nodes.size()),
              "the last lines of the log of slurmctld:\n" + last_lines(slurm.directory + "/log/slurmctld.log", 5));
}

/// Kills the head first, so that slurmctld does not mark one node after another as down.
void kill_all_hosts(const VirtualSlurm& slurm) {
  std::vector<VirtualHost> all = slurm.nodes;
  all.push_back(slurm.head);
  std::reverse(all.begin(), all.end());
  kill_hosts(all, slurm_host_identity(slurm));
}

/// The hosts in the file `namespace_holders`, which exists even after an interrupted start.
std::vector<VirtualHost> recorded_hosts(const std::string& directory) {
  std::vector<VirtualHost> hosts;
  std::istringstream lines(file_contents(directory + "/namespace_holders"));
  for (VirtualHost host; lines >> host.name >> host.holder >> host.inode;) hosts.push_back(host);
  return hosts;
}

}  // namespace

Result<void> check_virtual_slurm_support(std::string_view os_release) {
  if (::geteuid() != 0) {
    return fail(Code::environment, at("slurm lab"), "creating the namespaces of the nodes needs root",
                "run it with sudo, or on a machine where you are root");
  }
  constexpr auto programs = std::to_array<std::pair<const char*, Software>>({{"munged", Software::munge},
                                                                             {"slurmctld", Software::slurmctld},
                                                                             {"slurmd", Software::slurmd},
                                                                             {"sinfo", Software::slurm_client}});
  for (const auto& [program, software] : programs) {
    if (find_system_program(program).empty()) {
      return fail(Code::environment, at("slurm lab"), fmt::format("the program {} is not installed", program),
                  install_hint(os_release, software));
    }
  }
  if (slurm_plugin_directory().empty()) {
    return fail(Code::environment, at("slurm lab"), "the plugin select_cons_tres.so is missing in /usr/lib/*/slurm-wlm",
                install_hint(os_release, Software::slurm_plugins));
  }
  return {};
}

Result<VirtualSlurm> start_virtual_slurm(const VirtualSlurmOptions& options, Progress& progress) {
  if (auto valid = check_options(options); !valid) return propagate(valid);
  if (auto supported = check_virtual_slurm_support(options.os_release); !supported) return propagate(supported);
  std::error_code error;
  fs::create_directories(clusters_directory, error);
  VirtualSlurm slurm{options.name, directory_of(options.name), 0, options.cpus, {slurm_head}, {}};
  if (!fs::create_directory(slurm.directory, error)) {
    return fail(Code::environment, at(slurm.directory), "a virtual Slurm of this name exists already",
                fmt::format("remove it: rankloom slurm lab down --name {}", options.name));
  }
  for (const std::string& name : options.nodes) slurm.nodes.push_back({name});
  const auto start = [&]() -> Result<void> {
    auto port = find_ports(options);
    if (!port) return propagate(port);
    slurm.first_port = *port;
    if (auto done = write_files(slurm, options); !done) return done;
    auto head = start_slurm_host(slurm, slurm_head, false, {});
    if (!head) return propagate(head);
    slurm.head = *head;
    if (auto done = start_munged(slurm); !done) return done;
    if (auto done = start_slurmctld(slurm); !done) return done;
    for (VirtualHost& node : slurm.nodes) {
      auto host = start_slurm_host(slurm, node.name, true, options.shared_directories);
      if (!host) return propagate(host);
      node = *host;
    }
    if (auto done = start_nodes(slurm, progress); !done) return done;
    return wait_until_idle(slurm, progress);
  };
  if (auto started = start(); !started) {
    kill_all_hosts(slurm);
    fs::remove_all(slurm.directory, error);
    return propagate(started);
  }
  return slurm;
}

Result<void> start_slurmctld(const VirtualSlurm& slurm) {
  if (auto done =
          start_slurm_daemon(slurm, slurm.head, {find_system_program("slurmctld"), "-f", slurm.conf()}, "slurmctld");
      !done)
    return done;
  constexpr int max_attempts = 300;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto output = output_on_head(slurm, {find_system_program("scontrol"), "ping"});
    if (output && output->find("is UP") != std::string::npos) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return fail(Code::environment, at(slurm.directory + "/log/slurmctld.log"), "slurmctld does not respond",
              "the last lines of its log:\n" + last_lines(slurm.directory + "/log/slurmctld.log", 5));
}

Result<VirtualSlurm> find_virtual_slurm(const std::string& name) {
  if (auto valid = check_cluster_name(name); !valid) return propagate(valid);
  const std::string directory = directory_of(name);
  if (!fs::exists(directory + "/lab.json")) {
    return fail(Code::environment, at(directory), "there is no virtual Slurm of this name",
                fmt::format("start it: rankloom slurm lab up --name {}", name));
  }
  const Json json = parse_json(std::string_view(file_contents(directory + "/lab.json")));
  const auto hosts = recorded_hosts(directory);
  if (!json.is_object() || hosts.size() != json.value("nodes", Json::array()).size() + 1) {
    return fail(
        Code::environment, at(directory), "this virtual Slurm is damaged, or its start was interrupted",
        fmt::format("restart it: rankloom slurm lab down --name {0} && rankloom slurm lab up --name {0}", name));
  }
  VirtualSlurm slurm{name, directory, json.value("first_port", 0U), json.value("cpus", 1U), hosts.front(), {}};
  slurm.nodes.assign(hosts.begin() + 1, hosts.end());
  return slurm;
}

std::vector<std::string> virtual_slurm_names() {
  return directory_entries(clusters_directory);
}

std::map<std::string, std::uint32_t> node_states(const VirtualSlurm& slurm) {
  std::map<std::string, std::uint32_t> states;
  const auto output = output_on_head(slurm, {find_system_program("sinfo"), "-h", "-p", "all", "-o", "%T %D"});
  if (!output) return states;
  std::istringstream lines(*output);
  std::string state;
  for (std::uint32_t count = 0; lines >> state >> count;) states[state] += count;
  return states;
}

Result<void> stop_virtual_slurm(const std::string& name) {
  if (auto valid = check_cluster_name(name); !valid) return valid;
  std::error_code error;
  VirtualSlurm slurm{name, directory_of(name), 0, 0, {}, {}};
  if (!fs::exists(slurm.directory, error)) {
    return fail(Code::environment, at(slurm.directory), "there is no virtual Slurm of this name",
                "show the running ones: rankloom slurm lab status");
  }
  if (::geteuid() != 0)
    return fail(Code::environment, at(slurm.directory), "only root can stop a virtual Slurm", "use sudo");
  slurm.nodes = recorded_hosts(slurm.directory);
  kill_all_hosts(slurm);
  fs::remove_all(slurm.directory, error);
  if (error) return system_failure(slurm.directory);
  return {};
}

Result<void> enter_virtual_slurm_host(const VirtualSlurm& slurm, const std::string& host) {
  std::vector<VirtualHost> all{slurm.head};
  all.insert(all.end(), slurm.nodes.begin(), slurm.nodes.end());
  const auto entry =
      std::find_if(all.begin(), all.end(), [&](const VirtualHost& candidate) { return candidate.name == host; });
  if (entry == all.end()) {
    return fail(
        Code::usage, at("--on"), fmt::format("{} is not a host of this virtual Slurm", host),
        fmt::format("its hosts are {}, {} to {}", slurm.head.name, slurm.nodes.front().name, slurm.nodes.back().name));
  }
  constexpr auto kinds = std::to_array<const char*>({"uts", "ipc", "mnt"});
  auto entered = enter_host(
      *entry, "mnt", kinds,
      fmt::format("restart it: rankloom slurm lab down --name {0} && rankloom slurm lab up --name {0}", slurm.name));
  if (!entered) return entered;
  for (const auto& [name, value] : virtual_slurm_environment(slurm)) ::setenv(name.c_str(), value.c_str(), 0);
  ::setenv("SLURM_CONF", slurm.conf().c_str(), 1);
  ::setenv("RANKLOOM_SLURM", slurm.name.c_str(), 1);
  return {};
}

}  // namespace rankloom
