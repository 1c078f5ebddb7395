// SPDX-License-Identifier: Apache-2.0
// place/slurm: the value of `srun --rankloom=`.
#include "rankloom/place/slurm/step_request.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

constexpr std::string_view strict_prefix = "strict:", map_prefix = "map:", learn_word = "learn";

Failure usage_error(std::string what, std::string hint) {
  return fail(Code::usage, at("--rankloom"), std::move(what), std::move(hint));
}

Result<void> set_option(StepRequest& request, std::string_view name, std::string_view value) {
  if (name == "mapper") {
    request.mapper = std::string(value);
    return {};
  }
  if (name == "mpi" && request.learn) {
    request.mpi = std::string(value);
    return {};
  }
  if (name == "bind" && (value == "core" || value == "none")) {
    request.bind = value == "core" ? EmitOptions::Bind::core : EmitOptions::Bind::none;
    return {};
  }
  if (name == "bind")
    return usage_error(fmt::format("\"bind={}\" is not a known binding", value), "use bind=core or bind=none");
  if (name == "budget") {
    constexpr double second = 1e9, max_budget = 3600 * second;
    const auto time = parse_nanoseconds(value, second);
    if (!time || *time < 1e6 || *time > max_budget)
      return usage_error(fmt::format("\"{}\" is not a valid time budget", value),
                         "give a time from 1ms to 3600s, such as 500ms or 2s");
    request.budget = std::chrono::milliseconds(static_cast<std::int64_t>(*time / 1e6));
    return {};
  }
  return usage_error(
      fmt::format("\"{}\" is not a known option", name),
      "options after the file: bind=none, mapper=NAME, budget=2s and, as the last one, topology=TOPOLOGY");
}

}  // namespace

bool is_strict(std::string_view text) {
  return text.starts_with(strict_prefix);
}

Result<StepRequest> parse_step_request(std::string_view text) {
  StepRequest request;
  if (text == "off") {
    request.off = true;
    return request;
  }
  if (text.starts_with(strict_prefix)) {
    request.strict = true;
    text.remove_prefix(strict_prefix.size());
  }
  if (text.starts_with(map_prefix)) {
    request.map = true;
    text.remove_prefix(map_prefix.size());
  }
  const std::size_t comma = std::min(text.find(','), text.size());
  request.file = std::string(text.substr(0, comma));
  request.learn = request.file == learn_word && !request.map;
  if (request.learn && request.strict)
    return usage_error("the first run of a job has no mapping, so \"learn\" cannot be strict",
                       "write --rankloom=learn, or --rankloom=strict:./learn for a file of this name");
  if (request.file.empty())
    return usage_error("the file name is missing",
                       "write --rankloom=MAPPING, --rankloom=map:PROFILE, --rankloom=learn or --rankloom=off");
  text.remove_prefix(comma);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      return usage_error(fmt::format("\"{}\" has no value", text),
                         "write name=value; the file name must not contain a comma");
    const std::string_view name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (name == "topology") {  // a topology string may contain commas
      request.topology = std::string(text);
      break;
    }
    const std::size_t end = std::min(text.find(','), text.size());
    if (auto done = set_option(request, name, text.substr(0, end)); !done) return propagate(done);
    text.remove_prefix(end);
  }
  return request;
}

}  // namespace rankloom
