// SPDX-License-Identifier: Apache-2.0
// map/peers: Scotch's objects.
#include "rankloom/map/external/scotch_library.hpp"

#include <fmt/format.h>

#include "rankloom/core/random.hpp"

// Scotch reports errors through these two functions, which the program may provide. Ours say nothing: the caller sees
// the status of the call that failed.
extern "C" {
void SCOTCH_errorPrint(const char* const, ...) {}
void SCOTCH_errorPrintW(const char* const, ...) {}
}

namespace rankloom {
namespace {

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Failure scotch_failure(std::string what) {
  return fail(Code::environment, at("scotch"), "Scotch " + std::move(what), "choose another mapper, such as metis");
}

ScotchSession::ScotchSession(std::uint64_t seed) : alone_(one_at_a_time()) {
  const auto number = static_cast<ScotchNumber>(mix(seed) >> 34);
  SCOTCH_randomSeed(number);
  SCOTCH_randomReset();
  sound_ = SCOTCH_contextInit(&context_) == 0 && SCOTCH_contextRandomClone(&context_) == 0 &&
           SCOTCH_contextThreadSpawn(&context_, 1, nullptr) == 0 &&
           SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1) == 0;
  if (sound_) SCOTCH_contextRandomSeed(&context_, number);
}

ScotchSession::~ScotchSession() {
  SCOTCH_contextExit(&context_);
}

Result<void> ScotchSession::check() const {
  if (SCOTCH_numSizeof() != static_cast<int>(sizeof(ScotchNumber))) {
    return fail(Code::environment, at("scotch"),
                fmt::format("the Scotch found at run time has numbers of {} bytes, not {}", SCOTCH_numSizeof(),
                            sizeof(ScotchNumber)),
                "put the library for which rankloom was built in front of LD_LIBRARY_PATH, or build again");
  }
  if (!sound_) return scotch_failure("could not be started");
  return {};
}

ScotchGraph::ScotchGraph(Rows rows) : rows_(std::move(rows)) {
  sound_ =
      SCOTCH_graphInit(&graph_) == 0 && SCOTCH_graphBuild(&graph_, 0, size(), rows_.offsets.data(), nullptr,
                                                          rows_.loads.empty() ? nullptr : rows_.loads.data(), nullptr,
                                                          static_cast<ScotchNumber>(rows_.neighbours.size()),
                                                          rows_.neighbours.data(), rows_.weights.data()) == 0;
}

ScotchGraph::~ScotchGraph() {
  SCOTCH_graphExit(&graph_);
}

Result<std::vector<ScotchNumber>> scotch_map(ScotchSession& session, ScotchGraph& graph, ScotchArch& target,
                                             ScotchStrategy& strategy) {
  if (!target.sound() || !strategy.sound()) return scotch_failure("could not take the problem");
  std::vector<ScotchNumber> terminal_of(static_cast<std::size_t>(graph.size()));
  const int status = session.with(graph, [&](SCOTCH_Graph* bound) {
    return SCOTCH_graphMap(bound, target.get(), strategy.get(), terminal_of.data());
  });
  if (status != 0) return scotch_failure("could not map the program");
  for (const ScotchNumber terminal : terminal_of) {
    if (terminal < 0 || terminal >= SCOTCH_archSize(target.get())) return scotch_failure("left ranks without a place");
  }
  return terminal_of;
}

}  // namespace rankloom
