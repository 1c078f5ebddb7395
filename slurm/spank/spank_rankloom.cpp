// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: `srun --rankloom=MAPPING`: the order of nodes before the step is made, the processing unit of each rank before
// it starts. Everything that decides is in `rankloom slurm place`, which is asked as a program of its own: whatever
// happens in it, srun has at worst a line to show and goes on as if nothing had been asked.
//
// In srun, the answer is there before srun reads its environment, so that its own variables carry it: SLURM_HOSTFILE
// and SLURM_DISTRIBUTION. On the nodes, slurmstepd finds the processing units in the environment of the step, takes
// them out of it, and binds each rank after Slurm's own task plugins have bound it.
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {  // the header leaves the plugin's own functions out of its own
#include <slurm/spank.h>
}

#include "slurm/spank/child.hpp"
#include "slurm/spank/placement.hpp"
#include "slurm/spank/processing_units.hpp"

#define RANKLOOM_EXPORT __attribute__((visibility("default")))

namespace {

using rankloom::spank::Cpu;
using Argv = std::vector<std::string>;

// What Slurm calls the option of a job, for the sruns inside it.
constexpr const char* asked_by_job = "SLURM_SPANK__SLURM_SPANK_OPTION_rankloom_rankloom";
constexpr const char* asked_by_job_newer = "_SLURM_SPANK_OPTION_rankloom_rankloom";

constexpr const char* fence_of_pmix = "SLURM_PMIX_FENCE";

/// A line of plugstack.conf: "optional spank_rankloom.so program=/usr/bin/rankloom config=/etc/slurm/rankloom.conf".
struct Settings {
  std::string program, topology, nodes, config;
  std::chrono::milliseconds limit{30000};
  std::string unknown;  ///< The first word that means nothing.
};

/// What the plugin must remember between two calls of Slurm, which passes nothing along.
struct State {
  bool refuse = false;  ///< The user rather has no step than one in another order.
  std::size_t ranks = 0;
  int host_file = -1;
  std::map<std::string, std::unique_ptr<std::string>> before;  ///< Variables to put back; none: was not set.
  std::vector<Cpu> cpus;                                       ///< On a node: by rank.
  std::vector<std::uint32_t> allowed, cores;
};

State& state() {
  static State all;
  return all;
}

int on_option(int, const char*, int remote) {
  return remote == 0 && state().refuse ? -1 : 0;
}

std::array<char, 9> option_name{"rankloom"};
std::array<char, 8> option_value{"MAPPING"};
std::array<char, 128> option_help{
    "put each rank where a mapping says; map:PROFILE: map now; strict:…: or do not run; off"};
spank_option option{option_name.data(), option_value.data(), option_help.data(), 1, 0, on_option};

/// The program that came with this plugin: lib/rankloom/slurm/x.so → bin/rankloom; else the one of the PATH.
std::string own_program() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<void*>(&own_program), &about) != 0 && about.dli_fname != nullptr) {
    std::string path = about.dli_fname;
    for (int level = 0; level < 4; ++level) {
      const std::size_t slash = path.rfind('/');
      if (slash == std::string::npos) return "rankloom";
      path.resize(slash);
    }
    for (const char* const below : {"/bin/rankloom", "/../bin/rankloom"}) {  // lib/ or lib/x86_64-linux-gnu/
      if (::access((path + below).c_str(), X_OK) == 0) return path + below;
    }
  }
  return "rankloom";
}

/// Files of the administrator stand beside slurm.conf, unless a path says otherwise.
std::string beside_conf(const std::string& name) {
  const char* const given = std::getenv("SLURM_CONF");
  const std::string conf = given != nullptr ? given : "/etc/slurm/slurm.conf";
  const std::string path = conf.substr(0, conf.rfind('/') + 1) + name;
  return !name.starts_with('/') && ::access(path.c_str(), F_OK) == 0 ? path : name;
}

Settings read_settings(int count, char** words) {
  Settings settings;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const int seconds = std::atoi(value.c_str());
    if (name == "program" && !value.empty()) {
      settings.program = value;
    } else if (name == "topology" && !value.empty()) {
      settings.topology = beside_conf(value);
    } else if (name == "nodes" && !value.empty()) {
      settings.nodes = value;
    } else if (name == "config" && !value.empty()) {
      settings.config = beside_conf(value);
    } else if (name == "timeout" && seconds > 0 && seconds <= 3600) {
      settings.limit = std::chrono::seconds(seconds);
    } else if (settings.unknown.empty()) {
      settings.unknown = word;
    }
  }
  if (settings.program.empty()) settings.program = own_program();
  return settings;
}

Argv own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  Argv words;
  std::string word;
  while (std::getline(file, word, '\0')) words.push_back(word);
  return words;
}

/// So that programs are not started for every srun. Whether it stands before the program or is one of its own words,
/// `rankloom slurm place` finds out.
bool may_ask(const Argv& words) {
  for (const std::string& word : words) {
    if (word.starts_with("--rankloom")) return true;
  }
  return false;
}

/// Messages of several lines in one.
std::string in_one_line(std::string text) {
  if (text.starts_with("rankloom: ")) text.erase(0, 10);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    const std::size_t end = text.find_first_not_of(" \n", at);
    text.replace(at, end == std::string::npos ? std::string::npos : end - at, "; ");
  }
  return text.substr(0, 1500);
}

void set_for_srun(const std::string& name, const std::string& value) {
  const char* const old = std::getenv(name.c_str());
  state().before.emplace(name, old != nullptr ? std::make_unique<std::string>(old) : nullptr);
  ::setenv(name.c_str(), value.c_str(), 1);
}

void put_back(const std::string& name) {
  const auto found = state().before.find(name);
  if (found == state().before.end()) return;
  if (found->second) {
    ::setenv(name.c_str(), found->second->c_str(), 1);
  } else {
    ::unsetenv(name.c_str());
  }
  state().before.erase(found);
}

/// A file without a place on any disk, which only srun itself reads.
bool offer_hosts(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) text += host + "\n";
  const int file = ::memfd_create("rankloom-hosts", MFD_CLOEXEC);
  if (file < 0) return false;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count <= 0) {
      ::close(file);
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  state().host_file = file;
  set_for_srun("SLURM_HOSTFILE", "/proc/self/fd/" + std::to_string(file));
  set_for_srun("SLURM_DISTRIBUTION", "arbitrary");
  return true;
}

void apply(const rankloom::spank::Placement& placement) {
  if (!offer_hosts(placement.hosts)) {
    slurm_spank_log("rankloom: there is no memory for a list of hosts; ranks run in Slurm's own order");
    return;
  }
  state().ranks = placement.hosts.size();
  // Seen with 22.05: over a tree of nodes in an arbitrary order, PMIx now and then loses what ranks tell each other,
  // and Open MPI crashes in MPI_Init; round a ring it does not. The user's own choice stays.
  if (std::getenv(fence_of_pmix) == nullptr) ::setenv(fence_of_pmix, "ring", 1);
  for (const auto& [name, value] : rankloom::spank::to_variables(placement.cpus)) set_for_srun(name, value);
}

/// Before srun reads its variables and options.
void prepare_srun(const Settings& settings) {
  std::vector<std::string> stale;
  (void)rankloom::spank::from_environment(environ, stale);  // of a step around this one
  for (const std::string& name : stale) ::unsetenv(name.c_str());
  const char* asked = std::getenv(asked_by_job);
  if (asked == nullptr) asked = std::getenv(asked_by_job_newer);
  Argv command = own_command_line();
  if (command.empty() || (asked == nullptr && !may_ask(command))) return;
  if (!settings.unknown.empty())
    slurm_spank_log(
        "rankloom: plugstack.conf: \"%s\" is not known; known are program=, config=, topology=, nodes=, timeout=",
        settings.unknown.c_str());
  command[0] = "srun";
  Argv words{settings.program, "slurm", "place"};
  if (asked != nullptr) words.insert(words.end(), {"--asked", asked});
  if (!settings.config.empty()) {
    words.insert(words.end(), {"--config", settings.config});
  } else if (!settings.topology.empty()) {
    words.insert(words.end(), {"--network", settings.topology});
    if (!settings.nodes.empty()) words.insert(words.end(), {"--nodes", settings.nodes});
  }
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());

  const auto answer = rankloom::spank::ask(words, settings.limit);
  if (answer.usable && answer.output.empty()) return;  // nothing is asked for, after all
  const auto placement = answer.usable ? rankloom::spank::read_placement(answer.output) : std::nullopt;
  if (placement) return apply(*placement);
  const std::string why =
      answer.usable ? settings.program + " gave an answer that cannot be read" : in_one_line(answer.errors);
  state().refuse = answer.output == "refuse\n";
  if (state().refuse) {
    slurm_error("rankloom: %s; not run, as strict: asks", why.c_str());
  } else {
    slurm_spank_log("rankloom: %s; ranks run in Slurm's own order", why.c_str());
  }
}

/// On a node, before its ranks are made: what they may be bound to, and one line about those that cannot be.
void prepare_node(spank_t handle) {
  State& here = state();
  char** environment = nullptr;
  if (spank_get_item(handle, S_JOB_ENV, &environment) != ESPANK_SUCCESS) return;
  std::vector<std::string> found;
  here.cpus = rankloom::spank::from_environment(environment, found);
  for (const std::string& name : found) spank_unsetenv(handle, name.c_str());
  if (here.cpus.empty()) return;
  here.allowed = rankloom::spank::allowed_units();
  char* cores = nullptr;
  if (spank_get_item(handle, S_STEP_ALLOC_CORES, &cores) == ESPANK_SUCCESS && cores != nullptr)
    here.cores = rankloom::spank::numbers_in(cores);

  std::uint32_t tasks = 0, unbound = 0;
  std::string first;
  if (spank_get_item(handle, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS) return;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    std::uint32_t rank = 0;
    if (spank_get_item(handle, S_JOB_LOCAL_TO_GLOBAL_ID, task, &rank) != ESPANK_SUCCESS || rank >= here.cpus.size())
      continue;
    const Cpu& cpu = here.cpus[rank];
    if (cpu.by == Cpu::By::nobody || rankloom::spank::unit_for(cpu, here.allowed, here.cores)) continue;
    if (unbound++ == 0) first = "rank " + std::to_string(rank) + " to " + std::to_string(cpu.value);
  }
  if (unbound == 0) return;
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  slurm_spank_log("rankloom: %u of %u ranks on %s are not bound: their processing units do not exist here (%s)",
                  unbound, tasks, host.data(), first.c_str());
}

void bind_task(spank_t handle) {
  const State& here = state();
  std::uint32_t rank = 0;
  if (here.cpus.empty() || spank_get_item(handle, S_TASK_GLOBAL_ID, &rank) != ESPANK_SUCCESS) return;
  if (rank >= here.cpus.size()) return;
  const auto unit = rankloom::spank::unit_for(here.cpus[rank], here.allowed, here.cores);
  if (unit && !rankloom::spank::bind_to(*unit))
    slurm_spank_log("rankloom: rank %u cannot be bound to processing unit %u: %s", rank, *unit, std::strerror(errno));
}

/// No exception may reach Slurm, which is written in C.
template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
  } catch (const std::exception& problem) {
    slurm_spank_log("rankloom: %s; ranks run in Slurm's own order", problem.what());
  } catch (...) {
    slurm_spank_log("rankloom: something failed; ranks run in Slurm's own order");
  }
  return 0;
}

}  // namespace

extern "C" {

RANKLOOM_EXPORT extern const char plugin_name[] = "rankloom";
RANKLOOM_EXPORT extern const char plugin_type[] = "spank";
RANKLOOM_EXPORT extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
RANKLOOM_EXPORT extern const unsigned int spank_plugin_version = 1;

RANKLOOM_EXPORT int slurm_spank_init(spank_t handle, int count, char* words[]) {
  return guarded([&] {
    if (spank_option_register(handle, &option) != ESPANK_SUCCESS) return;
    if (spank_context() == S_CTX_LOCAL) prepare_srun(read_settings(count, words));
  });
}

/// srun has read its variables: the programs that it starts shall not see ours.
RANKLOOM_EXPORT int slurm_spank_init_post_opt(spank_t, int, char*[]) {
  return guarded([] {
    if (spank_context() != S_CTX_LOCAL || state().host_file < 0) return;
    for (const char* const name : {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION"}) put_back(name);
    ::close(state().host_file);
    state().host_file = -1;
  });
}

/// The step is made. If it has another number of ranks after all, nothing is bound by a mapping for others.
RANKLOOM_EXPORT int slurm_spank_local_user_init(spank_t handle, int, char*[]) {
  return guarded([&] {
    std::uint32_t tasks = 0;
    if (state().ranks == 0 || spank_get_item(handle, S_JOB_TOTAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS) return;
    if (tasks == state().ranks) return;
    slurm_spank_log("rankloom: the step has %u ranks and the mapping %zu; none is bound", tasks, state().ranks);
    while (!state().before.empty()) put_back(std::string(state().before.begin()->first));
  });
}

RANKLOOM_EXPORT int slurm_spank_user_init(spank_t handle, int, char*[]) {
  return guarded([&] {
    if (spank_context() == S_CTX_REMOTE) prepare_node(handle);
  });
}

RANKLOOM_EXPORT int slurm_spank_task_init(spank_t handle, int, char*[]) {
  return guarded([&] { bind_task(handle); });
}
}
