// SPDX-License-Identifier: Apache-2.0
// allocate/workload: reads the jobs that Slurm's accounting lists: sacct --parsable2.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t bar = line.find('|');
    parts.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return parts;
    line.remove_prefix(bar + 1);
  }
}

/// 30 million years in seconds, as in the Standard Workload Format.
constexpr std::uint64_t max_number = 1'000'000'000'000'000;

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max_number) return std::nullopt;
  return value;
}

/// The numbers of a text with these separators: "2026-01-31T12:00:00" with "--T::".
std::optional<std::vector<std::uint64_t>> parse_parts(std::string_view text, std::string_view separators) {
  std::vector<std::uint64_t> parts;
  for (const char separator : separators) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) return std::nullopt;
    const auto part = parse_digits(text.substr(0, end));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    text.remove_prefix(end + 1);
  }
  const auto last = parse_digits(text);
  if (!last) return std::nullopt;
  parts.push_back(*last);
  return parts;
}

/// Days since 1970-01-01 in the Gregorian calendar; March is the first month of a year, so that leap days come last.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400, year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

/// "2026-01-31T12:00:00" in seconds, or the number of seconds itself (SLURM_TIME_FORMAT=%s); nothing for "Unknown".
std::optional<double> parse_time(std::string_view text) {
  if (const auto seconds = parse_digits(text)) return static_cast<double>(*seconds);
  const auto parts = parse_parts(text, "--T::");
  if (!parts || (*parts)[0] > 9999 || (*parts)[0] < 1 || (*parts)[1] < 1 || (*parts)[1] > 12 || (*parts)[2] > 31)
    return std::nullopt;
  const std::int64_t days =
      days_since_1970(static_cast<std::int64_t>((*parts)[0]), static_cast<std::int64_t>((*parts)[1]),
                      static_cast<std::int64_t>((*parts)[2]));
  return static_cast<double>(days) * 86'400 + static_cast<double>((*parts)[3]) * 3'600 +
         static_cast<double>((*parts)[4]) * 60 + static_cast<double>((*parts)[5]);
}

/// "1-12:00:00", "12:00:00" or "30:00" in seconds; nothing for "UNLIMITED".
std::optional<double> parse_duration(std::string_view text) {
  double days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto number = parse_digits(text.substr(0, dash));
    if (!number) return std::nullopt;
    days = static_cast<double>(*number);
    text.remove_prefix(dash + 1);
  }
  if (const auto parts = parse_parts(text, "::"))
    return days * 86'400 + static_cast<double>((*parts)[0] * 3'600 + (*parts)[1] * 60 + (*parts)[2]);
  if (const auto parts = parse_parts(text, ":")) return static_cast<double>((*parts)[0] * 60 + (*parts)[1]);
  return std::nullopt;
}

/// The columns that are used; SIZE_MAX: not listed.
struct Columns {
  std::size_t job = SIZE_MAX, submit = SIZE_MAX, start = SIZE_MAX, end = SIZE_MAX, elapsed = SIZE_MAX, nodes = SIZE_MAX,
              processors = SIZE_MAX, limit = SIZE_MAX, limit_minutes = SIZE_MAX;

  explicit Columns(const std::vector<std::string_view>& names) {
    const std::pair<std::string_view, std::size_t Columns::*> known[] = {
        {"JobID", &Columns::job},        {"JobIDRaw", &Columns::job},
        {"Submit", &Columns::submit},    {"Start", &Columns::start},
        {"End", &Columns::end},          {"ElapsedRaw", &Columns::elapsed},
        {"NNodes", &Columns::nodes},     {"AllocNodes", &Columns::nodes},
        {"NCPUS", &Columns::processors}, {"AllocCPUS", &Columns::processors},
        {"Timelimit", &Columns::limit},  {"TimelimitRaw", &Columns::limit_minutes}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const auto& [name, column] : known) {
        if (names[i] == name) this->*column = i;
      }
    }
  }

  /// The name of a missing column, or nothing.
  std::optional<std::string_view> missing() const {
    if (job == SIZE_MAX) return "JobID";
    if (submit == SIZE_MAX) return "Submit";
    if (start == SIZE_MAX) return "Start";
    if (end == SIZE_MAX && elapsed == SIZE_MAX) return "End";
    if (nodes == SIZE_MAX && processors == SIZE_MAX) return "NNodes";
    return std::nullopt;
  }
};

/// Whether a line is a job that ran. Steps ("17.batch") are skipped; they are not jobs.
void read_job(const Columns& columns, const std::vector<std::string_view>& cells, Workload& workload) {
  const auto field = [&](std::size_t column) { return column < cells.size() ? cells[column] : std::string_view(); };
  if (field(columns.job).find('.') != std::string_view::npos) return;
  const auto submit = parse_time(field(columns.submit)), start = parse_time(field(columns.start)),
             end = parse_time(field(columns.end));
  std::optional<double> run;
  if (const auto elapsed = parse_digits(field(columns.elapsed))) {
    run = static_cast<double>(*elapsed);
  } else if (start && end) {
    run = *end - *start;
  }
  const auto size = parse_digits(field(columns.nodes != SIZE_MAX ? columns.nodes : columns.processors));
  if (!submit || !start || !run || *run <= 0 || !size || *size == 0) {
    ++workload.without_work;
    return;
  }
  std::optional<double> limit = parse_duration(field(columns.limit));
  if (const auto minutes = parse_digits(field(columns.limit_minutes))) limit = 60 * static_cast<double>(*minutes);
  workload.jobs.push_back({workload.jobs.size() + 1, *submit, *run, std::max(*run, limit.value_or(*run)), *size});
  workload.machine_size = std::max(workload.machine_size, *size);
}

}  // namespace

bool is_sacct(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find("JobID") != std::string_view::npos && line.find('|') != std::string_view::npos;
}

Result<Workload> read_sacct(const FileContents& file) {
  Workload workload;
  workload.name = file.name();
  Scanner scanner(file.view());
  const Columns columns(cells_of(scanner.take_line()));
  constexpr const char* command =
      "sacct -a -X --parsable2 -S 2026-01-01 -o JobID,Submit,Start,End,NNodes,TimelimitRaw,State";
  if (const auto missing = columns.missing())
    return fail(Code::bad_input, at(file.name(), 1), fmt::format("the column {} is missing", *missing), command);
  std::uint64_t line_number = 1;
  while (!scanner.done()) {
    const std::string_view line = scanner.take_line();
    ++line_number;
    if (line.empty()) continue;
    const auto cells = cells_of(line);
    if (cells.size() > columns.job && cells.size() > 1) {
      read_job(columns, cells, workload);
    } else if (workload.malformed++ == 0) {
      workload.first_malformed_line = line_number;
      workload.first_malformed = "the line has too few columns";
    }
  }
  if (workload.jobs.empty())
    return fail(Code::bad_input, at(file.name()), "the file contains no job that ran", command);
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const WorkloadJob& a, const WorkloadJob& b) { return a.submit < b.submit; });
  const double first = workload.jobs.front().submit;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].submit -= first;
    workload.jobs[i].number = i + 1;
  }
  return workload;
}

}  // namespace rankloom
