// SPDX-License-Identifier: Apache-2.0
// apps: output of the program.
#include "apps/rankloom/output.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "rankloom/core/text/control_characters.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/model/machine/slots/slots.hpp"

namespace rankloom::app {

namespace {

Json to_json(const Error& error) {
  Json where = error.where.source;
  if (error.where.line > 0) where = fmt::format("{}:{}", error.where.source, error.where.line);
  return {{"error",
           {{"code", static_cast<int>(error.code)}, {"what", error.what}, {"where", where}, {"hint", error.hint}}}};
}

}  // namespace

void print(std::string_view text) {
  print_drawing(lines_without_controls(text));
}

void print_to_stderr(std::string_view text) {
  fmt::print(stderr, "{}", lines_without_controls(text));
}

void print_note(std::string_view text) {
  print_to_stderr(fmt::format("rankloom: {}\n", text));
}

void print_drawing(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string to_line(const Json& object) {
  return dump_json(object) + "\n";
}

void print_json(const Json& object) {
  print(to_line(object));
}

Result<void> check_output(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return {};
  std::error_code ignored;
  const fs::path target(path);
  if (target.filename().string().size() > 240)
    return fail(Code::usage, at(path), "the file name is too long", "choose a shorter name");
  if (fs::is_directory(target, ignored))
    return fail(Code::usage, at(path), "this is a directory, not a file", "name a file in this directory");
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, ignored)) {
    return fail(Code::usage, at(path), fmt::format("the directory {} does not exist", directory.string()),
                fmt::format("mkdir -p {}", shell_quote(directory.string())));
  }
  if (fs::is_regular_file(target, ignored) && ::access(target.c_str(), W_OK) != 0) {
    return fail(Code::environment, at(path), fmt::format("the file cannot be replaced: {}", std::strerror(errno)),
                "choose another file, or allow to write to it: chmod u+w");
  }
  if (::access(directory.c_str(), W_OK) != 0) {
    return fail(Code::environment, at(path),
                fmt::format("the directory {} cannot be written: {}", directory.string(), std::strerror(errno)),
                "choose another directory, or change its permissions");
  }
  return {};
}

Result<void> check_default_output(const std::string& path, bool (*is_own)(std::string_view content)) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return {};
  const auto file =
      type == std::filesystem::file_type::regular ? read_file(path) : Result<FileContents>(FileContents("", " "));
  if (file && (file->view().empty() || is_own(file->view()))) return {};
  return fail(Code::usage, at(path), "the output has this name by default, but rankloom did not write this file",
              "name the output with -o");
}

Result<void> check_standard_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return fail(Code::environment, at("standard output"),
              fmt::format("cannot be written: {}", std::strerror(errno == 0 ? EIO : errno)),
              "free disk space, or redirect the output to another file system");
}

int show_error(const Error& error, bool json) {
  std::fflush(stdout);
  print_note(to_string(error));
  if (json) print_json(to_json(error));
  std::fflush(stdout);
  return static_cast<int>(error.code);
}

double gain_percent(double before, double after, bool larger_is_better) {
  if (before == after || before == 0) return 0;
  const double gain = 100 * (before - after) / std::abs(before);
  return larger_is_better ? -gain : gain;
}

std::string bound_sentence(double value, double bound, bool larger_is_better) {
  return fmt::format("{} bound {}, gap {}{}", larger_is_better ? "upper" : "lower", cost_number(bound),
                     percent(gap_percent(value, bound)),
                     gap_percent(value, bound) == 0 ? ": the result is optimal" : "");
}

std::uint64_t count_cores(const Topology& topology) {
  return has_hardware_threads(topology) ? topology.levels()[core_level(topology)].objects : topology.core_count();
}

std::string counted_cores(const Topology& topology) {
  const std::uint64_t cores = count_cores(topology), threads = topology.core_count();
  if (cores == threads) return counted(cores, "core");
  return fmt::format("{} with {}", counted(cores, "core"), counted(threads, "hardware thread"));
}

std::string assumed_line(const Topology& topology) {
  const std::string numbers = assumed_numbers(topology);
  return numbers.empty() ? numbers : fmt::format("  assumed: {}\n", numbers);
}

Json load_json(const LoadBalance& load) {
  return {{"heaviest_core", load.heaviest_core}, {"bound", load.lower_bound}, {"imbalance", load.imbalance()}};
}

std::string load_sentence(const LoadBalance& load) {
  return fmt::format("heaviest core: load {}, {} above the lower bound ({})", cost_number(load.heaviest_core),
                     percent(100 * load.imbalance()), cost_number(load.lower_bound));
}

}  // namespace rankloom::app
