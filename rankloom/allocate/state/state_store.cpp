// SPDX-License-Identifier: Apache-2.0
// allocate/state: the state file. Schema 1: settings(key, value), jobs, drains.
#include "rankloom/allocate/state/state_store.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rankloom/allocate/state/database.hpp"
#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

constexpr int schema_version = 1;
constexpr DatabaseKind state_file{
    .name = "state file",
    .damaged_hint = "restore a copy, or remove the file and start again with `rankloom alloc init`",
    .application_id = 0x524c6f6d,  // "RLom"
    .lock_timeout = std::chrono::seconds(30)};

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

/// In a transaction of the caller.
Result<MachineState> read_state(const Database& database, const std::string& path) {
  MachineState state;
  auto settings = database.query("SELECT key, value FROM settings", {}, [&](sqlite3_stmt* row) -> Result<void> {
    const std::string key = Database::text(row, 0), value = Database::text(row, 1);
    if (key == "machine") state.settings.machine = value;
    if (key == "exclusive") state.settings.exclusive = value == "links" ? Exclusive::links : Exclusive::routers;
    if (key == "policy") state.settings.policy = value;
    if (key == "waste") state.settings.limits.waste = std::strtod(value.c_str(), nullptr);
    if (key == "slack") state.settings.limits.slack = std::strtod(value.c_str(), nullptr);
    return {};
  });
  if (!settings) return propagate(settings);
  std::size_t stored_nodes = 0;  // a node belongs to at most one job
  auto jobs = database.query(
      "SELECT name, tasks, nodes, kept, diameter, closed, policy, since FROM jobs ORDER BY number", {},
      [&](sqlite3_stmt* row) -> Result<void> {
        StoredJob job;
        job.name = Database::text(row, 0);
        job.tasks = static_cast<std::uint64_t>(Database::integer(row, 1));
        for (auto [column, nodes] : {std::pair(2, &job.nodes), std::pair(3, &job.reserved)}) {
          auto parsed = parse_nodes(Database::text(row, column), path);
          if (!parsed) return propagate(parsed);
          *nodes = std::move(*parsed);
          stored_nodes += nodes->size();
          if (stored_nodes > max_node_number)
            return fail(Code::bad_input, at(path), "the jobs in the state file have too many nodes", damaged_hint);
        }
        job.diameter = static_cast<std::uint32_t>(Database::integer(row, 4));
        job.isolated = Database::integer(row, 5) != 0;
        job.policy = Database::text(row, 6);
        job.since = Database::text(row, 7);
        state.jobs.push_back(std::move(job));
        return {};
      });
  if (!jobs) return propagate(jobs);
  auto drains = database.query("SELECT node, failed, reason FROM drains ORDER BY node", {},
                               [&](sqlite3_stmt* row) -> Result<void> {
                                 state.drains.push_back({Node{static_cast<std::uint32_t>(Database::integer(row, 0))},
                                                         Database::integer(row, 1) != 0, Database::text(row, 2)});
                                 return {};
                               });
  if (!drains) return propagate(drains);
  auto next = database.number("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0) + 1");
  if (!next) return propagate(next);
  state.next_number = static_cast<std::uint64_t>(*next);
  return state;
}

/// In a transaction of the caller.
Result<void> apply(const Database& database, const StateChange& change) {
  for (const StoredJob& job : change.add) {
    auto added = database.query(
        "INSERT INTO jobs(name, tasks, nodes, kept, diameter, closed, policy) VALUES(?, ?, ?, ?, ?, ?, ?)",
        {job.name, std::to_string(job.tasks), node_ranges(job.nodes), node_ranges(job.reserved),
         std::to_string(job.diameter), job.isolated ? "1" : "0", job.policy});
    if (!added) return added;
  }
  for (const std::string& name : change.remove) {
    if (auto removed = database.query("DELETE FROM jobs WHERE name = ?", {name}); !removed) return removed;
  }
  for (const StoredDrain& drain : change.drain) {
    auto drained = database.query("INSERT OR REPLACE INTO drains(node, failed, reason) VALUES(?, ?, ?)",
                                  {std::to_string(index(drain.node)), drain.failed ? "1" : "0", drain.reason});
    if (!drained) return drained;
  }
  for (const Node node : change.resume) {
    if (auto resumed = database.query("DELETE FROM drains WHERE node = ?", {std::to_string(index(node))}); !resumed)
      return resumed;
  }
  return {};
}

/// In a transaction of the caller.
Result<void> fill(const Database& database, const StateSettings& settings) {
  const std::string head =
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", state_file.application_id, schema_version);
  if (auto done = database.run(head); !done) return done;
  if (auto done = database.run(create_tables); !done) return done;
  const std::pair<std::string, std::string> values[] = {{"machine", settings.machine},
                                                        {"exclusive", std::string(name_of(settings.exclusive))},
                                                        {"policy", settings.policy},
                                                        {"waste", format_fraction(settings.limits.waste)},
                                                        {"slack", format_fraction(settings.limits.slack)}};
  for (const auto& [key, value] : values)
    if (auto done = database.query("INSERT INTO settings VALUES(?, ?)", {key, value}); !done) return done;
  return {};
}

}  // namespace

std::string node_ranges(std::span<const Node> nodes) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(nodes.size());
  for (const Node node : nodes) numbers.push_back(index(node));
  return format_number_ranges(numbers);
}

/// In a temporary directory, so that the file is complete as soon as it has its name.
Result<void> StateStore::create_new(const std::string& path, const StateSettings& settings) {
  const std::string parent = parent_directory(path);
  auto directory = TemporaryDirectory::make(parent, temporary_prefix);
  if (!directory) return propagate(directory);
  const std::string temporary = directory->file("state");
  const auto make = [&]() -> Result<void> {
    Database database(state_file);
    if (auto opened = database.open(temporary, Database::Access::create); !opened) return opened;
    return database.transaction([&] { return fill(database, settings); });
  };
  if (auto filled = make(); !filled) {
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

Result<void> StateStore::replace(const std::string& path, const StateSettings& settings) {
  Database database(state_file);
  if (auto opened = database.open(path, Database::Access::write); !opened) return opened;
  return database.transaction([&]() -> Result<void> {
    std::string drop;
    auto tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'", {},
                                 [&](sqlite3_stmt* row) -> Result<void> {
                                   drop += fmt::format("DROP TABLE \"{}\";", Database::text(row, 0));
                                   return {};
                                 });
    if (!tables) return tables;
    if (auto done = database.run(drop); !done) return done;
    return fill(database, settings);
  });
}

Result<void> StateStore::create(const std::string& path, const StateSettings& settings, bool force) {
  if (::access(path.c_str(), F_OK) != 0) return create_new(path, settings);
  TemporaryDirectory::remove_abandoned(parent_directory(path), temporary_prefix);
  if (auto own = Database::check_owner(path, state_file); !own) {
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
  if (auto own = Database::check_owner(path, state_file); !own) return propagate(own);
  auto database = std::make_shared<Database>(state_file);
  if (auto opened = database->open(path, Database::Access::write); !opened) return propagate(opened);
  auto version = database->number("PRAGMA user_version");
  if (!version) return propagate(version);
  if (*version != schema_version) {
    return fail(Code::bad_input, at(path),
                fmt::format("the state file has schema version {}; this rankloom supports version {}", *version,
                            schema_version),
                "use the version of rankloom that wrote it");
  }
  return StateStore(std::move(database), path);
}

Result<MachineState> StateStore::read() {
  if (auto begun = database_->run("BEGIN"); !begun) return propagate(begun);
  auto state = read_state(*database_, path_);
  (void)database_->run("ROLLBACK");
  return state;
}

Result<void> StateStore::change(const std::function<Result<StateChange>(const MachineState&)>& decide) {
  return database_->transaction([&]() -> Result<void> {
    auto state = read_state(*database_, path_);
    if (!state) return propagate(state);
    auto change = decide(*state);
    if (!change) return propagate(change);
    return apply(*database_, *change);
  });
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
