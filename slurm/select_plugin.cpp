// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: a plugin select/cons_tres that wraps Slurm's own plugin of this name. It restricts the nodes of a job to those
// that rankloom selects; Slurm's plugin does everything else. It depends on Slurm's plugin as a library, so that Slurm
// finds all other functions there. Errors are logged, and Slurm then selects nodes as without rankloom.
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <slurm/slurm_errno.h>

#include "slurm/node_selector.hpp"

namespace {

using namespace rankloom;
using namespace rankloom::slurm;

// Values of the argument `mode` of select_p_job_test, the same in Slurm 22.05 to 26.05.
enum Mode : std::uint16_t { mode_base = 0x00ff, run_now = 0, test_only = 1, will_run = 2 };

/// A symbol of Slurm's own plugin, which is loaded because this plugin depends on it.
void* stock_symbol(const char* name) {
  void* const library = ::dlopen("select_cons_tres.so", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

template <class Function>
Function* stock_function(const char* name) {
  return reinterpret_cast<Function*>(stock_symbol(name));
}

template <class... Arguments>
int call_stock(const char* name, Arguments... arguments) {
  auto* const function = stock_function<int(Arguments...)>(name);
  return function == nullptr ? SLURM_ERROR : function(arguments...);
}

std::string other_release(std::uint32_t version) {
  return fmt::format(
      "this plugin was built for Slurm {}.{:02}, not for {}.{:02}: build rankloom with the headers of this release, or "
      "remove the directory of the plugin from PluginDir",
      SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
      SLURM_VERSION_MAJOR(version), SLURM_VERSION_MINOR(version));
}

/// The state of the plugin. slurmctld calls it from several threads.
struct State {
  std::recursive_mutex mutex;  ///< Recursive, because Slurm's own plugin may call functions of this one.
  std::optional<Controller> controller;
  std::optional<NodeSelector> selector;
  std::string last_error;  ///< Repeated errors are logged once.
  bool is_for_other_release = false;
};

State& state() {
  static State instance;  // Slurm passes no context to plugins
  return instance;
}

void log_error_once(State& plugin, const std::string& what) {
  if (!plugin.controller || plugin.last_error == what) return;
  plugin.last_error = what;
  std::string line = what;
  for (char& character : line) {
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  plugin.controller->error(line + "; Slurm selects nodes without rankloom");
}

void configure(State& plugin) {
  plugin.selector.reset();
  if (plugin.is_for_other_release) return;
  if (!plugin.controller) plugin.controller = Controller::find();
  if (!plugin.controller) return;  // another program of Slurm
  plugin.last_error.clear();
  auto selector = NodeSelector::make(*plugin.controller);
  if (!selector) return log_error_once(plugin, to_string(selector.error()));
  plugin.selector = std::move(*selector);
  plugin.controller->info("node selection: " + plugin.selector->summary());
}

void jobs_changed() {
  const std::lock_guard lock(state().mutex);
  if (state().selector) state().selector->jobs_changed();
}

/// A call of select_p_job_test, with a function that calls Slurm's own plugin for given nodes.
struct SelectRequest {
  Job* job;
  NodeCounts counts;
  std::uint16_t mode;
  NodeBitmap usable;
  JobList preemptable;
  std::function<int(const NodeBitmap&)> test_with_stock;
};

int select_nodes(NodeSelector& selector, const SelectRequest& request) {
  int result = ESLURM_NODES_BUSY;
  const auto accept = [&](const NodeBitmap& nodes) {
    return (result = request.test_with_stock(nodes)) == SLURM_SUCCESS;
  };
  const auto try_now = [&](NodeSelector::Purpose purpose) {
    return selector.try_now(request.job, request.usable, request.counts, purpose, accept) ||
           selector.try_preempting(request.job, request.usable, request.counts, purpose, request.preemptable, accept);
  };
  switch (request.mode & mode_base) {
    case run_now:
      return try_now(NodeSelector::Purpose::start) ? result : ESLURM_NODES_BUSY;
    case will_run:
      if (try_now(NodeSelector::Purpose::plan)) return result;
      return selector.try_later(request.job, request.usable, request.counts, accept) ? result : ESLURM_NODES_BUSY;
    case test_only:
      if (!selector.fits_empty_machine(request.job, request.usable, request.counts)) return SLURM_ERROR;
      [[fallthrough]];
    default:
      return request.test_with_stock(request.usable);
  }
}

}  // namespace

extern "C" {

int select_p_job_test(Job* job, bitstr_t* nodes, std::uint32_t min_nodes, std::uint32_t max_nodes,
                      std::uint32_t requested_nodes, std::uint16_t mode, JobList preemptable, JobList* preempted,
                      RANKLOOM_RESERVATION_PARAMETERS) {
  static auto* const test = stock_function<JobTest>("select_p_job_test");
  if (test == nullptr) return SLURM_ERROR;
  const auto test_with_stock = [&] {
    return test(job, nodes, min_nodes, max_nodes, requested_nodes, mode, preemptable, preempted,
                RANKLOOM_RESERVATION_ARGUMENTS);
  };
  State& plugin = state();
  const std::lock_guard lock(plugin.mutex);
  if (!plugin.selector || min_nodes == 0) return test_with_stock();
  const Controller& controller = *plugin.controller;
  NodeBitmap usable;
  try {
    usable = controller.read(nodes);
    // Slurm tests a job when it is submitted. Reading its profile then begins, and is not waited for.
    const bool may_wait = (mode & mode_base) != test_only;
    if (plugin.selector->applies_to(job, usable, may_wait)) {
      const SelectRequest request{
          job, {min_nodes, max_nodes, requested_nodes}, mode, usable, preemptable, [&](const NodeBitmap& chosen) {
            controller.write(nodes, chosen);
            return test_with_stock();
          }};
      const int result = select_nodes(*plugin.selector, request);
      // The requirements of the job, which may have been read meanwhile, can exclude it from our selection.
      if (result == SLURM_SUCCESS || plugin.selector->applies_to(job, usable, may_wait)) return result;
    }
  } catch (const std::exception& error) {
    log_error_once(plugin, error.what());
  } catch (...) {
    log_error_once(plugin, "an unknown exception");
  }
  if (!usable.empty()) controller.write(nodes, usable);
  return test_with_stock();
}

/// Called when a program of Slurm loads the plugin. Functions of another release have other arguments. Slurm compares
/// its release with that of its own plugin, whose `plugin_version` it finds here. After an error Slurm looks for its
/// own plugin in the other directories of PluginDir. That one may still call functions of this plugin, which stays
/// loaded.
int init() {
  const auto* const version = reinterpret_cast<const std::uint32_t*>(stock_symbol("plugin_version"));
  if (version == nullptr || minor_release(*version) != minor_release(SLURM_VERSION_NUMBER)) {
    using Log = void(const char*, ...);
    auto* const error = reinterpret_cast<Log*>(::dlsym(RTLD_DEFAULT, "slurm_error"));
    if (error != nullptr) error("rankloom: %s", other_release(version == nullptr ? 0 : *version).c_str());
    state().is_for_other_release = true;
    return SLURM_ERROR;
  }
  return call_stock("init");
}

/// Called when slurmctld starts and when it reads its configuration again.
int select_p_node_init() {
  const int result = call_stock("select_p_node_init");
  const std::lock_guard lock(state().mutex);
  try {
    configure(state());
  } catch (const std::exception& error) {
    log_error_once(state(), error.what());
  } catch (...) {
    log_error_once(state(), "an unknown exception");
  }
  return result;
}

int select_p_job_begin(void* job) {
  jobs_changed();
  return call_stock("select_p_job_begin", job);
}

int select_p_job_fini(void* job) {
  jobs_changed();
  return call_stock("select_p_job_fini", job);
}

int select_p_job_resized(void* job, void* node) {
  jobs_changed();
  return call_stock("select_p_job_resized", job, node);
}

int select_p_job_expand(void* from, void* to) {
  jobs_changed();
  return call_stock("select_p_job_expand", from, to);
}

int select_p_job_suspend(void* job, bool indefinitely) {
  jobs_changed();
  return call_stock("select_p_job_suspend", job, indefinitely);
}

int select_p_job_resume(void* job, bool indefinitely) {
  jobs_changed();
  return call_stock("select_p_job_resume", job, indefinitely);
}

int select_p_reconfigure() {
  jobs_changed();
  return call_stock("select_p_reconfigure");
}

}  // extern "C"
