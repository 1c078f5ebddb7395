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
    add(what, value, &must, aim, [](double figure, double limit) { return figure <= limit; });
  }
  void at_least(std::string_view what, std::optional<double> value, double must, double aim) {
    add(what, value, &must, aim, [](double figure, double limit) { return figure >= limit; });
  }
  /// An aim alone: missed, it does not count.
  void aim_at_most(std::string_view what, std::optional<double> value, double aim) {
    add(what, value, nullptr, aim, [](double figure, double limit) { return figure <= limit; });
  }
  bool reached() const { return reached_ == musts_; }
  std::string sentence() const { return fmt::format("{} of {} figures that must be", reached_, musts_); }
  const nlohmann::json& figures() const { return figures_; }

 private:
  /// A figure that was not measured is not reached.
  void add(std::string_view what, std::optional<double> value, const double* must, double aim,
           bool (*holds)(double figure, double limit)) {
    const auto judged = [&](const char* kind, double limit) {
      const char* const word = !value ? "-" : holds(*value, limit) ? "reached" : "MISSED";
      return fmt::format("{} {:<7.5g} {:<8}", kind, limit, word);
    };
    fmt::print("{:<74} {:>12}   {:<21} {}\n", what, value ? fmt::format("{:.4f}", *value) : "not measured",
               must != nullptr ? judged("must", *must) : "", judged("aim", aim));
    figures_.push_back({{"what", what}, {"aim", aim}});
    if (value) figures_.back()["value"] = *value;
    if (must == nullptr) return;
    figures_.back()["must"] = *must;
    ++musts_;
    if (value && holds(*value, *must)) ++reached_;
  }

  nlohmann::json figures_ = nlohmann::json::array();
  std::size_t musts_ = 0, reached_ = 0;
};

}  // namespace rankloom::bench
