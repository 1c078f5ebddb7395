// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: how verbs write the profiles that they produce.
#include "apps/rankloom/verbs/profile/profile_output.hpp"

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view binary_format = "native";
constexpr std::string_view text_format = "pairs";

std::string writable_names(std::string_view separator) {
  std::string names;
  for (const FormatInfo& row : formats()) {
    if (row.write != nullptr) names += fmt::format("{}{}", names.empty() ? "" : separator, row.name);
  }
  return names;
}

}  // namespace

void ProfileOutput::describe(CLI::App& app) {
  add_text(app,
           {"-o,--output", "FILE", "the file to write the profile to; by default text to standard output", "output"},
           output);
  add_value(app,
            {"--to", writable_names("|"),
             fmt::format("the format to write; by default {} into a file and {} to standard output", binary_format,
                         text_format),
             "output"},
            [this](std::string_view value) -> Result<void> {
              const FormatInfo* const format = find_format(value);
              if (format == nullptr || format->write == nullptr)
                return bad_value("--to", value, fmt::format("one of: {}", writable_names(", ")));
              to = std::string(value);
              return {};
            });
}

const FormatInfo* ProfileOutput::format() const {
  if (!to.empty()) return find_format(to);
  return find_format(to_standard_output() ? text_format : binary_format);
}

Result<void> ProfileOutput::check(const Session& session) const {
  if (session.json && to_standard_output()) {
    return fail(Code::usage, at("--json"), "the profile and the JSON object cannot both go to standard output",
                "add -o FILE");
  }
  if (to_standard_output() && session.out_is_terminal && format()->name == binary_format) {
    return fail(Code::usage, at("--to"), "a binary profile cannot be shown in a terminal",
                "add -o FILE, or --to pairs");
  }
  return check_output(output);
}

Result<int> ProfileOutput::write(const Session& session, const Profile& profile, std::string_view source) const {
  const FormatInfo* const target = format();
  auto written = write_file(or_standard_output(output), [&](Sink& sink) { return target->write(profile, sink); });
  if (!written) return propagate(written);
  if (to_standard_output()) return success;
  const CommGraph& graph = profile.point_to_point;
  if (session.json) {
    print_json(Json{{"output", output},
                    {"format", target->name},
                    {"source", source},
                    {"ranks", profile.rank_count()},
                    {"edges", graph.edge_count()},
                    {"bytes", graph.total_bytes()},
                    {"messages", graph.total_messages()},
                    {"collectives", profile.collectives.size()}});
  } else {
    const std::string collectives =
        profile.collectives.empty() ? "" : fmt::format(", {}", counted(profile.collectives.size(), "collective"));
    print(fmt::format("{}: {}, {}, {}{} from {}, written as {}\n", output, counted(profile.rank_count(), "rank"),
                      counted(graph.edge_count(), "edge"), format_bytes(graph.total_bytes()), collectives, source,
                      target->name));
  }
  return success;
}

}  // namespace rankloom::app
