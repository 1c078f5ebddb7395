// SPDX-License-Identifier: Apache-2.0
// place: a cluster on one machine: what there is of it, and how it is made, entered and removed.
#include "rankloom/place/lab/lab.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/core/file.hpp"
#include "rankloom/core/shell_word.hpp"
#include "rankloom/place/lab/parts.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* folder_of_labs = "/run/rankloom-lab";
constexpr std::uint32_t most_hosts = 200;

std::string host_name(const LabOptions& options, std::size_t host) {
  return fmt::format("{}{}", options.prefix.empty() ? options.name : options.prefix, host + 1);
}

/// Takes a host and a command, as ssh does, and runs it there.
std::string stand_in_of_ssh(const std::string& program, const std::string& name) {
  return fmt::format(
      "#!/bin/sh\n"
      "while [ \"${{1#-}}\" != \"$1\" ]; do\n"
      "  case $1 in -l | -p | -o | -i | -F) shift ;; esac\n"
      "  shift\n"
      "done\n"
      "host=$1\n"
      "shift\n"
      "exec {} lab exec --name {} --on \"$host\" -- /bin/sh -c \"$*\"\n",
      shell_word(program), shell_word(name));
}

Result<void> write_files(const Lab& lab, const std::string& program) {
  std::string hosts = "127.0.0.1 localhost\n";
  for (std::size_t i = 0; i < lab.options.hosts; ++i)
    hosts += fmt::format("{} {}\n", lab_address(i), host_name(lab.options, i));
  std::string slots;
  std::string machines;
  for (std::size_t i = 0; i < lab.options.hosts; ++i) {
    slots += fmt::format("{} slots={}\n", host_name(lab.options, i), lab.options.slots);
    machines += fmt::format("{}:{}\n", host_name(lab.options, i), lab.options.slots);
  }
  if (auto done = write_file(lab.folder + "/slots", slots); !done) return done;
  if (auto done = write_file(lab.folder + "/machines", machines); !done) return done;
  if (auto done = write_file(lab.folder + "/hosts", hosts); !done) return done;
  if (auto done = write_file(lab.folder + "/nsswitch.conf",
                             "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n"
                             "protocols: files\nservices: files\n");
      !done)
    return done;
  const std::string agent = lab.folder + "/ssh";
  if (auto done = write_file(agent, stand_in_of_ssh(program, lab.options.name)); !done) return done;
  if (::chmod(agent.c_str(), 0755) != 0) return lab_failure(agent);
  return {};
}

Result<void> write_state(const Lab& lab) {
  Json json{{"hosts", Json::array()}, {"slots", lab.options.slots}, {"rate", lab.options.rate}};
  const auto entry = [](const LabHost& host) {
    return Json{{"name", host.name}, {"keeper", host.keeper}, {"network", host.network}};
  };
  for (const LabHost& host : lab.hosts) json["hosts"].push_back(entry(host));
  json["bridge"] = entry(lab.bridge);
  return write_file(lab.folder + "/lab.json", json.dump() + "\n");
}

std::string folder_of(const std::string& name) {
  return fmt::format("{}/{}", folder_of_labs, name);
}

}  // namespace

Result<void> check_lab_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  }) && name[0] != '-';
  if (good) return {};
  return fail(Code::usage, at("--name"), fmt::format("'{}' cannot be the name of a lab", name),
              "use small letters, digits and -");
}

Result<double> parse_rate(const std::string& rate) {
  if (rate == "none") return 0.0;
  double number = 0;
  const auto [end, error] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(rate.data() + rate.size() - end));
  const double factor = unit == "kbit" ? 1e3 : unit == "mbit" ? 1e6 : unit == "gbit" ? 1e9 : 0;
  if (error == std::errc() && number > 0 && factor > 0 && number * factor >= 1e4 && number * factor <= 1e12)
    return number * factor;
  return fail(Code::usage, at("--rate"), fmt::format("'{}' is not a rate", rate),
              "a number with kbit, mbit or gbit, such as 400mbit, or none");
}

Result<void> check_lab() {
  if (::geteuid() != 0) {
    return fail(Code::environment, at("lab"), "a lab needs root: it makes network namespaces",
                "run it with sudo, or on a machine of your own");
  }
  for (const char* const program : {"ip", "tc"}) {
    if (!program_is_there(program)) {
      return fail(Code::environment, at("lab"), fmt::format("there is no program {}", program), "apt install iproute2");
    }
  }
  const int status =
      in_child([] { return ::unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS) == 0 ? 0 : 1; });
  if (status != 0) {
    return fail(Code::environment, at("lab"), "namespaces cannot be made here",
                "inside a container start that with --privileged");
  }
  return {};
}

Result<Lab> lab_up(const LabOptions& options, const std::string& program, bool fleeting) {
  if (auto good = check_lab_name(options.name); !good) return propagate(good);
  if (auto good = parse_rate(options.rate); !good) return propagate(good);
  if (options.hosts < 1 || options.hosts > most_hosts || options.slots < 1 || options.slots > 4096) {
    return fail(Code::usage, at("--hosts"), fmt::format("{} hosts of {} slots", options.hosts, options.slots),
                fmt::format("1 to {} hosts, 1 to 4096 slots each", most_hosts));
  }
  if (auto good = check_lab(); !good) return propagate(good);
  const std::string folder = folder_of(options.name);
  std::error_code error;
  fs::create_directories(folder_of_labs, error);
  if (!fs::create_directory(folder, error)) {
    return fail(Code::environment, at(folder), "there is a lab of this name, or what is left of one",
                fmt::format("rankloom lab down --name {}", options.name));
  }
  Lab lab{options, {}, {}, folder};
  const auto build = [&]() -> Result<void> {
    if (auto done = write_files(lab, program); !done) return done;
    auto bridge = start_host(options.name + "-bridge", folder, fleeting, false);
    if (!bridge) return propagate(bridge);
    lab.bridge = *bridge;
    for (std::uint32_t i = 0; i < options.hosts; ++i) {
      auto host = start_host(host_name(options, i), folder, fleeting, true);
      if (!host) return propagate(host);
      lab.hosts.push_back(*host);
    }
    if (auto done = write_state(lab); !done) return done;
    return wire(lab);
  };
  if (auto built = build(); !built) {
    end_processes(lab);
    fs::remove_all(folder, error);
    return propagate(built);
  }
  return lab;
}

Result<Lab> find_lab(const std::string& name) {
  if (auto good = check_lab_name(name); !good) return propagate(good);
  const std::string folder = folder_of(name);
  const auto absent = [&](const std::string& what) {
    return fail(Code::environment, at(folder), what, fmt::format("rankloom lab up --name {}", name));
  };
  if (!fs::exists(folder + "/lab.json")) return absent("there is no lab of this name");
  auto file = read_file(folder + "/lab.json");
  if (!file) return propagate(file);
  const Json json = Json::parse(file->view(), nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("hosts", Json::array()).empty())
    return absent("the description of this lab is damaged");
  Lab lab;
  lab.options.name = name;
  lab.folder = folder;
  lab.options.slots = json.value("slots", 1U);
  lab.options.rate = json.value("rate", std::string("none"));
  const auto entry = [](const Json& one) {
    return LabHost{one.value("name", std::string()), one.value("keeper", 0), one.value("network", std::uint64_t{0})};
  };
  for (const Json& host : json.value("hosts", Json::array())) lab.hosts.push_back(entry(host));
  lab.bridge = entry(json.value("bridge", Json::object()));
  lab.options.hosts = static_cast<std::uint32_t>(lab.hosts.size());
  return lab;
}

std::vector<std::string> lab_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of_labs, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> lab_down(const std::string& name) {
  if (auto good = check_lab_name(name); !good) return good;
  std::error_code error;
  if (!fs::exists(folder_of(name), error)) {
    return fail(Code::environment, at(folder_of(name)), "there is no lab of this name", "rankloom lab list");
  }
  if (auto lab = find_lab(name)) end_processes(*lab);
  fs::remove_all(folder_of(name), error);
  if (error) return lab_failure(folder_of(name));
  return {};
}

Result<void> enter_lab(const Lab& lab, const std::string& host) {
  const auto found =
      std::find_if(lab.hosts.begin(), lab.hosts.end(), [&](const LabHost& one) { return one.name == host; });
  if (found == lab.hosts.end()) {
    return fail(Code::usage, at("--on"), fmt::format("{} is no host of this lab", host),
                fmt::format("{} to {}", lab.hosts.front().name, lab.hosts.back().name));
  }
  if (network_of(found->keeper) != found->network) {
    return fail(Code::environment, at(lab.folder), fmt::format("{} is gone", host),
                fmt::format("rankloom lab down --name {0} && rankloom lab up --name {0}", lab.options.name));
  }
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (const char* const kind : {"net", "uts", "ipc", "mnt"}) {
    if (!join_namespace(found->keeper, kind)) return lab_failure(fmt::format("{} cannot be entered", host), "be root");
  }
  if (::chdir(here.c_str()) != 0) return lab_failure(here.string(), "stand in a folder that every host has");
  const std::string agent = lab.folder + "/ssh";
  const auto variables = std::to_array<std::pair<const char*, std::string>>({
      {"RANKLOOM_LAB", lab.options.name},
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_plm_rsh_agent", agent},
      {"OMPI_MCA_btl", "tcp,self,vader"},
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl_tcp_if_include", "eth0"},
      {"OMPI_MCA_oob_tcp_if_include", "eth0"},
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      {"OMPI_MCA_orte_default_hostfile", lab.folder + "/slots"},
      {"HYDRA_HOST_FILE", lab.folder + "/machines"},
      {"HYDRA_LAUNCHER", "ssh"},
      {"HYDRA_LAUNCHER_EXEC", agent},
      {"HYDRA_IFACE", "eth0"},
      {"UCX_NET_DEVICES", "eth0"},
      {"UCX_TLS", "tcp,self,sm"},
  });
  for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 0);
  ::setenv("RANKLOOM_LAB", lab.options.name.c_str(), 1);
  return {};
}

MachineSpec lab_machine(const Lab& lab) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  if (cpus.empty()) cpus.push_back(0);
  const double rate = parse_rate(lab.options.rate).value_or(0);
  constexpr double gap_inside = 0.5;  // nanoseconds a byte: shared memory of a small machine
  MachineSpec machine;
  machine.text = "lab " + lab.options.name;
  machine.root.kind = "machine";
  machine.root.between = Cost{rate > 0 ? std::max(8e9 / rate, gap_inside) : 2 * gap_inside, 0};
  for (const LabHost& host : lab.hosts) {
    ObjectSpec node;
    node.kind = "node";
    node.name = host.name;
    node.between = Cost{gap_inside, 0};
    for (std::uint32_t slot = 0; slot < lab.options.slots; ++slot) {
      ObjectSpec core;
      core.kind = "core";
      core.os_index = cpus[slot % cpus.size()];
      node.children.push_back(std::move(core));
    }
    machine.root.children.push_back(std::move(node));
  }
  return machine;
}

}  // namespace rankloom
