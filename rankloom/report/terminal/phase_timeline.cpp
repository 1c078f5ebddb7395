// SPDX-License-Identifier: Apache-2.0
// report/terminal: phases of a run as a line of letters.
#include "rankloom/report/terminal/phase_timeline.hpp"

#include <algorithm>

#include "rankloom/place/online/online_log.hpp"

namespace rankloom {

std::string phase_timeline(const std::vector<OnlinePhase>& phases, const std::vector<double>& moves, double seconds,
                           std::size_t width, std::size_t indent) {
  if (seconds <= 0 || phases.empty()) return {};
  std::string letters(width, '.'), marks(width, ' ');
  const auto column = [&](double time) {
    return std::min(width - 1, static_cast<std::size_t>(std::max(0.0, time / seconds) * static_cast<double>(width)));
  };
  for (const OnlinePhase& phase : phases) {
    for (std::size_t at = column(phase.begin); at <= column(std::max(phase.begin, phase.end - 1e-9)); ++at)
      letters[at] = phase_kind_name(phase.kind).front();
  }
  for (const double time : moves) marks[column(time - 1e-9)] = '^';
  while (!marks.empty() && marks.back() == ' ') marks.pop_back();
  const std::string margin(indent, ' ');
  return margin + letters + "\n" + (marks.empty() ? "" : margin + marks + "\n");
}

}  // namespace rankloom
