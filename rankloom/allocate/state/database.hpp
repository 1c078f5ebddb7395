// SPDX-License-Identifier: Apache-2.0
// allocate/state: an open SQLite database, with the errors of SQLite as our errors.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace rankloom {

/// What errors call the file.
struct DatabaseKind {
  std::string_view name;          ///< "state file"
  std::string_view damaged_hint;  ///< What to do if it is damaged or belongs to another program.
  std::uint32_t application_id;   ///< In the header of the file.
  std::chrono::milliseconds lock_timeout;
};

class Database {
 public:
  enum class Access : std::uint8_t { write, create };

  explicit Database(const DatabaseKind& kind) : kind_(kind) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Result<void> open(const std::string& path, Access access);

  /// Fails if the file is not an SQLite database of this kind. SQLite must not open such a file: it takes a file with
  /// the same name and the suffix "-journal" for its own and removes it.
  static Result<void> check_owner(const std::string& path, const DatabaseKind& kind);

  /// Runs statements without parameters.
  Result<void> run(const std::string& sql) const;
  /// Runs one statement with these values and calls row(statement) for each row; an error of `row` ends the query.
  using Row = std::function<Result<void>(sqlite3_stmt*)>;
  Result<void> query(const char* sql, std::initializer_list<std::string> values, const Row& row = {}) const;
  Result<std::int64_t> number(const char* sql) const;
  /// One transaction, which also rolls back an unfinished one of a killed process, and waits for others. If `work`
  /// fails, nothing changes.
  Result<void> transaction(const std::function<Result<void>()>& work) const;

  static std::string text(sqlite3_stmt* row, int column);
  static std::int64_t integer(sqlite3_stmt* row, int column);

 private:
  Failure failure() const;

  DatabaseKind kind_;
  sqlite3* handle_ = nullptr;
  std::string path_;
};

}  // namespace rankloom
