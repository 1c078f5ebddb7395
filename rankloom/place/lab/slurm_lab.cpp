// SPDX-License-Identifier: Apache-2.0
// place: a Slurm on one machine: how it is made, found, entered and removed.
#include "rankloom/place/lab/slurm_lab.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/core/file.hpp"
#include "rankloom/core/shell_word.hpp"
#include "rankloom/place/lab/parts.hpp"
#include "rankloom/place/lab/slurm_parts.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* folder_of_labs = "/run/rankloom-slurm";
constexpr std::uint32_t most_nodes = 4096;
constexpr std::uint32_t usual_port = 20000;

std::string folder_of(const std::string& name) {
  return fmt::format("{}/{}", folder_of_labs, name);
}

std::string content_of(const std::string& path) {
  auto file = read_file(path);
  return file ? std::string(file->view()) : std::string();
}

/// The last lines of a log, for who asks why.
std::string end_of(const std::string& path, std::size_t lines) {
  const std::string text = content_of(path);
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

/// Ports first … first + nodes that nobody has; others that are just made have theirs in their files.
Result<std::uint32_t> find_ports(const SlurmLabOptions& options) {
  const auto needed = static_cast<std::uint32_t>(options.nodes.size()) + 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (const std::string& name : slurm_lab_names()) {
    const Json json = Json::parse(content_of(folder_of(name) + "/lab.json"), nullptr, false);
    if (!json.is_object() || name == options.name) continue;
    taken.emplace_back(json.value("first_port", 0U), json.value("nodes", Json::array()).size() + 1);
  }
  const auto in_the_way = [&](std::uint32_t first) -> std::uint32_t {
    for (std::uint32_t port = first; port < first + needed; ++port) {
      const bool reserved = std::any_of(taken.begin(), taken.end(), [&](const auto& block) {
        return port >= block.first && port < block.first + block.second;
      });
      if (reserved || !port_is_free(port)) return port;
    }
    return 0;
  };
  if (options.first_port != 0) {
    const std::uint32_t port = in_the_way(options.first_port);
    if (port == 0) return options.first_port;
    return fail(Code::environment, at("--port"), fmt::format("port {} is taken", port),
                fmt::format("{} ports from the given one have to be free; without --port they are found", needed));
  }
  for (std::uint32_t first = usual_port; first + needed < 32768;) {  // beyond are those that outgoing calls get
    const std::uint32_t port = in_the_way(first);
    if (port == 0) return first;
    first = port + 1;
  }
  return fail(Code::environment, at("slurm lab"), fmt::format("no {} neighbouring ports are free", needed),
              "end other labs: rankloom slurm lab status");
}

Result<void> check_options(const SlurmLabOptions& options) {
  if (auto good = check_lab_name(options.name); !good) return good;
  const auto wrong = [](std::string what, std::string hint) {
    return fail(Code::usage, at("slurm lab"), std::move(what), std::move(hint));
  };
  if (options.nodes.empty() || options.nodes.size() > most_nodes || options.cpus < 1 || options.cpus > 4096) {
    return wrong(fmt::format("{} nodes of {} processors", options.nodes.size(), options.cpus),
                 fmt::format("1 to {} nodes, 1 to 4096 processors each", most_nodes));
  }
  if (options.first_port != 0 && (options.first_port < 1024 || options.first_port + options.nodes.size() > 65535))
    return wrong(fmt::format("port {} does not do", options.first_port), "from 1024, and there must be room behind it");
  std::set<std::string> names{slurm_head};
  for (const std::string& name : options.nodes) {
    const bool good = !name.empty() && name.size() < 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (!good) return wrong(fmt::format("'{}' cannot be the name of a node", name), "letters, digits, - and _");
    if (!names.insert(name).second) return wrong(fmt::format("there are two hosts called {}", name), "name them apart");
  }
  return {};
}

Result<void> write_all(const SlurmLab& lab, const SlurmLabOptions& options) {
  std::error_code error;
  for (const char* const folder : {"state", "spool", "log", "munge"})
    fs::create_directories(lab.folder + "/" + folder, error);
  ::chmod(lab.folder.c_str(), 0755);
  ::chmod((lab.folder + "/munge").c_str(), 0700);
  std::string key(1024, '\0');
  std::random_device random;
  for (char& byte : key) byte = static_cast<char>(random());
  std::string variables;
  for (const auto& [name, value] : slurm_lab_environment(lab))
    variables += fmt::format("export {}={}\n", name, shell_word(value));
  Json json{{"first_port", lab.first_port}, {"cpus", lab.cpus}, {"nodes", Json::array()}};
  for (const SlurmHost& node : lab.nodes) json["nodes"].push_back(node.name);
  std::map<std::string, std::string> files = options.files;
  files["lab.json"] = json.dump() + "\n";
  files["slurm.conf"] = slurm_conf_text(lab, options);
  files["hosts"] = slurm_hosts_text(lab);
  files["nsswitch.conf"] = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n";
  files["env"] = variables;
  files["munge/key"] = key;
  for (const auto& [name, content] : files) {
    if (auto done = write_file(lab.folder + "/" + name, content); !done) return done;
  }
  ::chmod((lab.folder + "/munge/key").c_str(), 0400);
  return {};
}

Result<void> start_daemon(const SlurmLab& lab, const SlurmHost& host, const std::vector<std::string>& words,
                          const std::string& log) {
  std::string said;
  // Daemons keep the errors' end of a pipe open: theirs go to a file.
  const std::string command = fmt::format("exec {} >> {} 2>&1", fmt::join(words, " "), log);
  const int status = run_on(lab, host, {"/bin/sh", "-c", command}, nullptr);
  if (status == 0) return {};
  return fail(Code::environment, at(log), fmt::format("{} on {} ended with status {}", words[0], host.name, status),
              end_of(log, 3));
}

Result<void> start_munged(const SlurmLab& lab) {
  const std::string own = lab.folder + "/munge";
  return start_daemon(
      lab, lab.head,
      {program_path("munged"), "--force", "--key-file=" + own + "/key", "--socket=" + lab.folder + "/munge.socket",
       "--pid-file=" + own + "/pid", "--log-file=" + own + "/log", "--seed-file=" + own + "/seed", "--num-threads=4"},
      lab.folder + "/log/munged.start");
}

Result<void> start_nodes(const SlurmLab& lab, Progress& progress) {
  const std::string slurmd = program_path("slurmd");
  for (std::size_t i = 0; i < lab.nodes.size(); ++i) {
    const SlurmHost& node = lab.nodes[i];
    progress.report("starting nodes", 0.7 * static_cast<double>(i) / static_cast<double>(lab.nodes.size()));
    const std::vector<std::string> words{slurmd, "-f", lab.conf(), "-N", node.name};
    if (auto done = start_daemon(lab, node, words, lab.folder + "/log/" + node.name + ".start"); !done) return done;
  }
  return {};
}

Result<void> wait_until_idle(const SlurmLab& lab, Progress& progress) {
  const auto limit = Clock::now() + std::chrono::seconds(30) + std::chrono::milliseconds(200) * lab.nodes.size();
  std::uint32_t idle = 0;
  while (Clock::now() < limit) {
    const auto states = node_states(lab);
    const auto found = states.find("idle");
    idle = found == states.end() ? 0 : found->second;
    if (idle == lab.nodes.size()) return {};
    progress.report("waiting for nodes", 0.7 + 0.3 * idle / static_cast<double>(lab.nodes.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(Code::environment, at(lab.folder + "/log"),
              fmt::format("{} of {} nodes are ready, the others did not come", idle, lab.nodes.size()),
              "last words of slurmctld:\n" + end_of(lab.folder + "/log/slurmctld.log", 5));
}

void end_hosts(const SlurmLab& lab) {
  std::vector<SlurmHost> all = lab.nodes;
  all.push_back(lab.head);
  // All keepers first told apart, so that slurmctld does not see its nodes die one by one.
  std::reverse(all.begin(), all.end());
  for (const SlurmHost& host : all) end_space({"mnt", host.keeper, host.mounts, slurm_keeper}, slurm_mark(lab));
}

/// What `keepers` says, whatever else is missing.
std::vector<SlurmHost> noted_keepers(const std::string& folder) {
  std::vector<SlurmHost> hosts;
  std::istringstream lines(content_of(folder + "/keepers"));
  for (SlurmHost host; lines >> host.name >> host.keeper >> host.mounts;) hosts.push_back(host);
  return hosts;
}

}  // namespace

Result<void> check_slurm_lab() {
  if (::geteuid() != 0) {
    return fail(Code::environment, at("slurm lab"), "a Slurm on one machine needs root: its nodes are namespaces",
                "run it with sudo, or on a machine of your own");
  }
  constexpr auto programs = std::to_array<std::pair<const char*, const char*>>(
      {{"munged", "munge"}, {"slurmctld", "slurmctld"}, {"slurmd", "slurmd"}, {"sinfo", "slurm-client"}});
  for (const auto& [program, package] : programs) {
    if (program_path(program).empty()) {
      return fail(Code::environment, at("slurm lab"), fmt::format("there is no program {}", program),
                  fmt::format("apt install {}", package));
    }
  }
  if (slurm_plugin_folder().empty()) {
    return fail(Code::environment, at("slurm lab"), "there is no select_cons_tres.so in /usr/lib/*/slurm-wlm",
                "apt install slurm-wlm-basic-plugins");
  }
  return {};
}

Result<SlurmLab> slurm_lab_up(const SlurmLabOptions& options, Progress& progress) {
  if (auto good = check_options(options); !good) return propagate(good);
  if (auto good = check_slurm_lab(); !good) return propagate(good);
  std::error_code error;
  fs::create_directories(folder_of_labs, error);
  SlurmLab lab{options.name, folder_of(options.name), 0, options.cpus, {slurm_head}, {}};
  if (!fs::create_directory(lab.folder, error)) {
    return fail(Code::environment, at(lab.folder), "there is a Slurm of this name, or what is left of one",
                fmt::format("rankloom slurm lab down --name {}", options.name));
  }
  for (const std::string& name : options.nodes) lab.nodes.push_back({name});
  const auto build = [&]() -> Result<void> {
    auto port = find_ports(options);
    if (!port) return propagate(port);
    lab.first_port = *port;
    if (auto done = write_all(lab, options); !done) return done;
    auto head = start_slurm_host(lab, slurm_head, false, {});
    if (!head) return propagate(head);
    lab.head = *head;
    if (auto done = start_munged(lab); !done) return done;
    if (auto done = start_slurmctld(lab); !done) return done;
    for (SlurmHost& node : lab.nodes) {
      auto host = start_slurm_host(lab, node.name, true, options.shared);
      if (!host) return propagate(host);
      node = *host;
    }
    if (auto done = start_nodes(lab, progress); !done) return done;
    return wait_until_idle(lab, progress);
  };
  if (auto built = build(); !built) {
    end_hosts(lab);
    fs::remove_all(lab.folder, error);
    return propagate(built);
  }
  return lab;
}

Result<void> start_slurmctld(const SlurmLab& lab) {
  const std::string log = lab.folder + "/log/slurmctld.start";
  if (auto done = start_daemon(lab, lab.head, {program_path("slurmctld"), "-f", lab.conf()}, log); !done) return done;
  for (int tries = 0; tries < 300; ++tries) {
    std::string said;
    if (run_on(lab, lab.head, {program_path("scontrol"), "ping"}, &said) == 0 &&
        said.find("is UP") != std::string::npos)
      return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return fail(Code::environment, at(lab.folder + "/log/slurmctld.log"), "slurmctld does not answer",
              "its last words:\n" + end_of(lab.folder + "/log/slurmctld.log", 5));
}

Result<SlurmLab> find_slurm_lab(const std::string& name) {
  if (auto good = check_lab_name(name); !good) return propagate(good);
  const std::string folder = folder_of(name);
  const auto absent = [&](const std::string& what) {
    return fail(Code::environment, at(folder), what, fmt::format("rankloom slurm lab up --name {}", name));
  };
  if (!fs::exists(folder + "/lab.json")) return absent("there is no Slurm of this name");
  const Json json = Json::parse(content_of(folder + "/lab.json"), nullptr, false);
  const auto keepers = noted_keepers(folder);
  if (!json.is_object() || keepers.size() != json.value("nodes", Json::array()).size() + 1)
    return absent("what is there is damaged or half made: take it down first");
  SlurmLab lab{name, folder, json.value("first_port", 0U), json.value("cpus", 1U), keepers.front(), {}};
  lab.nodes.assign(keepers.begin() + 1, keepers.end());
  return lab;
}

std::vector<std::string> slurm_lab_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of_labs, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, std::uint32_t> node_states(const SlurmLab& lab) {
  std::string said;
  std::map<std::string, std::uint32_t> states;
  if (run_on(lab, lab.head, {program_path("sinfo"), "-h", "-p", "all", "-o", "%T %D"}, &said) != 0) return states;
  std::istringstream lines(said);
  std::string state;
  for (std::uint32_t count = 0; lines >> state >> count;) states[state] += count;
  return states;
}

Result<void> slurm_lab_down(const std::string& name) {
  if (auto good = check_lab_name(name); !good) return good;
  std::error_code error;
  SlurmLab lab{name, folder_of(name), 0, 0, {}, {}};
  if (!fs::exists(lab.folder, error)) {
    return fail(Code::environment, at(lab.folder), "there is no Slurm of this name", "rankloom slurm lab status");
  }
  if (::geteuid() != 0) return fail(Code::environment, at(lab.folder), "only root can take it down", "use sudo");
  lab.nodes = noted_keepers(lab.folder);
  end_hosts(lab);
  fs::remove_all(lab.folder, error);
  if (error) return lab_failure(lab.folder);
  return {};
}

Result<void> enter_slurm_lab(const SlurmLab& lab, const std::string& host) {
  std::vector<SlurmHost> all{lab.head};
  all.insert(all.end(), lab.nodes.begin(), lab.nodes.end());
  const auto found = std::find_if(all.begin(), all.end(), [&](const SlurmHost& one) { return one.name == host; });
  if (found == all.end()) {
    return fail(Code::usage, at("--on"), fmt::format("{} is no host of this Slurm", host),
                fmt::format("{}, {} to {}", lab.head.name, lab.nodes.front().name, lab.nodes.back().name));
  }
  if (space_of(found->keeper, "mnt") != found->mounts) {
    return fail(Code::environment, at(lab.folder), fmt::format("{} is gone", host),
                fmt::format("rankloom slurm lab down --name {0} && rankloom slurm lab up --name {0}", lab.name));
  }
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (const char* const kind : {"uts", "ipc", "mnt"}) {
    if (!join_namespace(found->keeper, kind)) return lab_failure(fmt::format("{} cannot be entered", host), "be root");
  }
  if (::chdir(here.c_str()) != 0) return lab_failure(here.string(), "stand in a folder that the host has");
  for (const auto& [name, value] : slurm_lab_environment(lab)) ::setenv(name.c_str(), value.c_str(), 0);
  ::setenv("SLURM_CONF", lab.conf().c_str(), 1);
  ::setenv("RANKLOOM_SLURM", lab.name.c_str(), 1);
  return {};
}

}  // namespace rankloom
