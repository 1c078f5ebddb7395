// SPDX-License-Identifier: Apache-2.0
// bench: the end of every benchmark: a verdict line for people, a JSON row for programs, an exit status for scripts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rankloom::bench {

inline int finish(std::string_view name, bool reached, std::string_view sentence, nlohmann::json figures) {
  fmt::print("{}: {}\n", reached ? "passed" : "FAILED", sentence);
  figures["benchmark"] = name;
  figures["reached"] = reached;
  fmt::print("{}\n", figures.dump());
  return reached ? 0 : 1;
}

/// Figures with a required value and a more ambitious target, one line each.
class Goals {
 public:
  void at_most(std::string_view what, std::optional<double> value, double must, double aim) {
    add(what, value, &must, aim, [](double figure, double limit) { return figure <= limit; });
  }
  void at_least(std::string_view what, std::optional<double> value, double must, double aim) {
    add(what, value, &must, aim, [](double figure, double limit) { return figure >= limit; });
  }
  /// A target without a required value; missing it does not fail the benchmark.
  void aim_at_most(std::string_view what, std::optional<double> value, double aim) {
    add(what, value, nullptr, aim, [](double figure, double limit) { return figure <= limit; });
  }
  bool reached() const { return reached_ == required_; }
  std::string sentence() const { return fmt::format("{} of {} required figures reached", reached_, required_); }
  const nlohmann::json& figures() const { return figures_; }

 private:
  /// A required figure that was not measured counts as not reached.
  void add(std::string_view what, std::optional<double> value, const double* must, double aim,
           bool (*holds)(double figure, double limit)) {
    const auto judged = [&](const char* kind, double limit) {
      const char* const word = !value ? "-" : holds(*value, limit) ? "yes" : "NO";
      return fmt::format("{} {:<7.5g} {:<3}", kind, limit, word);
    };
    fmt::print("{:<74} {:>12}   {:<21} {}\n", what, value ? fmt::format("{:.4f}", *value) : "not measured",
               must != nullptr ? judged("required", *must) : "", judged("target", aim));
    figures_.push_back({{"what", what}, {"aim", aim}});
    if (value) figures_.back()["value"] = *value;
    if (must == nullptr) return;
    figures_.back()["must"] = *must;
    ++required_;
    if (value && holds(*value, *must)) ++reached_;
  }

  nlohmann::json figures_ = nlohmann::json::array();
  std::size_t required_ = 0, reached_ = 0;
};

}  // namespace rankloom::bench
