// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: workloads, the state database of an allocator, the settings of a scheduler plugin.
#include <fstream>

#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/allocate/scheduler/scheduler_view.hpp"
#include "rankloom/allocate/state/state_store.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "tests/fuzz/check_machine.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace rankloom::fuzz {

namespace {

void read_workload(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto workload = load_workload(file.path());
  if (!has_value(workload)) return;
  for (std::size_t i = 0; i < workload->jobs.size(); ++i) {
    const WorkloadJob& job = workload->jobs[i];
    expect(job.tasks >= 1 && job.run > 0 && job.estimate >= job.run, "a job has a size and a run time");
    expect(i == 0 || workload->jobs[i - 1].submit <= job.submit, "jobs are in the order of their submission");
  }
  (void)read_swf(file_of(write_swf(*workload)));
}

void read_state(std::string_view bytes) {
  static const auto directory = TemporaryDirectory::make();
  const std::string path = directory->file("state");
  std::ofstream(path, std::ios::binary) << bytes;
  auto store = StateStore::open(path);
  if (!has_value(store)) return;
  auto state = store->read();
  if (!has_value(state)) return;
  if (!is_small_machine(state->settings.machine)) return;
  has_value(restore(*std::move(state), path));
}

void read_settings(std::string_view bytes) {
  has_value(read_scheduler_settings(file_of(bytes)));
  (void)fallback_from_comment(bytes);
  (void)profile_from_comment(bytes);
  (void)file_of_step_request(bytes);
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  return {{"workload", read_workload, 3000}, {"state", read_state, 1000}, {"scheduler-settings", read_settings}};
}

}  // namespace rankloom::fuzz
