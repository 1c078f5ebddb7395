// SPDX-License-Identifier: Apache-2.0
// model/files: mapping files.
#include "rankloom/model/files/mapping_file.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/text/scanner.hpp"
#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t max_core = std::numeric_limits<std::uint32_t>::max();

Failure not_a_core(Where where, std::string_view token) {
  return fail(Code::bad_input, std::move(where), fmt::format("\"{}\" is not a core number", token),
              "a mapping contains one core number per rank, counted from 0");
}

Result<std::vector<Core>> read_plain(const FileContents& file) {
  std::vector<Core> core_of;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    if (in.next_is('#')) {
      in.skip_line();
      continue;
    }
    std::uint64_t core = 0;
    const Scanner before = in;
    if (!in.take_integer(core) || core > max_core)
      return not_a_core(at(file.name(), before.line()), before.token_for_message());
    in.skip_blanks();
    if (!in.at_line_end()) {
      return fail(Code::bad_input, at(file.name(), in.line()),
                  fmt::format("\"{}\" follows the core number", in.token_for_message()),
                  "write one core number per line, line i for rank i");
    }
    core_of.push_back(Core{static_cast<std::uint32_t>(core)});
  }
  return core_of;
}

Result<std::vector<Core>> read_json(const FileContents& file) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  const Json& parsed = *json;
  const bool has_key = parsed.is_object() && parsed.contains("mapping");
  const Json& list = has_key ? parsed.at("mapping") : parsed;
  if (!list.is_array()) {
    return fail(Code::bad_input, at(file.name()), "the key \"mapping\" with a list of cores is missing",
                "use the JSON output of `rankloom map --format json`, or one core number per line");
  }
  std::vector<Core> core_of;
  core_of.reserve(list.size());
  for (const Json& entry : list) {
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() > max_core) {
      auto failure = not_a_core(at(file.name()), dump_json(entry).substr(0, 32));
      failure.value().what += fmt::format(" (rank {})", core_of.size());
      return failure;
    }
    core_of.push_back(Core{entry.get<std::uint32_t>()});
  }
  return core_of;
}

}  // namespace

Result<std::vector<Core>> read_mapping(const FileContents& file) {
  Scanner in(file.view());
  in.skip_space();
  auto core_of = in.next_is('{') || in.next_is('[') ? read_json(file) : read_plain(file);
  if (core_of && core_of->empty()) {
    return fail(Code::bad_input, at(file.name()), "no core numbers in this file",
                "a mapping contains one core number per line, line i for rank i");
  }
  return core_of;
}

void write_plain_mapping(std::span<const Core> core_of, Sink& sink) {
  fmt::memory_buffer text;
  for (const Core core : core_of) {
    fmt::format_to(std::back_inserter(text), "{}\n", index(core));
    if (text.size() < (1 << 16)) continue;
    sink.write({text.data(), text.size()});
    text.clear();
  }
  sink.write({text.data(), text.size()});
}

}  // namespace rankloom
