// SPDX-License-Identifier: Apache-2.0
// map/peers: Scotch's objects, each freed by itself, and what holds for all use of Scotch: one caller at a time, one
// thread, random numbers from the seed, nothing printed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <vector>

#include <scotch.h>

#include "rankloom/core/result.hpp"

namespace rankloom {

using ScotchNumber = SCOTCH_Num;

/// An object of Scotch that lives at one address from its initialisation to its end.
template <class Object, int (*initialise)(Object*), void (*finish)(Object*)>
class ScotchObject {
 public:
  ScotchObject() : sound_(initialise(&object_) == 0) {}
  ~ScotchObject() {
    if (sound_) finish(&object_);
  }
  ScotchObject(const ScotchObject&) = delete;
  ScotchObject& operator=(const ScotchObject&) = delete;
  Object* get() { return &object_; }
  bool sound() const { return sound_; }

 private:
  Object object_;
  bool sound_;
};

using ScotchArch = ScotchObject<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using ScotchStrategy = ScotchObject<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

/// A graph in compressed rows, kept together with Scotch's view of it.
class ScotchGraph {
 public:
  struct Rows {
    std::vector<ScotchNumber> offsets{0};
    std::vector<ScotchNumber> neighbours;
    std::vector<ScotchNumber> weights;
    std::vector<ScotchNumber> loads;  ///< Empty: all 1.
  };
  explicit ScotchGraph(Rows rows);
  ~ScotchGraph();
  ScotchGraph(const ScotchGraph&) = delete;
  ScotchGraph& operator=(const ScotchGraph&) = delete;

  bool sound() const { return sound_; }
  ScotchNumber size() const { return static_cast<ScotchNumber>(rows_.offsets.size() - 1); }
  SCOTCH_Graph* get() { return &graph_; }

 private:
  Rows rows_;
  SCOTCH_Graph graph_;
  bool sound_;
};

/// While it lives, nobody else in this process uses Scotch, whose random numbers are global. Parts of Scotch that take
/// no context draw from the same seed.
class ScotchSession {
 public:
  explicit ScotchSession(std::uint64_t seed);
  ~ScotchSession();
  ScotchSession(const ScotchSession&) = delete;
  ScotchSession& operator=(const ScotchSession&) = delete;

  /// The library that was found at run time counts in the numbers for which this was compiled.
  Result<void> check() const;

  /// Calls the function with the graph bound to this session's one thread and random numbers; its status, or -1.
  template <class Function>
  int with(ScotchGraph& graph, const Function& function) {
    SCOTCH_Graph bound;
    if (!graph.sound() || SCOTCH_graphInit(&bound) != 0) return -1;
    const int status = SCOTCH_contextBindGraph(&context_, graph.get(), &bound) == 0 ? function(&bound) : -1;
    SCOTCH_graphExit(&bound);
    return status;
  }

 private:
  std::unique_lock<std::mutex> alone_;
  SCOTCH_Context context_;
  bool sound_ = false;
};

/// Which terminal of the target each vertex goes to.
Result<std::vector<ScotchNumber>> scotch_map(ScotchSession& session, ScotchGraph& graph, ScotchArch& target,
                                             ScotchStrategy& strategy);

/// What to say when Scotch refuses; `what` names the step.
Failure scotch_failure(std::string what);

}  // namespace rankloom
