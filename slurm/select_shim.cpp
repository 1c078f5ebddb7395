// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: a select/cons_tres that stands before Slurm's own: it narrows the nodes that a job may have to those that
// rankloom chooses, and lets Slurm's plugin do everything else. It depends on that plugin as a library, so that Slurm
// finds there every function that is not here. Whatever goes wrong here is logged, and Slurm does as it does without.
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <slurm/slurm_errno.h>

#include "slurm/chooser.hpp"

namespace {

using namespace rankloom;
using namespace rankloom::slurm;

// Values of the argument `mode` of select_p_job_test, of Slurm 22.05.
enum Mode : std::uint16_t { mode_base = 0x00ff, run_now = 0, test_only = 1, will_run = 2 };

/// A function of Slurm's own plugin, which is loaded since this one depends on it.
template <class Function>
Function* stock(const char* name) {
  void* const plugin = ::dlopen("select_cons_tres.so", RTLD_LAZY | RTLD_NOLOAD);
  return plugin == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(plugin, name));
}

template <class... Arguments>
int call_stock(const char* name, Arguments... arguments) {
  auto* const function = stock<int(Arguments...)>(name);
  return function == nullptr ? SLURM_ERROR : function(arguments...);
}

/// All that the plugin keeps: slurmctld calls from several threads.
struct State {
  std::mutex mutex;
  std::optional<Controller> controller;
  std::optional<Chooser> chooser;
  std::string said;  ///< The last complaint, so that it is made once.
};

State& state() {
  static State only;  // a plugin of C has no other place for what it keeps between calls
  return only;
}

void complain(State& own, const std::string& what) {
  if (!own.controller || own.said == what) return;
  own.said = what;
  std::string line = what;
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  own.controller->error(line + "; nodes are chosen as Slurm does it without rankloom");
}

void configure(State& own) {
  own.chooser.reset();
  if (!own.controller) own.controller = Controller::find();
  if (!own.controller) return;  // a command of Slurm, not slurmctld
  own.said.clear();
  auto made = Chooser::make(*own.controller);
  if (!made) return complain(own, to_string(made.error()));
  own.chooser = std::move(*made);
  own.controller->info("choosing nodes: " + own.chooser->summary());
}

void jobs_changed() {
  const std::lock_guard lock(state().mutex);
  if (state().chooser) state().chooser->jobs_changed();
}

/// One question of Slurm's, with a way to ask its own plugin for these very nodes.
struct Question {
  Job* job;
  NodeCounts counts;
  std::uint16_t mode;
  NodeBits usable;
  std::function<int(const NodeBits&)> ask_stock;
};

int answer(Chooser& chooser, const Question& question) {
  int result = ESLURM_NODES_BUSY;
  const auto take = [&](const NodeBits& nodes) { return (result = question.ask_stock(nodes)) == SLURM_SUCCESS; };
  switch (question.mode & mode_base) {
    case run_now:
      return chooser.offer_now(question.job, question.usable, question.counts, Chooser::Ask::start, take)
                 ? result
                 : ESLURM_NODES_BUSY;
    case will_run:
      if (chooser.offer_now(question.job, question.usable, question.counts, Chooser::Ask::plan, take)) return result;
      return chooser.offer_later(question.job, question.usable, question.counts, take) ? result : ESLURM_NODES_BUSY;
    case test_only:
      if (!chooser.can_ever_run(question.job, question.usable, question.counts)) return SLURM_ERROR;
      [[fallthrough]];
    default:
      return question.ask_stock(question.usable);
  }
}

}  // namespace

extern "C" {

int select_p_job_test(void* job, bitstr_t* nodes, std::uint32_t least, std::uint32_t most, std::uint32_t wanted,
                      std::uint16_t mode, List preemptable, List* preempted, bitstr_t* excluded_cores) {
  using JobTest =
      int(void*, bitstr_t*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t, List, List*, bitstr_t*);
  static auto* const test = stock<JobTest>("select_p_job_test");
  if (test == nullptr) return SLURM_ERROR;
  State& own = state();
  const std::lock_guard lock(own.mutex);
  if (!own.chooser || least == 0)
    return test(job, nodes, least, most, wanted, mode, preemptable, preempted, excluded_cores);
  const Controller& controller = *own.controller;
  NodeBits usable;
  try {
    usable = controller.read(nodes);
    if (own.chooser->concerns(job, usable)) {
      const Question question{job, {least, most, wanted}, mode, usable, [&](const NodeBits& chosen) {
                                controller.write(nodes, chosen);
                                return test(job, nodes, least, most, wanted, mode, preemptable, preempted,
                                            excluded_cores);
                              }};
      const int result = answer(*own.chooser, question);
      // Asked for the job's demands, it may turn out to be none of ours.
      if (result == SLURM_SUCCESS || own.chooser->concerns(job, usable)) return result;
    }
  } catch (const std::exception& surprise) {
    complain(own, surprise.what());
  } catch (...) {
    complain(own, "an unknown exception");
  }
  if (!usable.empty()) controller.write(nodes, usable);
  return test(job, nodes, least, most, wanted, mode, preemptable, preempted, excluded_cores);
}

/// Called when slurmctld starts and when it reads its configuration anew.
int select_p_node_init() {
  const int result = call_stock("select_p_node_init");
  const std::lock_guard lock(state().mutex);
  try {
    configure(state());
  } catch (const std::exception& surprise) {
    complain(state(), surprise.what());
  } catch (...) {
    complain(state(), "an unknown exception");
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
