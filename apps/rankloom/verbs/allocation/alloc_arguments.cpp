// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: the options that the commands of `rankloom alloc` share.
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"

#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/place/joint/joint_model.hpp"

namespace rankloom::app {

void PolicyArguments::describe_policy(CLI::App& app, const std::string& help, bool several) {
  add_value(app, {"--policy", "POLICY", help, "policy"}, [this, several](std::string_view value) -> Result<void> {
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = several ? std::min(value.find(',', begin), value.size()) : value.size();
      const std::string_view text = value.substr(begin, end - begin);
      const std::size_t plus = several ? text.find('+') : std::string_view::npos;
      auto policy = find_policy(text.substr(0, plus));
      if (!policy) return propagate(policy);
      policies.push_back(*policy);
      mappers.emplace_back(plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1));
      begin = end + 1;
    }
    return {};
  });
}

void PolicyArguments::describe_exclusive(CLI::App& app) {
  add_value(
      app,
      {"--exclusive", "routers|links",
       "what two jobs must not share; by default links in fat trees, dragonflies and hierarchies of switches, routers "
       "in other networks",
       "policy"},
      [this](std::string_view value) -> Result<void> {
        if (value != "routers" && value != "links") return bad_value("--exclusive", value, "one of: routers, links");
        exclusive = value == "links" ? Exclusive::links : Exclusive::routers;
        return {};
      });
}

void PolicyArguments::describe_limits(CLI::App& app) {
  const auto add_fraction = [&](const char* name, const char* help, double& field) {
    add_value(app, {name, "X", help, "policy", format_value(field)},
              [name, &field](std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 0 || *number > 1000)
                  return bad_value(name, value, "a fraction of at least 0, such as 0.25");
                field = *number;
                return {};
              });
  };
  add_fraction("--waste",
               "closed-best in meshes: how many nodes a box may have beyond the request, as a fraction of it; two are "
               "always allowed",
               allocation.limits.waste);
  add_fraction(
      "--slack",
      "closed-best in meshes: the fraction by which the diameter of a box may exceed the minimum, if the box then "
      "packs better",
      allocation.limits.slack);
}

void PolicyArguments::describe_fallback(CLI::App& app) {
  add_value(app,
            {"--fallback", "wait|diameter|closed",
             "if the policy finds no nodes: wait; take close nodes, isolated or not; or take the isolated set with the "
             "fewest nodes, of any diameter",
             "policy", "wait"},
            [this](std::string_view value) -> Result<void> {
              for (const Fallback fallback : {Fallback::wait, Fallback::diameter, Fallback::isolated}) {
                if (name_of(fallback) != value) continue;
                allocation.fallback = fallback;
                return {};
              }
              return bad_value("--fallback", value, "one of: wait, diameter, closed");
            });
}

Result<std::vector<Application>> applications_of(const std::string& pattern_list) {
  std::vector<std::string> patterns = split_patterns(pattern_list);
  if (patterns.empty()) patterns.assign(default_job_patterns().begin(), default_job_patterns().end());
  auto applications = parse_applications(patterns);
  if (!applications) return applications;
  for (const Application& application : *applications) {
    if (auto graph = pattern_graph(application.pattern, 4); !graph) return propagate(graph);
  }
  return applications;
}

SetValue set_count(std::string option, std::uint64_t& field) {
  return [option = std::move(option), &field](std::string_view value) -> Result<void> {
    const auto number = parse_number(value);
    if (!number || *number < 1 || *number > 1e15 || *number != std::floor(*number))
      return bad_value(option, value, "a whole number of at least 1");
    field = static_cast<std::uint64_t>(*number);
    return {};
  };
}

}  // namespace rankloom::app
