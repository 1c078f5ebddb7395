// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: the logs of the steps.
#include "apps/rankloom/verbs/launch/tune/logs.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

void TuneLogs::print_progress(std::string_view text) const {
  if (!quiet_) progress_.print(text);
}

void TuneLogs::remove_earlier() const {
  for (const std::string& name : directory_.listed())
    if (name.ends_with(".log")) directory_.remove(name);
}

std::string TuneLogs::path(const std::string& name) const {
  return directory_.reserve({name}) ? commands_.file(name) : "/dev/null";
}

void TuneLogs::append(const std::string& name, const std::string& text) const {
  const std::string file = path(name);
  const auto earlier = read_file(file);
  (void)write_file(file, (earlier ? std::string(earlier->view()) : "") + text);
}

void TuneLogs::log_step(const Argv& command, const std::string& log) const {
  std::error_code ignored;
  if (!std::filesystem::exists(commands_.file(log), ignored)) append(log, fmt::format("$ {}\n", command_text(command)));
}

Result<void> TuneLogs::fail_step(const Error& error, const Argv& command, const std::string& log) const {
  const std::string typed = command_text(command);
  append(log, fmt::format("$ {}\n{}\n", typed, to_string(error)));
  return fail(Code::environment, at(fmt::format("rankloom {}", command[1])), error.what,
              fmt::format("look into {}, or run the step alone: {}", commands_.file(log), typed));
}

}  // namespace rankloom::app
