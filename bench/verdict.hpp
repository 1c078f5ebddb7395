// SPDX-License-Identifier: Apache-2.0
// bench: how every benchmark ends: a line that people read, a JSON row that programs read, a status that scripts read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rankloom::bench {

inline int finish(std::string_view name, bool reached, std::string_view sentence, nlohmann::json figures) {
  fmt::print("{}: {}\n", reached ? "reached" : "MISSED", sentence);
  figures["benchmark"] = name;
  figures["reached"] = reached;
  fmt::print("{}\n", figures.dump());
  return reached ? 0 : 1;
}

/// Figures that must be reached, and what we aim at beyond them; a line each.
class Goals {
 public:
  void at_most(std::string_view what, std::optional<double> value, double must, double aim) {
    add(what, value, must, aim, [](double figure, double limit) { return figure <= limit; });
  }
  void at_least(std::string_view what, std::optional<double> value, double must, double aim) {
    add(what, value, must, aim, [](double figure, double limit) { return figure >= limit; });
  }
  bool reached() const { return reached_ == figures_.size(); }
  std::string sentence() const { return fmt::format("{} of {} figures that must be", reached_, figures_.size()); }
  const nlohmann::json& figures() const { return figures_; }

 private:
  /// A figure that was not measured is not reached.
  void add(std::string_view what, std::optional<double> value, double must, double aim,
           bool (*holds)(double figure, double limit)) {
    const auto word = [&](double limit) { return !value ? "-" : holds(*value, limit) ? "reached" : "MISSED"; };
    fmt::print("{:<72} {:>12}   must {:>8} {:<8} aim {:>8} {}\n", what,
               value ? fmt::format("{:.4f}", *value) : "not measured", must, word(must), aim, word(aim));
    figures_.push_back({{"what", what}, {"must", must}, {"aim", aim}});
    if (value) figures_.back()["value"] = *value;
    if (value && holds(*value, must)) ++reached_;
  }
  nlohmann::json figures_ = nlohmann::json::array();
  std::size_t reached_ = 0;
};

}  // namespace rankloom::bench
