// SPDX-License-Identifier: Apache-2.0
// allocate/state: the state file. Schema 1: settings(key, value), jobs, drains. The rollback journal of SQLite makes
// every change atomic: after a crash, the next process that opens the file rolls back the unfinished transaction.
#include "rankloom/allocate/state/state_store.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t application_id = 0x524c6f6d;  // "RLom", in the header of the file
constexpr int schema_version = 1;
constexpr int busy_timeout_ms = 30'000;

/// In schema 1 the columns `kept` and `closed` contain the reserved nodes and whether the job is isolated.
constexpr const char* create_tables =
    "CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE jobs(number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, tasks INTEGER NOT NULL,"
    " nodes TEXT NOT NULL, kept TEXT NOT NULL, diameter INTEGER NOT NULL, closed INTEGER NOT NULL, policy TEXT NOT "
    "NULL,"
    " since TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));"
    "CREATE TABLE drains(node INTEGER PRIMARY KEY, failed INTEGER NOT NULL, reason TEXT NOT NULL);";

std::string format_fraction(double value) {
  return fmt::format("{}", value);
}

constexpr std::uint32_t max_node_number = 1U << 24;
constexpr const char* damaged_hint =
    "another program changed the file; restore a copy, or start again with `rankloom alloc init --force`";

constexpr const char* temporary_prefix = ".rankloom-state-";

std::string parent_directory(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().string();
}

/// Fails if rankloom did not create the file. SQLite must not open such a file: it takes a file with the same name and
/// the suffix "-journal" for its own and removes it.
Result<void> check_owner(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  const std::string_view head = file->view().substr(0, 100);
  using namespace std::string_view_literals;
  constexpr std::string_view magic = "SQLite format 3\0"sv;
  if (head.size() < 100 || !head.starts_with(magic)) {
    return fail(Code::bad_input, at(path), "this is not a state file, or it is damaged: file is not a database",
                "restore a copy, or remove the file and start again with `rankloom alloc init`");
  }
  constexpr std::size_t application_id_offset = 68;
  std::uint32_t id = 0;
  for (const char byte : head.substr(application_id_offset, 4)) id = id << 8U | static_cast<unsigned char>(byte);
  if (id == application_id) return {};
  return fail(Code::bad_input, at(path), "this is an SQLite database but not a state file of rankloom",
              "name a file that `rankloom alloc init` created");
}

Result<std::vector<Node>> parse_nodes(const std::string& text, const std::string& path) {
  const auto numbers = parse_number_ranges(text, max_node_number);
  if (!numbers) {
    return fail(Code::bad_input, at(path), fmt::format("'{}' in the state file is not a list of nodes", text),
                damaged_hint);
  }
  std::vector<Node> nodes;
  nodes.reserve(numbers->size());
  for (const std::uint32_t number : *numbers) nodes.push_back(Node{number});
  return nodes;
}

}  // namespace

std::string node_ranges(std::span<const Node> nodes) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(nodes.size());
  for (const Node node : nodes) numbers.push_back(index(node));
  return format_number_ranges(numbers);
}

/// An open database; translates errors of SQLite.
struct StateStore::Database {
  sqlite3* handle = nullptr;
  std::string path;

  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(handle); }

  Failure failure() const {
    const int code = sqlite3_errcode(handle) & 0xff;
    const char* const message = sqlite3_errmsg(handle);
    switch (code) {
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        return fail(Code::bad_input, at(path), fmt::format("this is not a state file, or it is damaged: {}", message),
                    "restore a copy, or remove the file and start again with `rankloom alloc init`");
      case SQLITE_FULL:
        return fail(Code::environment, at(path), "the disk is full; nothing was changed",
                    "free disk space and try again");
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return fail(Code::environment, at(path),
                    fmt::format("another process has locked the state file for {} s; nothing was changed",
                                busy_timeout_ms / 1000),
                    "find that process with `fuser FILE`, end it or wait, and try again");
      case SQLITE_READONLY:
      case SQLITE_PERM:
      case SQLITE_CANTOPEN:
        return fail(Code::environment, at(path), fmt::format("the state file cannot be written: {}", message),
                    "choose a file and a directory with write permission");
      default:
        return fail(Code::environment, at(path),
                    fmt::format("the state file cannot be used: {}; nothing was changed", message),
                    "check the disk, for example with `dmesg`");
    }
  }

  Result<void> run(const char* sql) const {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
    return {};
  }

  /// Runs a statement with these values and calls row(statement) for each row; an error of `row` ends the query.
  using Value = std::string;
  template <class Row>
  Result<void> query(const char* sql, std::initializer_list<Value> values, const Row& row) const {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(handle, sql, -1, &raw, nullptr) != SQLITE_OK) return failure();
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    int parameter = 0;
    for (const Value& value : values)
      sqlite3_bind_text(raw, ++parameter, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
    while (true) {
      const int status = sqlite3_step(raw);
      if (status == SQLITE_DONE) return {};
      if (status != SQLITE_ROW) return failure();
      if (Result<void> sound = row(raw); !sound) return sound;
    }
  }
  Result<void> query(const char* sql, std::initializer_list<Value> values) const {
    return query(sql, values, [](sqlite3_stmt*) -> Result<void> { return {}; });
  }

  static std::string text(sqlite3_stmt* row, int column) {
    const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return value == nullptr ? "" : std::string(value, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
  }
  Result<int> number(const char* sql) const {
    int value = 0;
    auto done = query(sql, {}, [&](sqlite3_stmt* row) -> Result<void> {
      value = sqlite3_column_int(row, 0);
      return {};
    });
    if (!done) return propagate(done);
    return value;
  }

  Result<void> open(const std::string& file, int flags) {
    path = file;
    if (sqlite3_open_v2(file.c_str(), &handle, flags, nullptr) != SQLITE_OK) return failure();
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, busy_timeout_ms);
    return run("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;");
  }

  /// In a transaction of the caller.
  Result<void> fill(const StateSettings& settings) const;
  Result<MachineState> read() const;
  Result<void> apply(const StateChange& change) const;
};

Result<MachineState> StateStore::Database::read() const {
  MachineState state;
  auto settings = query("SELECT key, value FROM settings", {}, [&](sqlite3_stmt* row) -> Result<void> {
    const std::string key = text(row, 0), value = text(row, 1);
    if (key == "machine") state.settings.machine = value;
    if (key == "exclusive") state.settings.exclusive = value == "links" ? Exclusive::links : Exclusive::routers;
    if (key == "policy") state.settings.policy = value;
    if (key == "waste") state.settings.limits.waste = std::strtod(value.c_str(), nullptr);
    if (key == "slack") state.settings.limits.slack = std::strtod(value.c_str(), nullptr);
    return {};
  });
  if (!settings) return propagate(settings);
  std::size_t stored_nodes = 0;  // a node belongs to at most one job
  auto jobs = query("SELECT name, tasks, nodes, kept, diameter, closed, policy, since FROM jobs ORDER BY number", {},
                    [&](sqlite3_stmt* row) -> Result<void> {
                      StoredJob job;
                      job.name = text(row, 0);
                      job.tasks = static_cast<std::uint64_t>(sqlite3_column_int64(row, 1));
                      for (auto [column, nodes] : {std::pair(2, &job.nodes), std::pair(3, &job.reserved)}) {
                        auto parsed = parse_nodes(text(row, column), path);
                        if (!parsed) return propagate(parsed);
                        *nodes = std::move(*parsed);
                        stored_nodes += nodes->size();
                        if (stored_nodes > max_node_number)
                          return fail(Code::bad_input, at(path), "the jobs in the state file have too many nodes",
                                      damaged_hint);
                      }
                      job.diameter = static_cast<std::uint32_t>(sqlite3_column_int64(row, 4));
                      job.isolated = sqlite3_column_int(row, 5) != 0;
                      job.policy = text(row, 6);
                      job.since = text(row, 7);
                      state.jobs.push_back(std::move(job));
                      return {};
                    });
  if (!jobs) return propagate(jobs);
  auto drains =
      query("SELECT node, failed, reason FROM drains ORDER BY node", {}, [&](sqlite3_stmt* row) -> Result<void> {
        state.drains.push_back({Node{static_cast<std::uint32_t>(sqlite3_column_int64(row, 0))},
                                sqlite3_column_int(row, 1) != 0, text(row, 2)});
        return {};
      });
  if (!drains) return propagate(drains);
  auto next = number("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0) + 1");
  if (!next) return propagate(next);
  state.next_number = static_cast<std::uint64_t>(*next);
  return state;
}

Result<void> StateStore::Database::apply(const StateChange& change) const {
  for (const StoredJob& job : change.add) {
    auto added =
        query("INSERT INTO jobs(name, tasks, nodes, kept, diameter, closed, policy) VALUES(?, ?, ?, ?, ?, ?, ?)",
              {job.name, std::to_string(job.tasks), node_ranges(job.nodes), node_ranges(job.reserved),
               std::to_string(job.diameter), job.isolated ? "1" : "0", job.policy});
    if (!added) return added;
  }
  for (const std::string& name : change.remove) {
    if (auto removed = query("DELETE FROM jobs WHERE name = ?", {name}); !removed) return removed;
  }
  for (const StoredDrain& drain : change.drain) {
    auto drained = query("INSERT OR REPLACE INTO drains(node, failed, reason) VALUES(?, ?, ?)",
                         {std::to_string(index(drain.node)), drain.failed ? "1" : "0", drain.reason});
    if (!drained) return drained;
  }
  for (const Node node : change.resume) {
    if (auto resumed = query("DELETE FROM drains WHERE node = ?", {std::to_string(index(node))}); !resumed)
      return resumed;
  }
  return {};
}

Result<void> StateStore::Database::fill(const StateSettings& settings) const {
  const std::string head =
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", application_id, schema_version);
  if (auto done = run(head.c_str()); !done) return done;
  if (auto done = run(create_tables); !done) return done;
  const std::pair<std::string, std::string> values[] = {{"machine", settings.machine},
                                                        {"exclusive", std::string(name_of(settings.exclusive))},
                                                        {"policy", settings.policy},
                                                        {"waste", format_fraction(settings.limits.waste)},
                                                        {"slack", format_fraction(settings.limits.slack)}};
  for (const auto& [key, value] : values)
    if (auto done = query("INSERT INTO settings VALUES(?, ?)", {key, value}); !done) return done;
  return {};
}

/// In a temporary directory, so that the file is complete as soon as it has its name.
Result<void> StateStore::create_new(const std::string& path, const StateSettings& settings) {
  const std::string parent = parent_directory(path);
  auto directory = TemporaryDirectory::make(parent, temporary_prefix);
  if (!directory) return propagate(directory);
  const std::string temporary = directory->file("state");
  const auto fill = [&]() -> Result<void> {
    Database database;
    if (auto opened = database.open(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); !opened) return opened;
    if (auto done = database.run("BEGIN IMMEDIATE"); !done) return done;
    if (auto done = database.fill(settings); !done) return done;
    return database.run("COMMIT");
  };
  if (auto filled = fill(); !filled) {
    filled.error().where.source = path;
    return filled;
  }
  if (::link(temporary.c_str(), path.c_str()) != 0) {
    return fail(Code::environment, at(path), fmt::format("the state file cannot be created: {}", std::strerror(errno)),
                "choose a directory with write permission");
  }
  const Descriptor opened(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::fsync(opened.number());
  return {};
}

/// One transaction of SQLite, which also rolls back an unfinished one of a killed process, and waits for others.
Result<void> StateStore::replace(const std::string& path, const StateSettings& settings) {
  Database database;
  if (auto opened = database.open(path, SQLITE_OPEN_READWRITE); !opened) return opened;
  if (auto done = database.run("BEGIN IMMEDIATE"); !done) return done;
  std::string drop;
  auto tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'", {},
                               [&](sqlite3_stmt* row) -> Result<void> {
                                 drop += fmt::format("DROP TABLE \"{}\";", Database::text(row, 0));
                                 return {};
                               });
  if (!tables) return tables;
  if (auto done = database.run(drop.c_str()); !done) return done;
  if (auto done = database.fill(settings); !done) return done;
  return database.run("COMMIT");
}

Result<void> StateStore::create(const std::string& path, const StateSettings& settings, bool force) {
  if (::access(path.c_str(), F_OK) != 0) return create_new(path, settings);
  TemporaryDirectory::remove_abandoned(parent_directory(path), temporary_prefix);
  if (auto own = check_owner(path); !own) {
    own.error().hint = "choose another file with --state; --force replaces only state files of rankloom";
    return own;
  }
  if (force) return replace(path, settings);
  return fail(Code::bad_input, at(path), "the state file already exists",
              "use it, choose another file with --state, or replace it with --force");
}

Result<StateStore> StateStore::open(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) {
    return fail(Code::environment, at(path), "the state file does not exist",
                "create it with `rankloom alloc init -t TOPOLOGY`, or name another file with --state");
  }
  if (auto own = check_owner(path); !own) return propagate(own);
  auto database = std::make_shared<Database>();
  if (auto opened = database->open(path, SQLITE_OPEN_READWRITE); !opened) return propagate(opened);
  auto version = database->number("PRAGMA user_version");
  if (!version) return propagate(version);
  if (*version != schema_version) {
    return fail(Code::bad_input, at(path),
                fmt::format("the state file has schema version {}; this rankloom supports version {}", *version,
                            schema_version),
                "use the version of rankloom that wrote it");
  }
  return StateStore(std::move(database));
}

Result<MachineState> StateStore::read() {
  if (auto begun = database_->run("BEGIN"); !begun) return propagate(begun);
  auto state = database_->read();
  (void)database_->run("ROLLBACK");
  return state;
}

Result<void> StateStore::change(const std::function<Result<StateChange>(const MachineState&)>& decide) {
  if (auto begun = database_->run("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = [&]() -> Result<void> {
    auto state = database_->read();
    if (!state) return propagate(state);
    auto change = decide(*state);
    if (!change) return propagate(change);
    if (auto applied = database_->apply(*change); !applied) return applied;
    return database_->run("COMMIT");
  }();
  if (!done) (void)database_->run("ROLLBACK");
  return done;
}

Result<RestoredState> restore(MachineState state, const std::string& path) {
  auto spec = read_machine_json(FileContents(path + " (machine)", state.settings.machine));
  if (!spec) return propagate(spec);
  auto topology = Topology::build(std::move(*spec));
  if (!topology) return propagate(topology);
  AllocationMachine machine(*std::move(topology), state.settings.exclusive);
  Occupancy occupancy(machine);
  Bitset used_nodes(machine.node_count());
  const auto inconsistent = [&](std::string what) {
    return fail(Code::bad_input, at(path), std::move(what), damaged_hint);
  };
  for (const StoredJob& job : state.jobs) {
    Allocation allocation{job.nodes, job.reserved, Bitset(machine.route_footprint().resource_count()), job.diameter,
                          job.isolated};
    for (const auto* nodes : {&job.nodes, &job.reserved}) {
      for (const Node node : *nodes) {
        if (index(node) >= machine.node_count())
          return inconsistent(fmt::format("job {} has node {}, but the machine has {} nodes", job.name, index(node),
                                          machine.node_count()));
        if (used_nodes.test(index(node))) return inconsistent(fmt::format("node {} belongs to two jobs", index(node)));
        used_nodes.set(index(node));
      }
    }
    machine.route_footprint().add_resources(job.nodes, allocation.shared_resources);
    occupancy.add(allocation);
  }
  for (const StoredDrain& drain : state.drains) {
    if (index(drain.node) >= machine.node_count())
      return inconsistent(
          fmt::format("node {} is drained, but the machine has {} nodes", index(drain.node), machine.node_count()));
    occupancy.drain(drain.node, drain.failed);
  }
  return RestoredState{std::move(state), Allocator(std::move(machine)), std::move(occupancy)};
}

}  // namespace rankloom
