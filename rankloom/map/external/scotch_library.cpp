// SPDX-License-Identifier: Apache-2.0
// map/external: RAII wrappers of Scotch's objects.
#include "rankloom/map/external/scotch_library.hpp"

#include <fmt/format.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"

// Scotch reports errors through these two functions, which the program may define. These definitions print nothing: the
// caller checks the status of each call.
extern "C" {
void SCOTCH_errorPrint(const char* const, ...) {}
void SCOTCH_errorPrintW(const char* const, ...) {}
}

namespace rankloom {
namespace {

std::mutex& scotch_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Failure scotch_failure(std::string what) {
  return fail(Code::environment, at("scotch"), "Scotch " + std::move(what), "choose another mapper, such as metis");
}

ScotchSession::ScotchSession(std::uint64_t seed) : lock_(scotch_mutex()) {
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
    return fail(
        Code::environment, at("scotch"),
        fmt::format("the Scotch library found at run time has numbers of {} bytes instead of {}", SCOTCH_numSizeof(),
                    sizeof(ScotchNumber)),
        "put the directory of the library used at build time first in LD_LIBRARY_PATH, or build rankloom again");
  }
  if (!sound_) return scotch_failure("failed to initialise");
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
  const TimedSection timing("Scotch");
  if (!target.sound() || !strategy.sound())
    return scotch_failure("failed to create the target architecture or the strategy");
  std::vector<ScotchNumber> terminal_of(static_cast<std::size_t>(graph.size()));
  const int status = session.with(graph, [&](SCOTCH_Graph* bound) {
    return SCOTCH_graphMap(bound, target.get(), strategy.get(), terminal_of.data());
  });
  if (status != 0) return scotch_failure("failed to map the program");
  for (const ScotchNumber terminal : terminal_of) {
    if (terminal < 0 || terminal >= SCOTCH_archSize(target.get())) return scotch_failure("left ranks unmapped");
  }
  return terminal_of;
}

}  // namespace rankloom
