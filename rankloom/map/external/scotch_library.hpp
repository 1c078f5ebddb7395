// SPDX-License-Identifier: Apache-2.0
// map/external: RAII wrappers of Scotch's objects, and the rules for every use of Scotch: one caller at a time, one
// thread, random numbers from the seed, no output.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <vector>

#include <scotch.h>

#include "rankloom/core/result.hpp"

namespace rankloom {

using ScotchNumber = SCOTCH_Num;

/// A Scotch object with a fixed address from its initialisation to its end.
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

/// A graph in compressed rows, together with the SCOTCH_Graph that refers to it.
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

/// Exclusive use of Scotch within the process, because the state of its random numbers is global. Functions of Scotch
/// without a context use the same seed.
class ScotchSession {
 public:
  explicit ScotchSession(std::uint64_t seed);
  ~ScotchSession();
  ScotchSession(const ScotchSession&) = delete;
  ScotchSession& operator=(const ScotchSession&) = delete;

  /// Checks that the library found at run time has the number size of the build.
  Result<void> check() const;

  /// Calls the function with the graph bound to this session's thread and random numbers; returns its status, or -1.
  template <class Function>
  int with(ScotchGraph& graph, const Function& function) {
    SCOTCH_Graph bound;
    if (!graph.sound() || SCOTCH_graphInit(&bound) != 0) return -1;
    const int status = SCOTCH_contextBindGraph(&context_, graph.get(), &bound) == 0 ? function(&bound) : -1;
    SCOTCH_graphExit(&bound);
    return status;
  }

 private:
  std::unique_lock<std::mutex> lock_;
  SCOTCH_Context context_;
  bool sound_ = false;
};

/// The terminal of the target for each vertex.
Result<std::vector<ScotchNumber>> scotch_map(ScotchSession& session, ScotchGraph& graph, ScotchArch& target,
                                             ScotchStrategy& strategy);

/// The error for a failed call; `what` completes the sentence "Scotch ...".
Failure scotch_failure(std::string what);

}  // namespace rankloom
