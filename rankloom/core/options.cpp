// SPDX-License-Identifier: Apache-2.0
// core: options that describe themselves.
#include "rankloom/core/options.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

Failure bad_value(std::string_view name, std::string_view value, std::string hint) {
  return fail(Code::usage, at(fmt::format("--{}", name)), fmt::format("invalid value '{}'", value), std::move(hint));
}

}  // namespace

void OptionList::count(std::string name, std::uint64_t& field, std::string help, std::uint64_t min, std::uint64_t max) {
  auto set = [name, &field, min, max](std::string_view value) -> Result<void> {
    std::uint64_t parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || end != value.data() + value.size() || parsed < min || parsed > max) {
      const bool bounded = max != std::numeric_limits<std::uint64_t>::max();
      return bad_value(name, value,
                       bounded ? fmt::format("a whole number from {} to {}", min, max)
                               : fmt::format("a whole number, at least {}", min));
    }
    field = parsed;
    return {};
  };
  options_.push_back({std::move(name), std::move(help), "N", fmt::format("{}", field), {}, std::move(set)});
}

void OptionList::number(std::string name, double& field, std::string help, double min, double max) {
  auto set = [name, &field, min, max](std::string_view value) -> Result<void> {
    const auto parsed = parse_number(value);
    if (!parsed || *parsed < min || *parsed > max)
      return bad_value(name, value, fmt::format("a number from {} to {}", min, max));
    field = *parsed;
    return {};
  };
  options_.push_back({std::move(name), std::move(help), "X", fmt::format("{}", field), {}, std::move(set)});
}

void OptionList::bytes(std::string name, double& field, std::string help) {
  auto set = [name, &field](std::string_view value) -> Result<void> {
    const auto parsed = parse_bytes(value);
    if (!parsed || *parsed < 0 || *parsed > 1e100) return bad_value(name, value, "a size such as 64, 4k, 60MB or 4KiB");
    field = *parsed;
    return {};
  };
  options_.push_back({std::move(name), std::move(help), "BYTES", fmt::format("{}", field), {}, std::move(set)});
}

void OptionList::flag(std::string name, bool& field, std::string help) {
  auto set = [name, &field](std::string_view value) -> Result<void> {
    if (value != "true" && value != "false" && !value.empty()) return bad_value(name, value, "true or false");
    field = value != "false";
    return {};
  };
  options_.push_back({std::move(name), std::move(help), "", field ? "true" : "false", {}, std::move(set)});
}

void OptionList::text(std::string name, std::string& field, std::string value_name, std::string help) {
  auto set = [&field](std::string_view value) -> Result<void> {
    field = std::string(value);
    return {};
  };
  options_.push_back({std::move(name), std::move(help), std::move(value_name), field, {}, std::move(set)});
}

void OptionList::add_choice(std::string name, std::vector<std::string> names, std::string current, std::string help,
                            std::function<void(std::size_t)> choose) {
  auto set = [name, names, choose = std::move(choose)](std::string_view value) -> Result<void> {
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) return bad_value(name, value, fmt::format("one of: {}", fmt::join(names, ", ")));
    choose(static_cast<std::size_t>(found - names.begin()));
    return {};
  };
  std::string value_name = fmt::format("{}", fmt::join(names, "|"));
  options_.push_back(
      {std::move(name), std::move(help), std::move(value_name), std::move(current), std::move(names), std::move(set)});
}

const Option* OptionList::find(std::string_view name) const {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const Option& option) { return option.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

Result<void> OptionList::set(std::string_view name, std::string_view value, std::string_view owner) const {
  const Option* const option = find(name);
  if (option != nullptr) return option->set(value);
  std::vector<std::string> names;
  for (const Option& known : options_) names.push_back(known.name);
  return fail(Code::usage, at(std::string(owner)), fmt::format("unknown option '{}'", name),
              names.empty() ? "there are no options" : fmt::format("options: {}", fmt::join(names, ", ")));
}

Result<void> OptionList::set_all(std::string_view assignments, std::string_view owner) const {
  while (!assignments.empty()) {
    const std::string_view assignment = assignments.substr(0, assignments.find(','));
    assignments.remove_prefix(std::min(assignments.size(), assignment.size() + 1));
    if (assignment.empty()) continue;
    const auto equals = assignment.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : assignment.substr(equals + 1);
    auto done = set(assignment.substr(0, equals), value, owner);
    if (!done) return done;
  }
  return {};
}

}  // namespace rankloom
