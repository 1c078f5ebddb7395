// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: reads the profiles of jobs.
#include "slurm/job_profiles.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/allocate/scheduler/learned_profiles.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/place/joint/job_fit.hpp"

namespace rankloom::slurm {

namespace {

constexpr ::off_t max_file_size = ::off_t{64} << 20;
constexpr std::uint64_t max_edges = 50'000;  // one prediction then takes some milliseconds
constexpr auto lifetime = std::chrono::seconds(20);
constexpr auto lifetime_of_errors = std::chrono::seconds(1);
constexpr auto max_wait = std::chrono::milliseconds(100);
constexpr std::size_t max_entries = 1024;
constexpr std::ptrdiff_t max_unfinished = 4;  // files on a file system that does not answer

/// Opens the file once, so that what is checked is what is read.
Result<FileContents> read_checked_file(const std::string& path, ::uid_t user) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(Code::bad_input, at(path), "there is no such file", "name a profile on a file system of slurmctld");
  if (status.st_uid != user && (status.st_mode & S_IROTH) == 0)
    return fail(Code::bad_input, at(path), "the file belongs to another user", "name a profile of your own");
  if (status.st_size > max_file_size)
    return fail(Code::bad_input, at(path), "the file is larger than 64 MiB", "use a smaller profile");
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < content.size()) {
    const ::ssize_t count = ::read(file.number(), content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size != content.size())
    return fail(Code::environment, at(path), "the file cannot be read completely", "check its file system");
  return FileContents(path, std::move(content));
}

/// The file of a source. Home directories may be known to a server that does not answer, so this runs in a thread.
std::string find_file(const ProfileSource& source) {
  if (!source.path.empty()) return source.path;
  std::string directory = source.directory;
  if (directory.empty()) {
    std::array<char, 16384> space{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(source.user, &entry, space.data(), space.size(), &found) != 0 || found == nullptr) return {};
    directory = learned_directory("", "", data_directory("", found->pw_dir));
  }
  return newest_learned_profile(directory, source.job).value_or("");
}

}  // namespace

Result<JobProfile> load_job_profile(const std::string& path, ::uid_t user) {
  auto file = read_checked_file(path, user);
  if (!file) return propagate(file);
  if (!is_profile_file(file->view()))
    return fail(Code::bad_input, at(path), "the file is not a profile in rankloom's own format",
                "convert it: rankloom import FILE -o app.prof");
  const ThreadLimit limit(1);
  auto profile = read_profile(*file);
  if (!profile) return propagate(profile);
  const CollectiveModel model = collective_model(CollectiveModel::automatic, *profile);
  if (auto fits = check_traffic_fits(*profile, model); !fits) return propagate(fits);
  const double communication = recorded_share(*profile).value_or(default_communication);
  CommGraph graph = traffic(*std::move(profile), model);
  if (graph.edge_count() > max_edges)
    return fail(Code::bad_input, at(path), fmt::format("{} pairs of ranks are too many", graph.edge_count()),
                fmt::format("use a profile with at most {}", max_edges));
  const std::uint64_t id = digest(graph);
  return JobProfile{std::move(graph), communication, id};
}

bool JobProfiles::is_loaded(const Entry& entry) {
  const std::lock_guard lock(entry.reading->mutex);
  return entry.reading->loaded != nullptr;
}

bool JobProfiles::start_reading(const ProfileSource& source) {
  const auto now = Clock::now();
  const auto unfinished =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return !is_loaded(entry.second); });
  if (entries_.size() > max_entries)
    std::erase_if(entries_, [&](const auto& entry) {
      return now - entry.second.since > lifetime && is_loaded(entry.second) && entry.first != source;
    });
  if (unfinished >= max_unfinished || entries_.size() > max_entries) return false;
  Entry& entry = entries_[source];
  if (entry.reading != nullptr && entry.reading->loaded->has_value()) entry.before = entry.reading->loaded;
  entry.reading = std::make_shared<Reading>();
  entry.since = now;
  std::thread([reading = entry.reading, source] {
    auto loaded = std::make_shared<const Result<JobProfile>>([&]() -> Result<JobProfile> {
      try {
        return load_job_profile(find_file(source), source.user);
      } catch (const std::exception& error) {
        return fail(Code::environment, at(source.text()), error.what(), "use a smaller profile");
      }
    }());
    const std::lock_guard lock(reading->mutex);
    reading->loaded = std::move(loaded);
    reading->done.notify_all();
  }).detach();
  return true;
}

JobProfiles::Loaded JobProfiles::find(const ProfileSource& source, bool may_wait) {
  auto found = entries_.find(source);
  if (found != entries_.end() && is_loaded(found->second)) {
    const auto& [reading, since, before] = found->second;
    const auto age = Clock::now() - since;
    const bool is_good = reading->loaded->has_value();
    if (age <= (is_good ? lifetime : lifetime_of_errors)) return reading->loaded;
  }
  if (found == entries_.end() || is_loaded(found->second)) {
    if (!start_reading(source)) return nullptr;
    found = entries_.find(source);
  }
  Entry& entry = found->second;
  std::unique_lock lock(entry.reading->mutex);
  // What was waited for before is not waited for again.
  if (may_wait && entry.before == nullptr)
    entry.reading->done.wait_until(lock, entry.since + max_wait, [&] { return entry.reading->loaded != nullptr; });
  return entry.reading->loaded != nullptr ? entry.reading->loaded : entry.before;
}

}  // namespace rankloom::slurm
