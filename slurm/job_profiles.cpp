// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: reads the profiles that users name for their jobs.
#include "slurm/job_profiles.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/place/joint/job_fit.hpp"

namespace rankloom::slurm {

namespace {

constexpr ::off_t max_file_size = ::off_t{64} << 20;
constexpr std::uint64_t max_edges = 50'000;  // one prediction then takes some milliseconds
constexpr auto lifetime = std::chrono::seconds(20);
constexpr auto max_wait = std::chrono::milliseconds(100);
constexpr std::size_t max_entries = 1024;
constexpr std::size_t max_unfinished = 4;  // files on a file system that does not answer

}  // namespace

Result<JobProfile> load_job_profile(const std::string& path, ::uid_t user) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(Code::bad_input, at(path), "there is no such file", "name a profile on a file system of slurmctld");
  if (status.st_uid != user && (status.st_mode & S_IROTH) == 0)
    return fail(Code::bad_input, at(path), "the file belongs to another user", "name a profile of your own");
  if (status.st_size > max_file_size)
    return fail(Code::bad_input, at(path), "the file is larger than 64 MiB", "use a smaller profile");
  auto file = read_file(path);
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

JobProfiles::Loaded JobProfiles::find(const std::string& path, ::uid_t user) {
  const auto now = Clock::now();
  std::size_t unfinished = 0;
  for (const auto& [name, other] : entries_) {
    const std::lock_guard lock(other.reading->mutex);
    unfinished += other.reading->loaded == nullptr ? 1 : 0;
  }
  Entry& entry = entries_[{path, user}];
  const auto is_loaded = [](Reading& reading) {
    const std::lock_guard lock(reading.mutex);
    return reading.loaded != nullptr;
  };
  const bool is_old = entry.reading != nullptr && now - entry.since > lifetime && is_loaded(*entry.reading);
  if (entry.reading == nullptr || is_old) {
    if (unfinished >= max_unfinished || entries_.size() > max_entries) {
      entries_.erase({path, user});
      std::erase_if(entries_, [&](const auto& other) {
        return now - other.second.since > lifetime && is_loaded(*other.second.reading);
      });
      return nullptr;
    }
    entry = {std::make_shared<Reading>(), now};
    std::thread([reading = entry.reading, path, user] {
      auto loaded = std::make_shared<const Result<JobProfile>>([&]() -> Result<JobProfile> {
        try {
          return load_job_profile(path, user);
        } catch (const std::exception& error) {
          return fail(Code::environment, at(path), error.what(), "use a smaller profile");
        }
      }());
      const std::lock_guard lock(reading->mutex);
      reading->loaded = std::move(loaded);
      reading->done.notify_all();
    }).detach();
  } else if (now - entry.since > max_wait && !is_loaded(*entry.reading)) {
    return nullptr;  // waited for before
  }
  const std::shared_ptr<Reading> reading = entry.reading;
  std::unique_lock lock(reading->mutex);
  reading->done.wait_for(lock, max_wait, [&] { return reading->loaded != nullptr; });
  return reading->loaded;
}

}  // namespace rankloom::slurm
