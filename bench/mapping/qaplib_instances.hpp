// SPDX-License-Identifier: Apache-2.0
// bench/mapping: the instances of QAPLIB (Burkard, Çela, Karisch, Rendl) with their best known costs.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "rankloom/capture/import/import.hpp"

namespace rankloom::bench {

struct QaplibInstance {
  std::string name;
  double best_known;
  CommGraph graph;
  Topology machine;
};

/// The instances listed in best-known.txt of the directory, one per line as "name size cost"; # starts a comment.
inline Result<std::vector<QaplibInstance>> read_qaplib(const std::string& directory) {
  auto best_known = read_file(directory + "/best-known.txt");
  if (!best_known) return propagate(best_known);
  std::vector<QaplibInstance> instances;
  std::istringstream lines{std::string(best_known->view())};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream tokens(line);
    std::string name;
    std::size_t size = 0;
    double cost = 0;
    if (line.starts_with('#') || !(tokens >> name >> size >> cost)) continue;
    const std::string path = directory + "/" + name + ".dat";
    auto file = read_file(path);
    if (!file) return propagate(file);
    auto imported = import_profile(*file, "qaplib");
    if (!imported) return propagate(imported);
    if (!imported->topology) {
      return fail(Code::bad_input, at(path), "no distance matrix", "a QAPLIB file contains two matrices");
    }
    Topology machine = *imported->topology;
    instances.push_back({name, cost, traffic(std::move(imported->profile), CollectiveModel::none), std::move(machine)});
  }
  return instances;
}

}  // namespace rankloom::bench
