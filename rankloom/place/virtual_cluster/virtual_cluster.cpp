// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: a cluster on one machine: how it is started, found, entered and stopped.
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/core/software/software.hpp"
#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/place/virtual_cluster/mpi_environment.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* clusters_directory = "/run/rankloom-lab";
constexpr const char* holder_title = "rankloom-lab";
constexpr std::uint32_t max_hosts = 200;
constexpr std::uint32_t max_slots = 4096;

std::string directory_of(const std::string& name) {
  return fmt::format("{}/{}", clusters_directory, name);
}

std::string host_name(const VirtualClusterOptions& options, std::size_t host) {
  return fmt::format("{}{}", options.prefix.empty() ? options.name : options.prefix, host + 1);
}

std::string host_address(std::size_t host) {
  return fmt::format("10.213.{}.{}", host / 250, host % 250 + 1);
}

/// A replacement of ssh: it accepts a host and a command, and runs the command on that virtual host.
std::string remote_shell_script(const std::string& program, const std::string& name) {
  return fmt::format(
      "#!/bin/sh\n"
      "while [ \"${{1#-}}\" != \"$1\" ]; do\n"
      "  case $1 in -l | -p | -o | -i | -F) shift ;; esac\n"
      "  shift\n"
      "done\n"
      "host=$1\n"
      "shift\n"
      "exec {} lab exec --name {} --on \"$host\" -- /bin/sh -c \"$*\"\n",
      shell_quote(program), shell_quote(name));
}

Result<void> write_files(const VirtualCluster& cluster, const std::string& program) {
  std::string hosts = "127.0.0.1 localhost\n";
  std::string slots;
  std::string machines;
  for (std::size_t i = 0; i < cluster.options.hosts; ++i) {
    const std::string name = host_name(cluster.options, i);
    hosts += fmt::format("{} {}\n", host_address(i), name);
    slots += fmt::format("{} slots={}\n", name, cluster.options.slots);
    machines += fmt::format("{}:{}\n", name, cluster.options.slots);
  }
  if (auto done = write_file(cluster.directory + "/slots", slots); !done) return done;
  if (auto done = write_file(cluster.directory + "/machines", machines); !done) return done;
  if (auto done = write_file(cluster.directory + "/hosts", hosts); !done) return done;
  if (auto done = write_file(cluster.directory + "/nsswitch.conf",
                             "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n"
                             "protocols: files\nservices: files\n");
      !done)
    return done;
  const std::string remote_shell = cluster.directory + "/ssh";
  if (auto done = write_file(remote_shell, remote_shell_script(program, cluster.options.name)); !done) return done;
  if (::chmod(remote_shell.c_str(), 0755) != 0) return system_failure(remote_shell);
  return {};
}

Result<void> write_state(const VirtualCluster& cluster) {
  Json json{{"hosts", Json::array()},
            {"slots", cluster.options.slots},
            {"rate", cluster.options.rate},
            {"switches", cluster.options.switches},
            {"uplink", uplink_rate(cluster.options)}};
  const auto entry = [](const VirtualHost& host) {
    return Json{{"name", host.name}, {"holder", host.holder}, {"network", host.inode}};
  };
  for (const VirtualHost& host : cluster.hosts) json["hosts"].push_back(entry(host));
  json["bridge"] = entry(cluster.bridge);
  return write_file(cluster.directory + "/lab.json", dump_json(json) + "\n");
}

/// UCX finds network devices in /sys, which shows those of the namespace that mounted it. Other programs do not need
/// it, so an error is ignored. Slurm finds control groups below /sys: they stay.
void mount_own_sysfs() {
  const Descriptor control_groups(::open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (::mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0 || !control_groups.is_open())
    return;
  (void)::mount(fmt::format("/proc/self/fd/{}", control_groups.number()).c_str(), "/sys/fs/cgroup", nullptr,
                MS_BIND | MS_REC, nullptr);
}

/// Gives a host its own name, shared memory and host table. False: the kernel does not allow it.
bool setup_mounts(const std::string& name, const std::string& directory) {
  const auto bind_mount = [&](const char* file, const char* target) {
    return ::mount((directory + "/" + file).c_str(), target, nullptr, MS_BIND, nullptr) == 0;
  };
  if (::sethostname(name.c_str(), name.size()) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return false;
  mount_own_sysfs();
  return ::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0 &&
         bind_mount("hosts", "/etc/hosts") && bind_mount("nsswitch.conf", "/etc/nsswitch.conf");
}

constexpr int host_namespaces = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS;

Result<VirtualHost> start_host(const std::string& name, const std::string& directory, bool temporary) {
  auto holder = start_namespace_holder(
      name, holder_title, temporary, [&] { return ::unshare(host_namespaces) == 0 && setup_mounts(name, directory); });
  if (!holder) return propagate(holder);
  return VirtualHost{name, *holder, namespace_inode(*holder, "net")};
}

/// The bridge needs only a network namespace.
Result<VirtualHost> start_bridge(const std::string& name, bool temporary) {
  auto holder = start_namespace_holder(name, holder_title, temporary, [] { return ::unshare(CLONE_NEWNET) == 0; });
  if (!holder) return propagate(holder);
  return VirtualHost{name, *holder, namespace_inode(*holder, "net")};
}

void kill_all_hosts(const VirtualCluster& cluster) {
  std::vector<VirtualHost> all = cluster.hosts;
  all.push_back(cluster.bridge);
  kill_hosts(all, {"net", holder_title, fmt::format("RANKLOOM_LAB={}", cluster.options.name)});
}

/// Runs `ip` or `tc` with a list of commands in the network namespace of a host.
Result<void> configure_network(const char* program, const VirtualHost& host, const std::string& commands) {
  ProcessSpec spec;
  spec.argv = {find_system_program(program), "-batch", "-"};
  spec.before_exec = [&] { return join_namespace(host.holder, "net"); };
  spec.errors = Redirection::to_stdout();
  ProcessOptions run;
  run.input = commands;
  run.capture_output = true;
  const ProcessResult result = run_process(spec, run);
  if (result.succeeded()) return {};
  const std::string& output = result.started() ? result.output : result.message;
  return fail(Code::environment, at("lab"),
              fmt::format("{} failed on {}: {}", program, host.name, output.substr(0, output.find('\n'))),
              "the kernel needs the modules veth, bridge and sch_tbf; --rate none works without sch_tbf");
}

/// The tc command that limits the rate of a device. A token bucket must hold the bytes of one tick of the kernel's
/// clock.
std::string rate_limit_command(double rate, const std::string& rate_text, const std::string& device) {
  if (rate == 0) return {};
  const auto burst = static_cast<std::uint64_t>(std::max(65536.0, rate / 8 / 250));
  return fmt::format("qdisc add dev {} root tbf rate {} burst {} latency 50ms\n", device, rate_text, burst);
}

std::uint32_t switch_of_host(const VirtualClusterOptions& options, std::size_t host) {
  return static_cast<std::uint32_t>(host * options.switches / options.hosts);
}

/// Connects every host to its switch, and every switch to the root switch if there are several, by pairs of virtual
/// Ethernet devices. Both ends limit what they send.
Result<void> connect_hosts(const VirtualCluster& cluster) {
  const std::string& rate_text = cluster.options.rate;
  const std::string& uplink_text = uplink_rate(cluster.options);
  auto rate = parse_rate(rate_text);
  if (!rate) return propagate(rate);
  auto uplink = parse_rate(uplink_text);
  if (!uplink) return propagate(uplink);
  std::string links = "link set lo up\n";
  std::string limits;
  const auto add_switch = [&](const std::string& name) {
    links += fmt::format("link add {0} type bridge\nlink set {0} up\n", name);
  };
  const auto connect = [&](const std::string& port, const std::string& to) {
    links += fmt::format("link set {0} master {1}\nlink set {0} up\n", port, to);
  };
  for (std::uint32_t i = 0; i < cluster.options.switches; ++i) add_switch(fmt::format("switch{}", i));
  if (cluster.options.switches > 1) {
    add_switch("root");
    for (std::uint32_t i = 0; i < cluster.options.switches; ++i) {
      links += fmt::format("link add uplink{0} type veth peer name downlink{0}\n", i);
      connect(fmt::format("uplink{}", i), fmt::format("switch{}", i));
      connect(fmt::format("downlink{}", i), "root");
      for (const char* const end : {"uplink", "downlink"})
        limits += rate_limit_command(*uplink, uplink_text, fmt::format("{}{}", end, i));
    }
  }
  for (std::size_t i = 0; i < cluster.hosts.size(); ++i) {
    links += fmt::format("link add port{} type veth peer name eth0 netns {}\n", i, cluster.hosts[i].holder);
    connect(fmt::format("port{}", i), fmt::format("switch{}", switch_of_host(cluster.options, i)));
    limits += rate_limit_command(*rate, rate_text, fmt::format("port{}", i));
  }
  if (auto done = configure_network("ip", cluster.bridge, links); !done) return done;
  if (!limits.empty()) {
    if (auto done = configure_network("tc", cluster.bridge, limits); !done) return done;
  }
  for (std::size_t i = 0; i < cluster.hosts.size(); ++i) {
    const std::string address =
        fmt::format("addr add {}/16 dev eth0\nlink set lo up\nlink set eth0 up\n", host_address(i));
    if (auto done = configure_network("ip", cluster.hosts[i], address); !done) return done;
    const std::string limit = rate_limit_command(*rate, rate_text, "eth0");
    if (limit.empty()) continue;
    if (auto done = configure_network("tc", cluster.hosts[i], limit); !done) return done;
  }
  return {};
}

}  // namespace

Result<double> parse_rate(const std::string& rate, std::string_view option) {
  if (rate == "none") return 0.0;
  double number = 0;
  const auto [end, error] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(rate.data() + rate.size() - end));
  const double factor = unit == "kbit" ? 1e3 : unit == "mbit" ? 1e6 : unit == "gbit" ? 1e9 : 0;
  if (error == std::errc() && number > 0 && factor > 0 && number * factor >= 1e4 && number * factor <= 1e12)
    return number * factor;
  return fail(Code::usage, at(std::string(option)), fmt::format("'{}' is not a rate", rate),
              "give a number with kbit, mbit or gbit, such as 400mbit, or none");
}

const std::string& uplink_rate(const VirtualClusterOptions& options) {
  return options.uplink.empty() ? options.rate : options.uplink;
}

Result<void> check_virtual_cluster_support(std::string_view os_release) {
  if (::geteuid() != 0) {
    return fail(Code::environment, at("lab"), "creating network namespaces needs root",
                "run it with sudo, or on a machine where you are root");
  }
  for (const char* const program : {"ip", "tc"}) {
    if (find_system_program(program).empty()) {
      return fail(Code::environment, at("lab"), fmt::format("the program {} is not installed", program),
                  install_hint(os_release, Software::iproute2));
    }
  }
  if (ChildProcess::fork([] { return ::unshare(host_namespaces) == 0 ? 0 : 1; }).wait() != 0) {
    return fail(Code::environment, at("lab"), "this system does not allow namespaces",
                "start a container with --privileged");
  }
  return {};
}

Result<VirtualCluster> start_virtual_cluster(const VirtualClusterOptions& options, const std::string& program,
                                             bool temporary) {
  if (auto valid = check_cluster_name(options.name); !valid) return propagate(valid);
  if (auto valid = parse_rate(options.rate); !valid) return propagate(valid);
  if (options.hosts < 1 || options.hosts > max_hosts || options.slots < 1 || options.slots > max_slots) {
    return fail(Code::usage, at("--hosts"),
                fmt::format("cannot start {} hosts with {} slots each", options.hosts, options.slots),
                fmt::format("use 1 to {} hosts with 1 to {} slots each", max_hosts, max_slots));
  }
  if (auto valid = parse_rate(uplink_rate(options), "--uplink"); !valid) return propagate(valid);
  if (options.switches < 1 || options.switches > options.hosts) {
    return fail(Code::usage, at("--switches"),
                fmt::format("cannot distribute {} hosts over {} switches", options.hosts, options.switches),
                fmt::format("use 1 to {} switches: every switch needs a host", options.hosts));
  }
  if (auto supported = check_virtual_cluster_support(options.os_release); !supported) return propagate(supported);
  const std::string directory = directory_of(options.name);
  std::error_code error;
  fs::create_directories(clusters_directory, error);
  if (!fs::create_directory(directory, error)) {
    return fail(Code::environment, at(directory), "a virtual cluster of this name exists already",
                fmt::format("remove it: rankloom lab down --name {}", options.name));
  }
  VirtualCluster cluster{options, {}, {}, directory};
  const auto start = [&]() -> Result<void> {
    if (auto done = write_files(cluster, program); !done) return done;
    auto bridge = start_bridge(options.name + "-bridge", temporary);
    if (!bridge) return propagate(bridge);
    cluster.bridge = *bridge;
    for (std::uint32_t i = 0; i < options.hosts; ++i) {
      auto host = start_host(host_name(options, i), directory, temporary);
      if (!host) return propagate(host);
      cluster.hosts.push_back(*host);
    }
    if (auto done = write_state(cluster); !done) return done;
    return connect_hosts(cluster);
  };
  if (auto started = start(); !started) {
    kill_all_hosts(cluster);
    fs::remove_all(directory, error);
    return propagate(started);
  }
  return cluster;
}

Result<VirtualCluster> find_virtual_cluster(const std::string& name) {
  if (auto valid = check_cluster_name(name); !valid) return propagate(valid);
  const std::string directory = directory_of(name);
  if (!fs::exists(directory + "/lab.json")) {
    return fail(Code::environment, at(directory), "there is no virtual cluster of this name",
                fmt::format("start it: rankloom lab up --name {}", name));
  }
  auto file = read_file(directory + "/lab.json");
  if (!file) return propagate(file);
  const Json json = parse_json(std::string_view(file->view()));
  if (json.is_discarded() || !json.is_object() || json.value("hosts", Json::array()).empty()) {
    return fail(Code::environment, at(directory + "/lab.json"), "the description of this virtual cluster is damaged",
                fmt::format("restart it: rankloom lab down --name {0} && rankloom lab up --name {0}", name));
  }
  VirtualCluster cluster;
  cluster.options.name = name;
  cluster.directory = directory;
  cluster.options.slots = json.value("slots", 1U);
  cluster.options.rate = json.value("rate", std::string("none"));
  cluster.options.switches = json.value("switches", 1U);
  cluster.options.uplink = json.value("uplink", std::string());
  const auto read_host = [](const Json& entry) {
    return VirtualHost{entry.value("name", std::string()), entry.value("holder", 0),
                       entry.value("network", std::uint64_t{0})};
  };
  for (const Json& host : json.value("hosts", Json::array())) cluster.hosts.push_back(read_host(host));
  cluster.bridge = read_host(json.value("bridge", Json::object()));
  cluster.options.hosts = static_cast<std::uint32_t>(cluster.hosts.size());
  return cluster;
}

std::vector<std::string> virtual_cluster_names() {
  return directory_entries(clusters_directory);
}

Result<void> stop_virtual_cluster(const std::string& name) {
  if (auto valid = check_cluster_name(name); !valid) return valid;
  const std::string directory = directory_of(name);
  std::error_code error;
  if (!fs::exists(directory, error)) {
    return fail(Code::environment, at(directory), "there is no virtual cluster of this name",
                "show the running virtual clusters: rankloom lab list");
  }
  if (auto cluster = find_virtual_cluster(name)) kill_all_hosts(*cluster);
  fs::remove_all(directory, error);
  if (error) return system_failure(directory);
  return {};
}

Result<void> enter_virtual_host(const VirtualCluster& cluster, const std::string& host) {
  const auto entry = std::find_if(cluster.hosts.begin(), cluster.hosts.end(),
                                  [&](const VirtualHost& candidate) { return candidate.name == host; });
  if (entry == cluster.hosts.end()) {
    return fail(Code::usage, at("--on"), fmt::format("{} is not a host of this virtual cluster", host),
                fmt::format("its hosts are {} to {}", cluster.hosts.front().name, cluster.hosts.back().name));
  }
  constexpr auto kinds = std::to_array<const char*>({"net", "uts", "ipc", "mnt"});
  auto entered =
      enter_host(*entry, "net", kinds,
                 fmt::format("restart the virtual cluster: rankloom lab down --name {0} && rankloom lab up --name {0}",
                             cluster.options.name));
  if (!entered) return entered;
  const LaunchFiles files{cluster.directory + "/ssh", cluster.directory + "/slots", cluster.directory + "/machines"};
  // A process that a launcher started on another host has these variables already.
  const char* const remote_shell = std::getenv("HYDRA_LAUNCHER_EXEC");
  if (remote_shell == nullptr || remote_shell != files.remote_shell) {
    const std::uint32_t open_mpi = installed_open_mpi();
    for (const Environment& variables : {mpi_environment("eth0", open_mpi), remote_launch_environment(files, open_mpi)})
      for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 0);
  }
  ::setenv("RANKLOOM_LAB", cluster.options.name.c_str(), 1);
  return {};
}

MachineSpec virtual_cluster_machine(const VirtualCluster& cluster) {
  std::vector<std::uint32_t> cpus = CpuSet::allowed().value_or(CpuSet()).members();
  if (cpus.empty()) cpus.push_back(0);
  constexpr double shared_memory_inverse_bandwidth = 0.5;  // nanoseconds per byte on a small machine
  // Of a link, or of the one below if that is slower.
  const auto inverse_bandwidth = [](const std::string& rate_text, double below) {
    const double rate = parse_rate(rate_text).value_or(0);
    return rate > 0 ? std::max(8e9 / rate, below) : below;
  };
  const double of_link = parse_rate(cluster.options.rate).value_or(0) > 0
                             ? inverse_bandwidth(cluster.options.rate, shared_memory_inverse_bandwidth)
                             : 2 * shared_memory_inverse_bandwidth;
  const Cost link{of_link, 0}, uplink{inverse_bandwidth(uplink_rate(cluster.options), of_link), 0};
  MachineSpec machine;
  machine.text = "lab " + cluster.options.name;
  machine.root.kind = "machine";
  machine.root.between = cluster.options.switches > 1 ? uplink : link;
  if (cluster.options.switches > 1) {
    ObjectSpec added;
    added.kind = "switch";
    added.between = link;
    machine.root.children.assign(cluster.options.switches, added);
  }
  for (std::size_t i = 0; i < cluster.hosts.size(); ++i) {
    ObjectSpec node;
    node.kind = "node";
    node.name = cluster.hosts[i].name;
    node.between = Cost{shared_memory_inverse_bandwidth, 0};
    for (std::uint32_t slot = 0; slot < cluster.options.slots; ++slot) {
      ObjectSpec core;
      core.kind = "core";
      core.os_index = cpus[slot % cpus.size()];
      node.children.push_back(std::move(core));
    }
    ObjectSpec& parent =
        cluster.options.switches > 1 ? machine.root.children[switch_of_host(cluster.options, i)] : machine.root;
    parent.children.push_back(std::move(node));
  }
  return machine;
}

}  // namespace rankloom
