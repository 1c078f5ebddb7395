// SPDX-License-Identifier: Apache-2.0
// apps/help: `rankloom list`: prints the tables of the library.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/allocate/policy.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/generate/training/known_models.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/experiment/instance_packs.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// A row of any of the tables.
struct Entry {
  std::string name, summary, reference, remark;
  std::vector<Option> options;
};
using Entries = std::vector<Entry>;

Entries list_mappers() {
  Entries entries;
  for (const MapperInfo& row : mappers()) {
    const auto mapper = row.make();
    OptionList list;
    mapper->describe(list);
    entries.push_back({std::string(row.name),
                       std::string(row.summary),
                       std::string(row.reference),
                       "",
                       {list.all().begin(), list.all().end()}});
  }
  return entries;
}

Entries list_models() {
  Entries entries;
  for (const CostModelInfo& row : cost_models()) {
    entries.push_back({std::string(row.name),
                       std::string(row.summary),
                       std::string(row.reference),
                       row.larger_is_better ? "larger is better" : "",
                       {}});
  }
  return entries;
}

Entries list_formats() {
  Entries entries;
  for (const FormatInfo& row : formats()) {
    ReadOptions options;
    OptionList list;
    if (row.describe != nullptr) row.describe(options, list);
    entries.push_back({std::string(row.name),
                       std::string(row.summary),
                       std::string(row.reference),
                       row.refused            ? "refused"
                       : row.write != nullptr ? "read, write"
                                              : "read",
                       {list.all().begin(), list.all().end()}});
  }
  return entries;
}

Entries list_patterns() {
  Entries entries;
  for (const GeneratorInfo& row : generators()) {
    const Pattern pattern(row);  // includes the options that all patterns share
    const auto options = pattern.options().all();
    entries.push_back({std::string(row.name),
                       std::string(row.summary),
                       std::string(row.reference),
                       "",
                       {options.begin(), options.end()}});
  }
  return entries;
}

Entries list_topologies() {
  Entries entries;
  for (const TopologySourceInfo& row : topology_sources())
    entries.push_back({std::string(row.name), std::string(row.summary), "", "", {}});
  return entries;
}

Entries list_collectives() {
  Entries entries;
  for (const CollectiveModelInfo& row : collective_models())
    entries.push_back({std::string(row.name), std::string(row.summary), "", "", {}});
  return entries;
}

Entries list_launchers() {
  Entries entries;
  for (const Launcher* const row : launchers()) {
    entries.push_back({std::string(row->name),
                       std::string(row->summary),
                       std::string(row->reference),
                       std::string(row->checked),
                       {}});
  }
  return entries;
}

Entries list_policies() {
  Entries entries;
  for (const PolicyInfo& row : policies())
    entries.push_back({std::string(row.name),
                       std::string(row.summary),
                       std::string(row.reference),
                       row.isolated ? "jobs are isolated" : "",
                       {}});
  return entries;
}

Entries list_packs() {
  Entries entries;
  for (const InstancePack& pack : instance_packs())
    entries.push_back({std::string(pack.name),
                       std::string(pack.summary),
                       fmt::format("{} instances, model {}", pack.instances.size(), pack.model),
                       "",
                       {}});
  return entries;
}

Entries list_language_models() {
  Entries entries;
  for (const KnownModel& row : known_models()) {
    std::string summary = fmt::format("{} layers, hidden size {}, {} heads, {} of keys and values", row.layers,
                                      row.hidden, row.heads, row.kv_heads);
    if (row.experts > 0) summary += fmt::format(", {} of {} experts", row.top, row.experts);
    entries.push_back({std::string(row.name), std::move(summary), std::string(row.reference), "", {}});
  }
  return entries;
}

struct Kind {
  std::string_view name;
  std::string_view summary;
  Entries (*list)();
};

constexpr std::array<Kind, 10> kinds{
    {{"mappers", "mapping algorithms, for -a", list_mappers},
     {"models", "cost models of a mapping, for --model", list_models},
     {"formats", "file formats of profiles, for --from and --to", list_formats},
     {"patterns", "synthetic communication patterns, for gen", list_patterns},
     {"llms", "sizes of public language models, for gen llm --model", list_language_models},
     {"launchers", "launchers of MPI and training programs, for emit --to", list_launchers},
     {"policies", "node allocation policies, for alloc", list_policies},
     {"topologies", "sources of machines, for -t", list_topologies},
     {"collectives", "models that expand collectives into messages, for --collectives", list_collectives},
     {"packs", "sets of instances, for bench", list_packs}}};

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

Json to_json(const Entry& entry) {
  Json json{{"name", entry.name}, {"summary", entry.summary}};
  if (!entry.reference.empty()) json["reference"] = entry.reference;
  if (!entry.remark.empty()) json["remark"] = entry.remark;
  if (!entry.options.empty()) json["options"] = Json::array();
  for (const Option& option : entry.options) {
    json["options"].push_back({{"name", option.name},
                               {"help", option.help},
                               {"value", option.value_name},
                               {"default", option.default_text},
                               {"choices", option.choices}});
  }
  return json;
}

std::string table_of(const Entries& entries, std::size_t width) {
  Table table({{}, {}, {}, {}});
  for (const Entry& entry : entries) table.row({entry.name, entry.remark, entry.summary, entry.reference});
  return table.text(width);
}

std::string details_of(const Entry& entry, std::size_t width) {
  std::string text = fmt::format("{}: {}\n", entry.name, entry.summary);
  if (!entry.reference.empty()) text += fmt::format("  {}\n", entry.reference);
  if (!entry.remark.empty()) text += fmt::format("  {}\n", entry.remark);
  Table table({{}, {}, {}});
  for (const Option& option : entry.options) {
    table.row({option.value_name.empty() ? option.name : fmt::format("{}={}", option.name, option.value_name),
               option.help, option.default_text.empty() ? "" : fmt::format("[{}]", option.default_text)});
  }
  return table.empty() ? text : text + "\n" + table.text(width);
}

class ListVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    const std::string names = fmt::format("{}", fmt::join(kind_names(), "|"));
    add_value(app, {"KIND", names, fmt::format("the table: {}", fmt::join(kind_names(), ", ")), "input"},
              [this](std::string_view value) -> Result<void> {
                const auto found =
                    std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == value; });
                if (found == kinds.end())
                  return bad_value("KIND", value, fmt::format("one of: {}", fmt::join(kind_names(), ", ")));
                kind_ = &*found;
                return {};
              });
    add_text(app, {"NAME", "NAME", "show one row with its options", "input"}, name_);
  }

  Result<int> run(const Session& session) override {
    if (kind_ == nullptr) return list_kinds(session);
    Entries entries = kind_->list();
    if (!name_.empty()) {
      const auto found =
          std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name_; });
      if (found == entries.end()) return unknown(entries);
      entries = {*found};
    }
    if (session.json) {
      Json rows = Json::array();
      for (const Entry& entry : entries) rows.push_back(to_json(entry));
      print_json(Json{{std::string(kind_->name), rows}});
    } else {
      print(name_.empty() ? table_of(entries, session.width) : details_of(entries[0], session.width));
    }
    return success;
  }

 private:
  static Result<int> list_kinds(const Session& session) {
    Table table({{}, {}});
    Json json;
    for (const Kind& kind : kinds) {
      table.row({fmt::format("rankloom list {}", kind.name), std::string(kind.summary)});
      json["kinds"].push_back({{"name", kind.name}, {"summary", kind.summary}});
    }
    if (session.json) {
      print_json(json);
    } else {
      print(table.text(session.width));
    }
    return success;
  }

  Failure unknown(const Entries& entries) const {
    std::vector<std::string_view> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    return fail(Code::usage, at(std::string(kind_->name)), fmt::format("unknown name '{}'", name_),
                suggest(name_, names));
  }

  const Kind* kind_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Verb> make_list() {
  return std::make_unique<ListVerb>();
}

}  // namespace rankloom::app
