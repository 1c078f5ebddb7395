// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: the profiles that were learned from the first runs of a user's jobs. Schema 1: profiles(job,
// program, ranks, program_bytes, program_written_ns, file, bytes, digest, since, used). `used` increases with every use
// of any profile.
#include "rankloom/allocate/scheduler/learned_profiles.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/allocate/state/database.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/sha256.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr DatabaseKind learned_store{.name = "store of learned profiles",
                                     .damaged_hint = "remove it with `rankloom slurm profiles remove --all`",
                                     .application_id = 0x524c6c70,  // "RLlp"
                                     .lock_timeout = std::chrono::seconds(5)};
constexpr int schema_version = 1;

constexpr const char* create_table =
    "CREATE TABLE profiles(job TEXT NOT NULL, program TEXT NOT NULL, ranks INTEGER NOT NULL,"
    " program_bytes INTEGER NOT NULL, program_written_ns INTEGER NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " digest TEXT NOT NULL, since TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), used INTEGER NOT NULL,"
    " PRIMARY KEY(job, program, ranks)) WITHOUT ROWID;";

constexpr std::string_view suffix = ".prof";
constexpr const char* run_file_name = "run";
constexpr const char* recordings_name = "recordings";
constexpr auto abandoned_after = std::chrono::hours(24 * 7);

std::string short_digest(std::string_view text) {
  return sha256(text).substr(0, 16);
}

/// All profiles of jobs of this name.
std::string file_prefix(std::string_view job) {
  return short_digest(job) + "-";
}

std::string file_name(const LearnedRun& run, const std::string& digest) {
  return fmt::format("{}{}-{}-{}{}", file_prefix(run.job), run.ranks, short_digest(run.program), digest.substr(0, 16),
                     suffix);
}

std::string database_path(const std::string& directory) {
  return (fs::path(directory) / "profiles.sqlite").string();
}

/// Files with other names belong to the user.
bool is_name_of_profile(const std::string& name) {
  return name.ends_with(suffix) && std::count(name.begin(), name.end(), '-') == 3 &&
         name.substr(0, name.size() - suffix.size()).find_first_not_of("0123456789abcdef-") == std::string::npos;
}

std::vector<fs::path> profile_files(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code end;
  for (fs::directory_iterator at(directory, end); !end && at != fs::directory_iterator(); at.increment(end))
    if (is_name_of_profile(at->path().filename().string())) files.push_back(at->path());
  return files;
}

/// A site may configure a directory in which all users may create files.
Result<void> check_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return fail(Code::environment, at(directory), "the directory for learned profiles cannot be created",
                "make its parent writable, or set `profiles =` in rankloom.conf");
  }
  if (status.st_uid == ::geteuid()) return {};
  return fail(Code::environment, at(directory), "the directory for learned profiles belongs to another user",
              "ask the administrator to remove it, or set XDG_DATA_HOME");
}

/// Whether the file is the one that was stored.
bool is_intact(const std::string& path, std::uint64_t bytes, const std::string& digest) {
  const auto file = read_file(path);
  return file && file->view().size() == bytes && sha256(file->view()) == digest;
}

std::string program_name(const LearnedRun& run) {
  return fs::path(run.program).filename().string();
}

/// Why the profiles of a job do not fit a run.
std::string mismatch(const std::vector<LearnedProfile>& profiles, const LearnedRun& run) {
  const auto same_program = std::find_if(profiles.begin(), profiles.end(),
                                         [&](const LearnedProfile& other) { return other.run.program == run.program; });
  if (same_program != profiles.end())
    return fmt::format("the profile of {} is for {} ranks, not for {}", program_name(run), same_program->run.ranks,
                       run.ranks);
  if (profiles.empty()) return "";
  return fmt::format("the profile of job {} is that of {}", run.job, profiles.front().run.program);
}

}  // namespace

std::string learned_directory(const std::string& site_directory, const std::string& user,
                              const std::string& data_home) {
  return site_directory.empty() ? (fs::path(data_home) / "rankloom" / "learned").string()
                                : (fs::path(site_directory) / user).string();
}

std::string data_directory(const std::string& xdg_data_home, const std::string& home) {
  if (xdg_data_home.starts_with('/')) return xdg_data_home;
  return home.starts_with('/') ? (fs::path(home) / ".local" / "share").string() : "";
}

std::optional<std::string> newest_learned_profile(const std::string& directory, std::string_view job) {
  std::optional<std::pair<fs::file_time_type, std::string>> newest;
  const std::string prefix = file_prefix(job);
  for (const fs::path& file : profile_files(directory)) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    if (error || !file.filename().string().starts_with(prefix)) continue;
    const std::pair entry(written, file.string());
    if (!newest || *newest < entry) newest = entry;
  }
  if (!newest) return std::nullopt;
  return newest->second;
}

Result<LearnedProfiles> LearnedProfiles::open(const std::string& directory, const LearnedLimits& limits) {
  if (auto good = check_directory(directory); !good) return propagate(good);
  const std::string path = database_path(directory);
  std::error_code error;
  // SQLite creates an empty file first.
  if (fs::file_size(path, error) > 0 && !error) {
    if (auto own = Database::check_owner(path, learned_store); !own) return propagate(own);
  }
  auto database = std::make_shared<Database>(learned_store);
  if (auto opened = database->open(path, Database::Access::create); !opened) return propagate(opened);
  auto version = database->number("PRAGMA user_version");
  if (!version) return propagate(version);
  if (*version == 0) {
    auto made = database->transaction([&]() -> Result<void> {
      version = database->number("PRAGMA user_version");  // another process may have been faster
      if (!version) return propagate(version);
      if (*version != 0) return {};
      version = schema_version;
      return database->run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}; {}",
                                       learned_store.application_id, schema_version, create_table));
    });
    if (!made) return propagate(made);
  }
  if (*version != schema_version) {
    return fail(
        Code::bad_input, at(path),
        fmt::format("the store has schema version {}; this rankloom supports version {}", *version, schema_version),
        "use the version of rankloom that wrote it, or remove it with `rankloom slurm profiles remove --all`");
  }
  return LearnedProfiles(directory, limits, std::move(database));
}

Result<std::vector<LearnedProfile>> LearnedProfiles::rows(const std::string& condition,
                                                          const std::string& value) const {
  std::vector<LearnedProfile> found;
  const std::string sql = fmt::format(
      "SELECT job, program, ranks, program_bytes, program_written_ns, file, bytes, since FROM profiles {} ORDER BY "
      "used DESC",
      condition);
  const auto read = [&](sqlite3_stmt* row) -> Result<void> {
    const auto number = [&](int column) { return Database::integer(row, column); };
    found.push_back({.run = {.job = Database::text(row, 0),
                             .program = Database::text(row, 1),
                             .ranks = static_cast<std::uint32_t>(number(2)),
                             .program_bytes = static_cast<std::uint64_t>(number(3)),
                             .program_written_ns = number(4)},
                     .file = (fs::path(directory_) / Database::text(row, 5)).string(),
                     .bytes = static_cast<std::uint64_t>(number(6)),
                     .since = Database::text(row, 7)});
    return {};
  };
  auto done = value.empty() ? database_->query(sql.c_str(), {}, read) : database_->query(sql.c_str(), {value}, read);
  if (!done) return propagate(done);
  return found;
}

Result<LearnedProfiles::Found> LearnedProfiles::find(const LearnedRun& run) {
  Found found;
  bool is_latest = false;
  const auto search = [&]() -> Result<void> {
    bool is_known = false;
    auto done = database_->query(
        "SELECT program_bytes, program_written_ns, file, bytes, digest, used = (SELECT max(used) FROM profiles) FROM "
        "profiles WHERE job = ? AND program = ? AND ranks = CAST(? AS INTEGER)",
        {run.job, run.program, std::to_string(run.ranks)}, [&](sqlite3_stmt* row) -> Result<void> {
          is_known = true;
          is_latest = Database::integer(row, 5) != 0;
          const std::string file = (fs::path(directory_) / Database::text(row, 2)).string();
          if (static_cast<std::uint64_t>(Database::integer(row, 0)) != run.program_bytes ||
              Database::integer(row, 1) != run.program_written_ns) {
            found.why = fmt::format("{} has changed since its profile was recorded", run.program);
          } else if (!is_intact(file, static_cast<std::uint64_t>(Database::integer(row, 3)), Database::text(row, 4))) {
            found.why = fmt::format("the profile {} is missing or damaged", file);
          } else {
            found.file = file;
          }
          return {};
        });
    if (!done || is_known) return done;
    auto others = rows("WHERE job = ?", run.job);
    if (!others) return propagate(others);
    found.why = mismatch(*others, run);
    return {};
  };
  // Nothing is removed meanwhile.
  if (auto begun = database_->run("BEGIN"); !begun) return propagate(begun);
  auto done = search();
  (void)database_->run("ROLLBACK");
  if (!done) return propagate(done);
  // A job that cannot write now has its profile all the same.
  if (!found.file.empty() && !is_latest)
    (void)database_->query(
        "UPDATE profiles SET used = (SELECT max(used) + 1 FROM profiles) WHERE job = ? AND program = ? AND ranks = "
        "CAST(? AS INTEGER)",
        {run.job, run.program, std::to_string(run.ranks)});
  return found;
}

Result<void> LearnedProfiles::add(const LearnedRun& run, std::string_view profile) {
  if (profile.size() > limits_.max_profile_bytes) {
    return fail(Code::infeasible, at(directory_),
                fmt::format("the profile of {} has {} bytes, more than {}", program_name(run), profile.size(),
                            limits_.max_profile_bytes),
                "record it with `rankloom record`, and use its file");
  }
  const std::string digest = sha256(profile), file = file_name(run, digest);
  auto added = database_->transaction([&]() -> Result<void> {
    if (auto written = write_file((fs::path(directory_) / file).string(), profile); !written) return written;
    auto inserted = database_->query(
        "INSERT OR REPLACE INTO profiles(job, program, ranks, program_bytes, program_written_ns, file, bytes, digest, "
        "used) VALUES(?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM profiles))",
        {run.job, run.program, std::to_string(run.ranks), std::to_string(run.program_bytes),
         std::to_string(run.program_written_ns), file, std::to_string(profile.size()), digest});
    return inserted ? evict() : inserted;
  });
  return added ? remove_unlisted_files() : added;
}

/// In a transaction of the caller.
Result<void> LearnedProfiles::evict() const {
  auto all = rows("");
  if (!all) return propagate(all);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const LearnedProfile& profile = (*all)[i];
    bytes += profile.bytes;
    if (i < limits_.max_profiles && bytes <= limits_.max_bytes) continue;
    auto deleted = database_->query("DELETE FROM profiles WHERE job = ? AND program = ? AND ranks = CAST(? AS INTEGER)",
                                    {profile.run.job, profile.run.program, std::to_string(profile.run.ranks)});
    if (!deleted) return deleted;
  }
  return {};
}

/// In a transaction of its own: until the one that removed their rows has ended, it may be rolled back.
Result<void> LearnedProfiles::remove_unlisted_files() const {
  return database_->transaction([&]() -> Result<void> {
    auto all = rows("");
    if (!all) return propagate(all);
    std::set<std::string> listed;
    for (const LearnedProfile& profile : *all) listed.insert(profile.file);
    std::error_code error;
    for (const fs::path& file : profile_files(directory_))
      if (!listed.contains(file.string())) fs::remove(file, error);
    return {};
  });
}

Result<std::vector<LearnedProfile>> LearnedProfiles::list() {
  return rows("");
}

Result<std::size_t> LearnedProfiles::remove(const std::optional<std::string>& job) {
  std::size_t count = 0;
  auto removed = database_->transaction([&]() -> Result<void> {
    auto found = job ? rows("WHERE job = ?", *job) : rows("");
    if (!found) return propagate(found);
    count = found->size();
    return job ? database_->query("DELETE FROM profiles WHERE job = ?", {*job})
               : database_->run("DELETE FROM profiles");
  });
  if (!removed) return propagate(removed);
  if (auto cleaned = remove_unlisted_files(); !cleaned) return propagate(cleaned);
  return count;
}

Result<std::string> LearnedProfiles::begin_recording(const LearnedRun& run) const {
  const fs::path parent = fs::path(directory_) / recordings_name;
  std::error_code error, end;
  fs::create_directories(parent, error);
  const auto oldest = fs::file_time_type::clock::now() - abandoned_after;
  for (fs::directory_iterator at(parent, end); !end && at != fs::directory_iterator(); at.increment(end)) {
    const auto written = at->last_write_time(error);
    if (!error && written < oldest) fs::remove_all(at->path(), error);
  }
  std::string directory = (parent / "XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) {
    return fail(Code::environment, at(parent.string()), "a directory for the recording cannot be created",
                "make it writable, or set `profiles =` in rankloom.conf");
  }
  auto written = write_file(
      (fs::path(directory) / run_file_name).string(),
      fmt::format("{}\n{}\n{}\n{}\n{}", run.ranks, run.program_bytes, run.program_written_ns, run.program, run.job));
  if (!written) return propagate(written);
  return directory;
}

Result<LearnedRun> recorded_run(const std::string& recording_directory) {
  const std::string path = (fs::path(recording_directory) / run_file_name).string();
  auto file = read_file(path);
  if (!file) return propagate(file);
  std::string_view rest = file->view();
  const auto line = [&] {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    return text;
  };
  LearnedRun run;
  const auto ranks = parse_number(line());
  const auto bytes = parse_number(line());
  const std::string written(line());
  run.program = line();
  run.job = rest;
  if (!ranks || !bytes || *ranks < 1 || *ranks > UINT32_MAX || run.program.empty() || run.job.empty()) {
    return fail(Code::bad_input, at(path), "this is not the description of a recorded run",
                "name a directory that `srun --rankloom=learn` created");
  }
  run.ranks = static_cast<std::uint32_t>(*ranks);
  run.program_bytes = static_cast<std::uint64_t>(*bytes);
  run.program_written_ns = std::strtoll(written.c_str(), nullptr, 10);
  return run;
}

Result<void> remove_learned_store(const std::string& directory) {
  if (auto good = check_directory(directory); !good) return good;
  std::error_code error;
  for (const fs::path& file : profile_files(directory)) fs::remove(file, error);
  fs::remove_all(fs::path(directory) / recordings_name, error);
  const std::string path = database_path(directory);
  fs::remove(path + "-journal", error);
  fs::remove(path, error);
  if (!error) return {};
  return fail(Code::environment, at(path), fmt::format("the store cannot be removed: {}", error.message()),
              "make its directory writable");
}

}  // namespace rankloom
