// SPDX-License-Identifier: Apache-2.0
// discover: reports of hosts as lines that launchers cannot break.
#include "rankloom/discover/hwloc/host_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/files/json_cursor.hpp"

namespace rankloom {

namespace {

constexpr std::string_view mark = "@rankloom-host";
constexpr std::size_t line_length = 512;
constexpr std::size_t piece_length = 400;
constexpr std::size_t most_pieces = 1'000'000;
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base 64 without the padding.
std::string encode(std::string_view text) {
  std::string coded;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) coded += digits[bits >> (held - 6) & 63];
  }
  if (held > 0) coded += digits[bits << (6 - held) & 63];
  return coded;
}

std::string decode(std::string_view coded) {
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : coded) {
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c) & 63);
    if ((held += 6) < 8) continue;
    held -= 8;
    text += static_cast<char>(bits >> held & 255);
  }
  return text;
}

}  // namespace

std::string write_report(const HostReport& report) {
  const nlohmann::json json{{"host", report.host}, {"rank", report.rank}, {"machine", report.machine}};
  const std::string coded = encode(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  const std::string id = fmt::format("{:.40}/{}", encode(report.host), report.rank);
  const std::size_t count = (coded.size() + piece_length - 1) / piece_length;
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = fmt::format("{} {} {} {} {}", mark, id, i, count, coded.substr(i * piece_length, piece_length));
    line.resize(line_length - 1, ' ');
    lines += line + '\n';
  }
  return lines;
}

bool ReportCollector::add(std::string_view line) {
  const auto begin = line.find(mark);
  if (begin == std::string_view::npos) return false;
  const auto words = split_at_blanks(line.substr(begin));
  if (words.size() < 5) return true;
  const auto number = parse_index(words[2]), count = parse_size(words[3]);
  if (!number || !count || *number >= *count || *count > most_pieces) return true;
  auto known = std::find_if(pieces_.begin(), pieces_.end(), [&](const Pieces& one) { return one.id == words[1]; });
  if (known == pieces_.end()) known = pieces_.insert(known, {std::string(words[1]), {}, 0});
  known->text.resize(std::max<std::size_t>(known->text.size(), *count));
  if (known->text[*number].empty()) ++known->got;
  known->text[*number] = std::string(words[4]);
  return true;
}

Result<std::vector<HostReport>> ReportCollector::reports() const {
  if (pieces_.empty()) {
    return fail(
        Code::environment, at("launcher"), "no host reported itself",
        "does the launcher work with `hostname` in the place of nothing, and is rankloom at the same path there?");
  }
  std::vector<HostReport> all;
  for (const Pieces& one : pieces_) {
    std::string coded;
    for (const std::string& piece : one.text) coded += piece;
    const auto json = parse_json(std::string_view(decode(coded)));
    const bool whole = one.got == one.text.size() && json.is_object() && json.contains("host") &&
                       json["host"].is_string() && json.contains("rank") && json["rank"].is_number_unsigned() &&
                       json.contains("machine") && json["machine"].is_string();
    if (!whole) {
      return fail(Code::environment, at("launcher"),
                  fmt::format("{} of {} lines of a host's report arrived", one.got, one.text.size()),
                  "start one process a host, and let the launcher keep lines whole");
    }
    all.push_back({json["host"], json["rank"], json["machine"]});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  std::vector<HostReport> one_each;
  for (HostReport& report : all) {
    const bool is_known =
        std::any_of(one_each.begin(), one_each.end(), [&](const auto& o) { return o.host == report.host; });
    if (!is_known) one_each.push_back(std::move(report));
  }
  return one_each;
}

}  // namespace rankloom
