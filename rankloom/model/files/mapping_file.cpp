// SPDX-License-Identifier: Apache-2.0
// model/files: mapping files.
#include "rankloom/model/files/mapping_file.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

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

/// The numbers after an option in a comment, "# --cores-per-rank 4". Nothing if there are none within the limits.
std::optional<RankNumbers> numbers_after(std::string_view option, std::string_view comment, std::uint32_t max) {
  const std::size_t begin = comment.find(option);
  if (begin == std::string_view::npos) return std::nullopt;
  Scanner in(comment.substr(begin + option.size()));
  in.skip_blanks();
  return RankNumbers::parse(in.take_token(), max);
}

Result<MappingFile> read_plain(const FileContents& file) {
  MappingFile mapping;
  std::vector<Core>& core_of = mapping.core_of;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    if (in.next_is('#')) {
      const std::string_view comment = in.take_line();
      if (!core_of.empty()) continue;
      SlotNumbers numbers;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = numbers_after(slot_numbers[i].option, comment, slot_numbers[i].max);
      mapping.shapes = SlotShapes::combine(numbers, mapping.shapes);
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
  return mapping;
}

/// Numbers of ranks in the JSON object: 4, or "4x8,16x1". Nothing if the key is absent.
Result<std::optional<RankNumbers>> read_numbers(const FileContents& file, const Json& object, const SlotNumber& kind) {
  const auto found = object.find(kind.key);
  if (found == object.end()) return std::nullopt;
  std::optional<RankNumbers> numbers;
  if (found->is_string()) numbers = RankNumbers::parse(found->get<std::string>(), kind.max);
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > 0 && found->get<std::uint64_t>() <= kind.max)
    numbers = RankNumbers(found->get<std::uint32_t>());
  if (numbers) return numbers;
  return fail(Code::bad_input, at(file.name()),
              fmt::format("\"{}\" is not a number from 1 to {}, or a list such as \"4x8,16x1\"", kind.key, kind.max),
              "use the JSON output of `rankloom map --format json`");
}

Result<MappingFile> read_json(const FileContents& file) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  const Json& parsed = *json;
  const bool has_key = parsed.is_object() && parsed.contains("mapping");
  const Json& list = has_key ? parsed.at("mapping") : parsed;
  if (!list.is_array()) {
    return fail(Code::bad_input, at(file.name()), "the key \"mapping\" with a list of cores is missing",
                "use the JSON output of `rankloom map --format json`, or one core number per line");
  }
  MappingFile mapping;
  if (has_key) {
    SlotNumbers numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto read = read_numbers(file, parsed, slot_numbers[i]);
      if (!read) return propagate(read);
      numbers[i] = std::move(*read);
    }
    mapping.shapes = SlotShapes::combine(numbers, {});
  }
  std::vector<Core>& core_of = mapping.core_of;
  core_of.reserve(list.size());
  for (const Json& entry : list) {
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() > max_core) {
      auto failure = not_a_core(at(file.name()), dump_json(entry).substr(0, 32));
      failure.value().what += fmt::format(" (rank {})", core_of.size());
      return failure;
    }
    core_of.push_back(Core{entry.get<std::uint32_t>()});
  }
  return mapping;
}

}  // namespace

Result<MappingFile> read_mapping(const FileContents& file) {
  Scanner in(file.view());
  in.skip_space();
  auto mapping = in.next_is('{') || in.next_is('[') ? read_json(file) : read_plain(file);
  if (mapping && mapping->core_of.empty()) {
    return fail(Code::bad_input, at(file.name()), "no core numbers in this file",
                "a mapping contains one core number per line, line i for rank i");
  }
  return mapping;
}

void write_plain_mapping(std::span<const Core> core_of, Sink& sink, const SlotShapes& shapes) {
  fmt::memory_buffer text;
  if (const std::string options = option_text(shapes); !options.empty())
    fmt::format_to(std::back_inserter(text), "# {}\n", options);
  for (const Core core : core_of) {
    fmt::format_to(std::back_inserter(text), "{}\n", index(core));
    if (text.size() < (1 << 16)) continue;
    sink.write({text.data(), text.size()});
    text.clear();
  }
  sink.write({text.data(), text.size()});
}

}  // namespace rankloom
