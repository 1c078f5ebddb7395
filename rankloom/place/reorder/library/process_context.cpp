// SPDX-License-Identifier: Apache-2.0
// place/reorder: the host and the binding of this process, and its helper process.
#include "rankloom/place/reorder/library/process_context.hpp"

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <dlfcn.h>
#include <unistd.h>

#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom::reorder {

namespace {

constexpr std::chrono::seconds helper_time_limit{30};

/// The path of the helper. It is determined when the library is loaded, because the path of the library may be relative
/// to the initial working directory.
std::array<char, PATH_MAX> helper_path{};

[[gnu::constructor]] void find_helper() {
  Dl_info library{};
  std::array<char, PATH_MAX> path{};
  if (::dladdr(reinterpret_cast<const void*>(&find_helper), &library) == 0 || library.dli_fname == nullptr) return;
  if (::realpath(library.dli_fname, path.data()) == nullptr) return;
  char* const slash = std::strrchr(path.data(), '/');
  constexpr std::string_view name = "/rankloom-reorder";
  if (slash == nullptr || slash + name.size() + 1 > path.data() + path.size()) return;
  std::memcpy(slash, name.data(), name.size() + 1);
  helper_path = path;
}

std::string own_host_name() {
  const char* const override_name = std::getenv("RANKLOOM_HOSTNAME");
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host = override_name != nullptr && *override_name != '\0' ? override_name : name.data();
  for (char& character : host) {
    if (character == ' ' || character == '\n') character = '_';
  }
  return host.empty() ? "localhost" : host;
}

/// "0-3,8"; empty if this process may run on all processing units.
std::string own_processing_units() {
  const auto allowed = CpuSet::allowed();
  if (!allowed || allowed->size() >= ::sysconf(_SC_NPROCESSORS_ONLN)) return {};
  return format_number_ranges(allowed->members());
}

}  // namespace

std::string own_binding() {
  return own_host_name() + ' ' + own_processing_units() + '\n';
}

std::optional<std::string> run_helper(const char* argument, std::string_view input) {
  if (helper_path[0] == '\0') return std::nullopt;
  ProcessSpec spec;
  spec.argv = {helper_path.data(), argument};
  spec.environment = {"LD_PRELOAD"};  // removed, so that no library of the program is loaded into the helper
  spec.reset_signals = true;
  spec.close_other_files = true;
  ProcessOptions options;
  options.input = std::string(input);
  options.capture_output = true;
  options.time_limit = helper_time_limit;
  ProcessResult result = run_process(spec, options);
  // A program that ignores SIGCHLD or waits for all children leaves no status; the reply is validated in any case.
  const bool succeeded = result.started() && !result.timed_out && (result.status == 0 || !result.status_known);
  if (!succeeded) return std::nullopt;
  return std::move(result.output);
}

std::string host_description() {
  static std::mutex mutex;
  static std::optional<std::string> description;
  const std::lock_guard lock(mutex);
  if (!description) description = run_helper("host", {}).value_or(std::string());
  return *description;
}

}  // namespace rankloom::reorder
