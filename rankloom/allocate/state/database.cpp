// SPDX-License-Identifier: Apache-2.0
// allocate/state: an open SQLite database. Its rollback journal makes every transaction atomic: after a crash, the next
// process that opens the file rolls back the unfinished one. (A write-ahead log would need memory that all processes
// share, which a network file system does not have.)
#include "rankloom/allocate/state/database.hpp"

#include <memory>

#include <fmt/format.h>
#include <sqlite3.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom {

Database::~Database() {
  sqlite3_close(handle_);
}

Result<void> Database::check_owner(const std::string& path, const DatabaseKind& kind) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  const std::string_view head = file->view().substr(0, 100);
  using namespace std::string_view_literals;
  constexpr std::string_view magic = "SQLite format 3\0"sv;
  if (head.size() < 100 || !head.starts_with(magic)) {
    return fail(Code::bad_input, at(path),
                fmt::format("this is not a {}, or it is damaged: file is not a database", kind.name),
                std::string(kind.damaged_hint));
  }
  constexpr std::size_t application_id_offset = 68;
  std::uint32_t id = 0;
  for (const char byte : head.substr(application_id_offset, 4)) id = id << 8U | static_cast<unsigned char>(byte);
  if (id == kind.application_id) return {};
  return fail(Code::bad_input, at(path), fmt::format("this is an SQLite database but not a {} of rankloom", kind.name),
              fmt::format("name a {} that rankloom created", kind.name));
}

Failure Database::failure() const {
  const int code = sqlite3_errcode(handle_) & 0xff;
  const char* const message = sqlite3_errmsg(handle_);
  switch (code) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fail(Code::bad_input, at(path_),
                  fmt::format("this is not a {}, or it is damaged: {}", kind_.name, message),
                  std::string(kind_.damaged_hint));
    case SQLITE_FULL:
      return fail(Code::environment, at(path_), "the disk is full; nothing was changed",
                  "free disk space and try again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(Code::environment, at(path_),
                  fmt::format("another process has locked the {} for {} s; nothing was changed", kind_.name,
                              static_cast<double>(kind_.lock_timeout.count()) / 1000),
                  "find that process with `fuser FILE`, end it or wait, and try again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return fail(Code::environment, at(path_), fmt::format("the {} cannot be written: {}", kind_.name, message),
                  "choose a file and a directory with write permission");
    default:
      return fail(Code::environment, at(path_),
                  fmt::format("the {} cannot be used: {}; nothing was changed", kind_.name, message),
                  "check the disk, for example with `dmesg`");
  }
}

Result<void> Database::open(const std::string& path, Access access) {
  path_ = path;
  const int flags = SQLITE_OPEN_READWRITE | (access == Access::create ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) return failure();
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(kind_.lock_timeout.count()));
  return run("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;");
}

Result<void> Database::run(const std::string& sql) const {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return {};
}

Result<void> Database::query(const char* sql, std::initializer_list<std::string> values, const Row& row) const {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_, sql, -1, &raw, nullptr) != SQLITE_OK) return failure();
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  int parameter = 0;
  for (const std::string& value : values)
    sqlite3_bind_text(raw, ++parameter, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  while (true) {
    const int status = sqlite3_step(raw);
    if (status == SQLITE_DONE) return {};
    if (status != SQLITE_ROW) return failure();
    if (!row) continue;
    if (Result<void> sound = row(raw); !sound) return sound;
  }
}

Result<std::int64_t> Database::number(const char* sql) const {
  std::int64_t value = 0;
  auto done = query(sql, {}, [&](sqlite3_stmt* row) -> Result<void> {
    value = integer(row, 0);
    return {};
  });
  if (!done) return propagate(done);
  return value;
}

Result<void> Database::transaction(const std::function<Result<void>()>& work) const {
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = work();
  if (done) done = run("COMMIT");
  if (!done) (void)run("ROLLBACK");
  return done;
}

std::string Database::text(sqlite3_stmt* row, int column) {
  const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return value == nullptr ? "" : std::string(value, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

std::int64_t Database::integer(sqlite3_stmt* row, int column) {
  return sqlite3_column_int64(row, column);
}

}  // namespace rankloom
