// SPDX-License-Identifier: Apache-2.0
// place: what a user wrote behind `srun --rankloom=`.
#include "rankloom/place/slurm/request.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/units.hpp"

namespace rankloom {

namespace {

constexpr std::string_view strict_word = "strict:", map_word = "map:";

Failure wrong(std::string what, std::string hint) {
  return fail(Code::usage, at("--rankloom"), std::move(what), std::move(hint));
}

Result<void> set(StepRequest& request, std::string_view name, std::string_view value) {
  if (name == "mapper") {
    request.mapper = std::string(value);
    return {};
  }
  if (name == "bind" && (value == "core" || value == "none")) {
    request.bind = value == "core" ? EmitOptions::Bind::core : EmitOptions::Bind::none;
    return {};
  }
  if (name == "bind") return wrong(fmt::format("\"bind={}\" is not known", value), "one of: bind=core, bind=none");
  if (name == "budget") {
    constexpr double second = 1e9, longest = 3600 * second;
    const auto time = parse_nanoseconds(value, second);
    if (!time || *time < 1e6 || *time > longest)
      return wrong(fmt::format("\"{}\" is no time to map in", value), "a time up to an hour, such as 500ms or 2s");
    request.budget = std::chrono::milliseconds(static_cast<std::int64_t>(*time / 1e6));
    return {};
  }
  return wrong(fmt::format("\"{}\" is not known here", name),
               "behind the file may stand: bind=none, mapper=NAME, budget=2s and, as the last, topology=TOPOLOGY");
}

}  // namespace

bool is_strict(std::string_view text) {
  return text.starts_with(strict_word);
}

Result<StepRequest> parse_step_request(std::string_view text) {
  StepRequest request;
  if (text == "off") {
    request.off = true;
    return request;
  }
  if (text.starts_with(strict_word)) {
    request.strict = true;
    text.remove_prefix(strict_word.size());
  }
  if (text.starts_with(map_word)) {
    request.map = true;
    text.remove_prefix(map_word.size());
  }
  const std::size_t comma = std::min(text.find(','), text.size());
  request.file = std::string(text.substr(0, comma));
  if (request.file.empty())
    return wrong("no file is named", "write --rankloom=MAPPING, --rankloom=map:PROFILE or --rankloom=off");
  text.remove_prefix(comma);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      return wrong(fmt::format("\"{}\" has no value", text),
                   "write name=value; a file's name cannot hold a comma here");
    const std::string_view name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (name == "topology") {  // a topology string has commas of its own
      request.topology = std::string(text);
      break;
    }
    const std::size_t end = std::min(text.find(','), text.size());
    if (auto done = set(request, name, text.substr(0, end)); !done) return propagate(done);
    text.remove_prefix(end);
  }
  return request;
}

}  // namespace rankloom
