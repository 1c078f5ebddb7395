// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: the SPANK plugin for `srun --rankloom=MAPPING`. It sets the node of each rank before the step is
// created, and binds each rank to its processing units and GPUs before the rank starts. The separate program `rankloom
// slurm place` computes the placement. If that program fails, srun logs one line and continues as without the option.
//
// In srun, the plugin obtains the placement before srun reads its environment variables, and passes it to srun by
// SLURM_HOSTFILE and SLURM_DISTRIBUTION. On the nodes, slurmstepd reads the slots from the environment of the step,
// removes them from it, and binds each rank after Slurm's own task plugins have bound it. If Slurm would bind ranks to
// GPUs, SLURM_GPU_BIND=none prevents it: a cgroup would restrict each rank to the GPU that Slurm has chosen.
//
// With --rankloom=learn, `rankloom slurm place` may answer that the step has to be recorded. Its ranks then get the
// recorder in LD_PRELOAD, and srun passes the recording to `rankloom slurm profiles add` before it exits.
#include <algorithm>
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

extern "C" {  // the header declares the functions of plugins outside of its own extern "C"
#include <slurm/spank.h>
}

#include "rankloom/core/text/number_ranges.hpp"
#include "slurm/spank/node_slots.hpp"
#include "slurm/spank/placement.hpp"
#include "slurm/spank/processing_units.hpp"
#include "slurm/spank/program_query.hpp"

#define RANKLOOM_EXPORT __attribute__((visibility("default")))

namespace {

using rankloom::format_number_ranges;
using rankloom::spank::NodeSlots;
using rankloom::spank::SlotChoice;
using Argv = std::vector<std::string>;

// The variable in which Slurm passes the option of a job to the srun commands of the job.
constexpr const char* job_option_variable = "SLURM_SPANK__SLURM_SPANK_OPTION_rankloom_rankloom";
constexpr const char* newer_job_option_variable = "_SLURM_SPANK_OPTION_rankloom_rankloom";

constexpr const char* pmix_fence_variable = "SLURM_PMIX_FENCE";
constexpr const char* gpu_bind_variable = "SLURM_GPU_BIND";
constexpr const char* tres_bind_variable = "SLURM_TRES_BIND";  // from 23.11 on, also for GPUs
// Tells the nodes how many GPUs a rank has to be bound to, because Slurm does not bind it.
constexpr const char* gpus_per_task_variable = "SLURM_RANKLOOM_GPUS_PER_TASK";

// Tell the nodes how to record the ranks.
constexpr const char* record_prefix_variable = "SLURM_RANKLOOM_RECORD_OUT";
constexpr const char* record_library_variable = "SLURM_RANKLOOM_RECORD_LIBRARY";

/// A line of plugstack.conf: "optional spank_rankloom.so program=/usr/bin/rankloom config=/etc/slurm/rankloom.conf".
struct Settings {
  std::string program, topology, nodes, config;
  std::chrono::milliseconds time_limit{30000};
  std::string unknown;  ///< The first unknown argument.
};

/// The state of the plugin between calls. Slurm passes no context to plugins.
struct State {
  bool refuse = false;  ///< A strict request failed, so the step must not run.
  std::size_t ranks = 0;
  int host_file = -1;
  std::map<std::string, std::unique_ptr<std::string>> before;  ///< Original values of changed variables; null: not set.
  Argv store_recording;                                        ///< After the step; empty: it is not recorded.
  std::chrono::milliseconds time_limit{};                      ///< Of that command.
  bool started = false;                                        ///< The step has been created.
  rankloom::spank::Recording recording;                        ///< On a node; without a library: none.
  rankloom::spank::StepResources step;                         ///< On a node.
  NodeSlots slots;
};

State& state() {
  static State instance;
  return instance;
}

int on_option(int, const char*, int remote) {
  return remote == 0 && state().refuse ? -1 : 0;
}

std::array<char, 9> option_name{"rankloom"};
std::array<char, 8> option_value{"MAPPING"};
std::array<char, 160> option_help{
    "place ranks by a mapping; map:PROFILE: compute it now; learn: by the first run of the job; strict:…: or do not "
    "run; off"};
spank_option option{option_name.data(), option_value.data(), option_help.data(), 1, 0, on_option};

/// The program that was installed with this plugin: lib/rankloom/slurm/x.so → bin/rankloom; otherwise the one in PATH.
std::string installed_program() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<void*>(&installed_program), &library) != 0 && library.dli_fname != nullptr) {
    std::string path = library.dli_fname;
    for (int level = 0; level < 4; ++level) {
      const std::size_t slash = path.rfind('/');
      if (slash == std::string::npos) return "rankloom";
      path.resize(slash);
    }
    for (const char* const relative : {"/bin/rankloom", "/../bin/rankloom"}) {  // lib/ or lib/x86_64-linux-gnu/
      if (::access((path + relative).c_str(), X_OK) == 0) return path + relative;
    }
  }
  return "rankloom";
}

/// Relative names refer to files in the directory of slurm.conf, if they exist there.
std::string next_to_conf(const std::string& name) {
  const char* const variable = std::getenv("SLURM_CONF");
  const std::string conf = variable != nullptr ? variable : "/etc/slurm/slurm.conf";
  const std::string path = conf.substr(0, conf.rfind('/') + 1) + name;
  return !name.starts_with('/') && ::access(path.c_str(), F_OK) == 0 ? path : name;
}

/// Parses the arguments of a line of plugstack.conf.
Settings read_settings(int count, char** arguments) {
  Settings settings;
  for (int i = 0; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals),
                      value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    const int seconds = std::atoi(value.c_str());
    if (name == "program" && !value.empty()) {
      settings.program = value;
    } else if (name == "topology" && !value.empty()) {
      settings.topology = next_to_conf(value);
    } else if (name == "nodes" && !value.empty()) {
      settings.nodes = value;
    } else if (name == "config" && !value.empty()) {
      settings.config = next_to_conf(value);
    } else if (name == "timeout" && seconds > 0 && seconds <= 3600) {
      settings.time_limit = std::chrono::seconds(seconds);
    } else if (settings.unknown.empty()) {
      settings.unknown = argument;
    }
  }
  if (settings.program.empty()) settings.program = installed_program();
  return settings;
}

Argv command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  Argv arguments;
  std::string argument;
  while (std::getline(file, argument, '\0')) arguments.push_back(argument);
  return arguments;
}

/// Whether the command line may contain the option, so that not every srun starts a program. `rankloom slurm place`
/// finds out whether it is an option of srun or an argument of the user's program.
bool contains_option(const Argv& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--rankloom")) return true;
  }
  return false;
}

/// Joins the lines of a message.
std::string single_line(std::string text) {
  if (text.starts_with("rankloom: ")) text.erase(0, 10);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    const std::size_t end = text.find_first_not_of(" \n", at);
    text.replace(at, end == std::string::npos ? std::string::npos : end - at, "; ");
  }
  return text.substr(0, 1500);
}

void set_temporarily(const std::string& name, const std::string& value) {
  const char* const old = std::getenv(name.c_str());
  state().before.emplace(name, old != nullptr ? std::make_unique<std::string>(old) : nullptr);
  ::setenv(name.c_str(), value.c_str(), 1);
}

void restore_variable(const std::string& name) {
  const auto found = state().before.find(name);
  if (found == state().before.end()) return;
  if (found->second) {
    ::setenv(name.c_str(), found->second->c_str(), 1);
  } else {
    ::unsetenv(name.c_str());
  }
  state().before.erase(found);
}

/// Provides the host list as an anonymous file in memory, which only srun reads.
bool provide_host_list(const std::vector<std::string>& hosts) {
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
  set_temporarily("SLURM_HOSTFILE", "/proc/self/fd/" + std::to_string(file));
  set_temporarily("SLURM_DISTRIBUTION", "arbitrary");
  return true;
}

void apply(const rankloom::spank::Placement& placement) {
  if (!provide_host_list(placement.hosts)) {
    slurm_spank_log("rankloom: cannot create the host list; Slurm's default placement is used");
    return;
  }
  state().ranks = placement.hosts.size();
  // In Slurm 22.05, the tree algorithm of the PMIx fence sometimes loses data for an arbitrary node order, and Open MPI
  // then crashes in MPI_Init. The ring algorithm works. A choice of the user has priority.
  if (std::getenv(pmix_fence_variable) == nullptr) ::setenv(pmix_fence_variable, "ring", 1);
  for (const auto& [name, value] : rankloom::spank::write_variables(placement.slots)) set_temporarily(name, value);
  if (placement.gpus_per_task == 0) return;
  set_temporarily(gpu_bind_variable, "none");
  if (std::getenv(tres_bind_variable) != nullptr) set_temporarily(tres_bind_variable, "gres/gpu:none");
  ::setenv(gpus_per_task_variable, std::to_string(placement.gpus_per_task).c_str(), 1);
}

/// The nodes preload the recorder into the ranks; the recording is stored when srun exits.
void record(const rankloom::spank::Recording& recording, const Settings& settings) {
  ::setenv(record_prefix_variable, recording.prefix.c_str(), 1);
  ::setenv(record_library_variable, recording.library.c_str(), 1);
  state().store_recording = {settings.program, "slurm", "profiles", "add", recording.directory};
  if (!settings.config.empty())
    state().store_recording.insert(state().store_recording.end(), {"--config", settings.config});
  state().time_limit = settings.time_limit;
}

/// Before srun reads its variables and options.
void prepare_srun(const Settings& settings) {
  std::vector<std::string> stale;
  (void)rankloom::spank::read_variables(environ, stale);  // variables of an enclosing step
  for (const std::string& name : stale) ::unsetenv(name.c_str());
  for (const char* const name : {gpus_per_task_variable, record_prefix_variable, record_library_variable})
    ::unsetenv(name);
  const char* request = std::getenv(job_option_variable);
  if (request == nullptr) request = std::getenv(newer_job_option_variable);
  Argv command = command_line();
  if (command.empty() || (request == nullptr && !contains_option(command))) return;
  if (!settings.unknown.empty())
    slurm_spank_log(
        "rankloom: plugstack.conf: \"%s\" is not a known argument; use program=, config=, topology=, nodes= or "
        "timeout=",
        settings.unknown.c_str());
  command[0] = "srun";
  Argv argv{settings.program, "slurm", "place"};
  if (request != nullptr) argv.insert(argv.end(), {"--request", request});
  if (!settings.config.empty()) {
    argv.insert(argv.end(), {"--config", settings.config});
  } else if (!settings.topology.empty()) {
    argv.insert(argv.end(), {"--network", settings.topology});
    if (!settings.nodes.empty()) argv.insert(argv.end(), {"--nodes", settings.nodes});
  }
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());

  const auto result = rankloom::spank::query_program(argv, settings.time_limit);
  if (result.succeeded && !result.errors.empty()) slurm_spank_log("rankloom: %s", single_line(result.errors).c_str());
  if (result.succeeded && result.output.empty()) return;  // the command contains no request
  if (const auto recording = rankloom::spank::read_recording(result.output); result.succeeded && recording)
    return record(*recording, settings);
  const auto placement = result.succeeded ? rankloom::spank::read_placement(result.output) : std::nullopt;
  if (placement) return apply(*placement);
  const std::string reason =
      result.succeeded ? settings.program + " returned a malformed placement" : single_line(result.errors);
  state().refuse = result.output == "refuse\n";
  if (state().refuse) {
    slurm_error("rankloom: %s; the step does not run because of strict:", reason.c_str());
  } else {
    slurm_spank_log("rankloom: %s; Slurm's default placement is used", reason.c_str());
  }
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// Logs one line if ranks do not get what the mapping has for them.
void log_differences(const std::vector<std::uint32_t>& ranks, const std::vector<SlotChoice>& choices,
                     const NodeSlots& slots) {
  if (slots.gpus == NodeSlots::Gpus::kept || slots.gpus == NodeSlots::Gpus::left_to_slurm) {
    slurm_spank_log(
        "rankloom: the step does not have all GPUs and processing units of the mapping on %s; its ranks have %s",
        host_name().c_str(),
        slots.gpus == NodeSlots::Gpus::kept ? "Slurm's GPUs and processing units near them"
                                            : "the GPUs and processing units that Slurm chooses");
    return;
  }
  std::size_t unbound = 0, first = 0;
  for (std::size_t task = choices.size(); task-- > 0;) {
    if (choices[task].kind == SlotChoice::Kind::none || !slots.tasks[task].units.empty()) continue;
    ++unbound;
    first = task;
  }
  if (unbound == 0) return;
  slurm_spank_log(
      "rankloom: %zu of %zu ranks on %s are not bound, because they may not use their processing units (rank %u to %s)",
      unbound, choices.size(), host_name().c_str(), ranks[first], format_number_ranges(choices[first].values).c_str());
}

/// The value of a variable of the job, which programs do not see.
std::string take_variable(spank_t handle, const char* name) {
  std::array<char, PATH_MAX> value{};
  if (spank_getenv(handle, name, value.data(), static_cast<int>(value.size())) != ESPANK_SUCCESS) return {};
  spank_unsetenv(handle, name);
  return value.data();
}

/// On a node, before its ranks are created.
void prepare_recording(spank_t handle) {
  auto& recording = state().recording;
  recording.prefix = take_variable(handle, record_prefix_variable);
  recording.library = take_variable(handle, record_library_variable);
  if (recording.library.empty() || ::access(recording.library.c_str(), R_OK) == 0) return;
  slurm_spank_log("rankloom: the run is not recorded: %s has no file %s", host_name().c_str(),
                  recording.library.c_str());
  recording.library.clear();
}

void record_task(spank_t handle) {
  const auto& recording = state().recording;
  if (recording.library.empty()) return;
  std::array<char, 16384> others{};
  const bool preloads =
      spank_getenv(handle, "LD_PRELOAD", others.data(), static_cast<int>(others.size())) == ESPANK_SUCCESS &&
      others[0] != '\0';
  const std::string value = preloads ? recording.library + ":" + others.data() : recording.library;
  spank_setenv(handle, "LD_PRELOAD", value.c_str(), 1);
  spank_setenv(handle, "RANKLOOM_RECORD_OUT", recording.prefix.c_str(), 1);
}

/// In srun, after the step.
void store_recording() {
  Argv command;
  command.swap(state().store_recording);
  if (command.empty()) return;
  const auto result = rankloom::spank::query_program(command, state().time_limit);
  if (!result.succeeded && state().started) slurm_spank_log("rankloom: learn: %s", single_line(result.errors).c_str());
}

/// On a node, before its ranks are created: reads the slots of all ranks and decides what the ranks of the node get.
void prepare_node(spank_t handle) {
  State& node = state();
  char** environment = nullptr;
  if (spank_get_item(handle, S_JOB_ENV, &environment) != ESPANK_SUCCESS) return;
  std::vector<std::string> names;
  const std::vector<SlotChoice> slots = rankloom::spank::read_variables(environment, names);
  node.step.gpus = rankloom::spank::read_step_gpus(environment);
  std::array<char, 16> gpus_per_task{};
  if (spank_getenv(handle, gpus_per_task_variable, gpus_per_task.data(), static_cast<int>(gpus_per_task.size())) ==
      ESPANK_SUCCESS)
    node.step.gpus_per_task = static_cast<std::uint32_t>(std::strtoul(gpus_per_task.data(), nullptr, 10));
  names.emplace_back(gpus_per_task_variable);
  for (const std::string& name : names) spank_unsetenv(handle, name.c_str());
  if (slots.empty() && node.step.gpus_per_task == 0) return;
  node.step.allowed = rankloom::spank::allowed_units();
  char* cores = nullptr;
  if (spank_get_item(handle, S_STEP_ALLOC_CORES, &cores) == ESPANK_SUCCESS && cores != nullptr)
    node.step.cores = rankloom::spank::parse_units(cores);
  if (spank_get_item(handle, S_STEP_CPUS_PER_TASK, &node.step.cpus_per_task) != ESPANK_SUCCESS)
    node.step.cpus_per_task = 1;

  std::uint32_t tasks = 0;
  if (spank_get_item(handle, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS) return;
  std::vector<std::uint32_t> ranks(tasks);
  std::vector<SlotChoice> choices(tasks);
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if (spank_get_item(handle, S_JOB_LOCAL_TO_GLOBAL_ID, task, &ranks[task]) == ESPANK_SUCCESS &&
        ranks[task] < slots.size())
      choices[task] = slots[ranks[task]];
  }
  node.slots = rankloom::spank::assign_slots(choices, node.step);
  if (!slots.empty()) log_differences(ranks, choices, node.slots);
}

void bind_task(spank_t handle) {
  const State& node = state();
  int number = 0;
  if (spank_get_item(handle, S_TASK_ID, &number) != ESPANK_SUCCESS) return;
  const auto task = static_cast<std::size_t>(number);
  if (task >= node.slots.tasks.size()) return;
  const auto& [units, gpus] = node.slots.tasks[task];
  if (!units.empty() && !rankloom::spank::bind_to_units(units))
    slurm_spank_log("rankloom: rank %d of %s cannot be bound to the processing units %s: %s", number,
                    host_name().c_str(), format_number_ranges(units).c_str(), std::strerror(errno));
  if (gpus.empty()) return;
  const bool rocm = ::access("/dev/kfd", F_OK) == 0;
  for (const auto& [name, value] : rankloom::spank::gpu_variables(node.step.gpus, gpus, rocm)) {
    if (value) {
      spank_setenv(handle, name.c_str(), value->c_str(), 1);
    } else {
      spank_unsetenv(handle, name.c_str());
    }
  }
  // As Slurm and descriptions of machines number them.
  if (node.slots.gpus == NodeSlots::Gpus::mapped) spank_setenv(handle, "CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

/// Logs exceptions, which must not reach the C code of Slurm.
template <class Work>
int catch_exceptions(const Work& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    slurm_spank_log("rankloom: %s; Slurm's default placement is used", error.what());
  } catch (...) {
    slurm_spank_log("rankloom: unknown exception; Slurm's default placement is used");
  }
  return 0;
}

}  // namespace

extern "C" {

RANKLOOM_EXPORT extern const char plugin_name[] = "rankloom";
RANKLOOM_EXPORT extern const char plugin_type[] = "spank";
RANKLOOM_EXPORT extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
RANKLOOM_EXPORT extern const unsigned int spank_plugin_version = 1;

RANKLOOM_EXPORT int slurm_spank_init(spank_t handle, int count, char* arguments[]) {
  return catch_exceptions([&] {
    if (spank_option_register(handle, &option) != ESPANK_SUCCESS) return;
    if (spank_context() == S_CTX_LOCAL) prepare_srun(read_settings(count, arguments));
  });
}

/// srun has read its variables, so they are restored for the programs that it starts.
RANKLOOM_EXPORT int slurm_spank_init_post_opt(spank_t, int, char*[]) {
  return catch_exceptions([] {
    if (spank_context() != S_CTX_LOCAL || state().host_file < 0) return;
    for (const char* const name : {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", gpu_bind_variable, tres_bind_variable})
      restore_variable(name);
    ::close(state().host_file);
    state().host_file = -1;
  });
}

/// The step has been created. If its number of ranks differs from that of the mapping, no rank is bound.
RANKLOOM_EXPORT int slurm_spank_local_user_init(spank_t handle, int, char*[]) {
  return catch_exceptions([&] {
    state().started = true;
    std::uint32_t tasks = 0;
    if (state().ranks == 0 || spank_get_item(handle, S_JOB_TOTAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS) return;
    if (tasks == state().ranks) return;
    slurm_spank_log("rankloom: the step has %u ranks, but the mapping has %zu; no rank is bound", tasks, state().ranks);
    while (!state().before.empty()) restore_variable(std::string(state().before.begin()->first));
  });
}

RANKLOOM_EXPORT int slurm_spank_user_init(spank_t handle, int, char*[]) {
  return catch_exceptions([&] {
    if (spank_context() != S_CTX_REMOTE) return;
    prepare_recording(handle);
    prepare_node(handle);
  });
}

RANKLOOM_EXPORT int slurm_spank_task_init(spank_t handle, int, char*[]) {
  return catch_exceptions([&] {
    record_task(handle);
    bind_task(handle);
  });
}

RANKLOOM_EXPORT int slurm_spank_exit(spank_t, int, char*[]) {
  return catch_exceptions([] {
    if (spank_context() == S_CTX_LOCAL) store_recording();
  });
}
}
