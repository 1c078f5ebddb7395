// SPDX-License-Identifier: Apache-2.0
// allocate/workload: reads and writes the Standard Workload Format.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>

#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

constexpr std::size_t fields = 18;
/// 30 million years in seconds. With larger numbers, sums of times would lose their seconds.
constexpr double max_value = 1e15;
enum Field { number, submit, wait, run, allocated, processor_time, memory, requested, requested_time, executable = 13 };
/// More applications than any workload names; a larger number is an error in the file.
constexpr std::uint64_t max_applications = 100'000;

/// Reads the 18 numbers of a line. Returns what is wrong with the line, or an empty string.
std::string read_line(std::string_view line, std::array<double, fields>& values) {
  Scanner scanner(line);
  for (std::size_t i = 0; i < fields; ++i) {
    scanner.skip_blanks();
    if (scanner.done()) return fmt::format("the line has {} numbers instead of {}", i, fields);
    const std::string word = scanner.token_for_message();
    if (!scanner.take_number(values[i])) return fmt::format("'{}' is not a number", word);
    if (std::abs(values[i]) > max_value) return fmt::format("'{}' is larger than {:g}", word, max_value);
  }
  scanner.skip_blanks();
  return scanner.done() ? "" : fmt::format("the line has more than {} numbers", fields);
}

/// "3 stencil3d 0.4" after "; Pattern:"
void read_pattern(std::string_view text, Workload& workload) {
  Scanner scanner(text);
  scanner.skip_blanks();
  std::uint64_t number = 0;
  if (!scanner.take_integer(number) || number == 0 || number > max_applications) return;
  scanner.skip_blanks();
  Application application{std::string(scanner.take_token()), 0};
  scanner.skip_blanks();
  if (!scanner.take_number(application.communication) || !(application.communication >= 0) ||
      application.communication >= 1 || application.pattern.empty())
    return;
  if (workload.applications.size() < number) workload.applications.resize(number);
  workload.applications[number - 1] = std::move(application);
}

/// "; MaxProcs: 100"
void read_comment(std::string_view line, Workload& workload) {
  for (const std::string_view key : {"MaxNodes:", "MaxProcs:"}) {
    const std::size_t found = line.find(key);
    if (found == std::string_view::npos) continue;
    Scanner scanner(line.substr(found + key.size()));
    scanner.skip_blanks();
    std::uint64_t size = 0;
    if (scanner.take_integer(size)) workload.machine_size = std::max(workload.machine_size, size);
  }
  constexpr std::string_view pattern = "Pattern:";
  if (const std::size_t found = line.find(pattern); found != std::string_view::npos)
    read_pattern(line.substr(found + pattern.size()), workload);
}

void read_job(const std::array<double, fields>& values, Workload& workload) {
  const double tasks = values[requested] > 0 ? values[requested] : values[allocated];
  if (tasks < 1 || values[run] <= 0 || values[submit] < 0) {
    ++workload.without_work;
    return;
  }
  workload.jobs.push_back({static_cast<std::uint64_t>(std::max(0.0, values[number])), values[submit], values[run],
                           std::max(values[run], values[requested_time]), static_cast<std::uint64_t>(std::ceil(tasks)),
                           values[executable] > 0 && values[executable] <= max_applications
                               ? static_cast<std::uint32_t>(values[executable])
                               : 0});
}

/// Decompresses gzip. Workloads are compressed to about a tenth; a much larger content is an error, not a workload.
Result<FileContents> inflate(const FileContents& file) {
  const std::size_t limit = (std::size_t{256} << 20) + 100 * file.view().size();
  if (file.view().size() > std::numeric_limits<uInt>::max())
    return fail(Code::bad_input, at(file.name()), "the file is larger than 4 GiB", "give a part of the workload");
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK)
    return fail(Code::environment, at(file.name()), "zlib cannot be initialised", "free memory and try again");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.view().data()));
  stream.avail_in = static_cast<uInt>(file.view().size());
  std::string text;
  std::array<char, 1 << 16> block;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    status = ::inflate(&stream, Z_NO_FLUSH);
    text.append(block.data(), block.size() - stream.avail_out);
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);  // another gzip member follows
    if (text.size() > limit)
      return fail(
          Code::bad_input, at(file.name()),
          fmt::format("the content of {} of gzip is larger than {}",
                      format_bytes(static_cast<double>(file.view().size())), format_bytes(static_cast<double>(limit))),
          "check the file; if it is a workload, decompress it with gunzip and give the result");
  }
  if (status != Z_STREAM_END)
    return fail(Code::bad_input, at(file.name()), "the compressed file is truncated or damaged", "use a complete copy");
  return FileContents(file.name(), std::move(text));
}

}  // namespace

Result<Workload> read_swf(const FileContents& file) {
  Workload workload;
  workload.name = file.name();
  Scanner scanner(file.view());
  for (std::uint64_t line_number = 1; !scanner.done(); ++line_number) {
    std::string_view line = scanner.take_line();
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    if (line[0] == ';') {
      read_comment(line, workload);
      continue;
    }
    std::array<double, fields> values{};
    std::string wrong = read_line(line, values);
    if (wrong.empty()) {
      read_job(values, workload);
    } else if (workload.malformed++ == 0) {
      workload.first_malformed_line = line_number;
      workload.first_malformed = std::move(wrong);
    }
  }
  if (workload.jobs.empty()) {
    return fail(Code::bad_input, at(file.name(), workload.first_malformed_line),
                workload.malformed > 0
                    ? fmt::format("no line is a job in the Standard Workload Format: {}", workload.first_malformed)
                    : "the file contains no job that ran",
                "a workload file has 18 numbers per line and comments after ';'; `rankloom gen workload` writes one");
  }
  // Numbers of applications without a pattern say nothing about the communication.
  for (WorkloadJob& job : workload.jobs) {
    if (job.application > workload.applications.size() ||
        (job.application > 0 && workload.applications[job.application - 1].pattern.empty()))
      job.application = 0;
  }
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const WorkloadJob& a, const WorkloadJob& b) { return a.submit < b.submit; });
  return workload;
}

Result<Workload> load_workload(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  if (file->view().starts_with("\x1f\x8b")) {
    file = inflate(*file);
    if (!file) return propagate(file);
  }
  return is_sacct(file->view()) ? read_sacct(*file) : read_swf(*file);
}

std::string write_swf(const Workload& workload) {
  std::string text = fmt::format("; Version: 2.2\n; Computer: {}\n; MaxJobs: {}\n; MaxRecords: {}\n", workload.name,
                                 workload.jobs.size(), workload.jobs.size());
  if (workload.machine_size > 0) text += fmt::format("; MaxNodes: {0}\n; MaxProcs: {0}\n", workload.machine_size);
  for (std::size_t i = 0; i < workload.applications.size(); ++i) {
    text += fmt::format("; Pattern: {} {} {}\n", i + 1, workload.applications[i].pattern,
                        format_value(workload.applications[i].communication));
  }
  for (const WorkloadJob& job : workload.jobs) {
    text += fmt::format("{} {:.0f} -1 {:.0f} {} -1 -1 {} {:.0f} -1 1 -1 -1 {} -1 -1 -1 -1\n", job.number, job.submit,
                        job.run, job.tasks, job.tasks, job.estimate,
                        job.application > 0 ? static_cast<std::int64_t>(job.application) : -1);
  }
  return text;
}

}  // namespace rankloom
