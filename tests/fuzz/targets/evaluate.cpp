// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: the messages between rankloom and its simulator, and summaries of profiles.
#include <nlohmann/json.hpp>

#include "rankloom/evaluate/profile_summary.hpp"
#include "rankloom/evaluate/simulate/calibrate.hpp"
#include "rankloom/evaluate/simulate/simulation_request.hpp"
#include "rankloom/model/files/json.hpp"
#include "tests/fuzz/check_machine.hpp"
#include "tests/fuzz/check_profile.hpp"

namespace rankloom::fuzz {

namespace {

void read_simulation_request(std::string_view bytes) {
  const auto json = parse_json(bytes);
  if (json.is_object() && json.contains("machine") && !is_small_machine(dump_json(json["machine"]))) return;
  const auto request = read_request(file_of(bytes));
  if (!has_value(request)) return;
  for (const SimulatedJob& job : request->jobs) {
    for (const Core core : job.core_of) expect(index(core) < request->topology.core_count(), "a core exists");
  }
  const auto platform = Platform::of(request->topology, request->factors);
  if (!has_value(platform)) return;
  std::vector<Channel> channels;
  platform->route(Core{0}, Core{request->topology.core_count() - 1}, channels);
  for (const Channel channel : channels) expect(channel < platform->channel_count(), "a channel exists");
}

void read_simulation_result(std::string_view bytes) {
  const auto result = read_result(file_of(bytes));
  if (has_value(result)) expect(has_value(read_result(file_of(write_result(*result)))), "a written result is read");
}

void read_calibration_file(std::string_view bytes) {
  const auto factors = read_calibration(file_of(bytes));
  if (!has_value(factors)) return;
  for (const CostFactor& factor : *factors)
    expect(factor.inverse_bandwidth > 0 && factor.latency > 0, "a factor is above 0");
}

/// What `rankloom show` does with a profile.
void show_profile(std::string_view bytes) {
  const auto profile = read_profile(file_of(bytes));
  if (!has_value(profile) || profile->rank_count() > 128) return;
  for (const CollectiveModelInfo& info : collective_models()) has_value(summarise(*profile, info.model, 5));
  for (const Phase& phase : profile->phases) has_value(extract_phase(*profile, phase.name));
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  return {{"simulation-request", read_simulation_request},
          {"simulation-result", read_simulation_result},
          {"calibration", read_calibration_file},
          {"show", show_profile}};
}

}  // namespace rankloom::fuzz
