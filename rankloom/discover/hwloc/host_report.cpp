// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: encodes reports of hosts as lines and collects them again.
#include "rankloom/discover/hwloc/host_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

constexpr std::string_view line_prefix = "@rankloom-host";
constexpr std::size_t line_length = 512;
constexpr std::size_t piece_length = 400;
constexpr std::size_t max_pieces = 1'000'000;
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 without padding.
std::string encode(std::string_view text) {
  std::string encoded;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (bit_count += 8; bit_count >= 6; bit_count -= 6) encoded += digits[bits >> (bit_count - 6) & 63];
  }
  if (bit_count > 0) encoded += digits[bits << (6 - bit_count) & 63];
  return encoded;
}

std::string decode(std::string_view encoded) {
  std::string text;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : encoded) {
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c) & 63);
    if ((bit_count += 6) < 8) continue;
    bit_count -= 8;
    text += static_cast<char>(bits >> bit_count & 255);
  }
  return text;
}

/// FNV-1a. A line that the end of another one completes has the wrong sum.
std::uint32_t checksum(std::string_view id, std::size_t number, std::string_view piece) {
  std::uint32_t sum = 2166136261;
  for (const char c : fmt::format("{} {} {}", id, number, piece))
    sum = (sum ^ static_cast<unsigned char>(c)) * 16777619;
  return sum;
}

}  // namespace

std::string write_host_report(const HostReport& report) {
  const nlohmann::json json{{"host", report.host}, {"rank", report.rank}, {"machine", report.machine}};
  const std::string encoded = encode(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  const std::string id = fmt::format("{:.40}/{}", encode(report.host), report.rank);
  const std::size_t count = (encoded.size() + piece_length - 1) / piece_length;
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string piece = encoded.substr(i * piece_length, piece_length);
    std::string line = fmt::format("{} {} {} {} {} {:08x}", line_prefix, id, i, count, piece, checksum(id, i, piece));
    line.resize(line_length - 1, ' ');
    lines += line + '\n';
  }
  return lines;
}

bool HostReportCollector::add(std::string_view line) {
  auto begin = line.find(line_prefix);
  if (begin == std::string_view::npos) return false;
  while (begin != std::string_view::npos) {
    const auto next = line.find(line_prefix, begin + line_prefix.size());
    add_one(line.substr(begin, next - begin));
    begin = next;
  }
  return true;
}

void HostReportCollector::add_one(std::string_view line) {
  const auto tokens = split_at_blanks(line);
  const bool has_all = tokens.size() > 5;
  const auto number = has_all ? parse_index(tokens[2]) : std::nullopt;
  const auto count = has_all ? parse_size(tokens[3]) : std::nullopt;
  if (!number || !count || *number >= *count || *count > max_pieces ||
      tokens[5] != fmt::format("{:08x}", checksum(tokens[1], *number, tokens[4]))) {
    damaged_ = true;
    return;
  }
  PartialReport& report = partial_reports_[std::string(tokens[1])];
  report.count = std::max<std::size_t>(report.count, *count);
  report.lines[*number] = std::string(tokens[4]);
}

bool HostReportCollector::is_incomplete() const {
  return damaged_ || std::any_of(partial_reports_.begin(), partial_reports_.end(),
                                 [](const auto& entry) { return entry.second.lines.size() < entry.second.count; });
}

Result<std::vector<HostReport>> HostReportCollector::reports() const {
  if (partial_reports_.empty()) {
    return fail(
        Code::environment, at("launcher"), "no host sent a report",
        "check that the launcher can start `hostname`, and that rankloom is installed at the same path on all hosts");
  }
  std::vector<HostReport> all;
  for (const auto& [id, report] : partial_reports_) {
    std::string encoded;
    for (const auto& [number, piece] : report.lines) encoded += piece;
    const auto json = parse_json(std::string_view(decode(encoded)));
    const bool is_complete = report.lines.size() == report.count && json.is_object() && json.contains("host") &&
                             json["host"].is_string() && json.contains("rank") && json["rank"].is_number_unsigned() &&
                             json.contains("machine") && json["machine"].is_string();
    if (!is_complete) {
      return fail(Code::environment, at("launcher"),
                  fmt::format("only {} of {} lines of the report of a host arrived", report.lines.size(), report.count),
                  "start one process per host, and do not let the launcher split or merge lines");
    }
    all.push_back({json["host"], json["rank"], json["machine"]});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  std::vector<HostReport> first_per_host;
  for (HostReport& host_report : all) {
    const bool is_known = std::any_of(first_per_host.begin(), first_per_host.end(),
                                      [&](const auto& o) { return o.host == host_report.host; });
    if (!is_known) first_per_host.push_back(std::move(host_report));
  }
  return first_per_host;
}

}  // namespace rankloom
