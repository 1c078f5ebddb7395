// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: loads results of any verb, recognised by their content, into one report document, and writes
// it as a page, data or drawings. The functions of `rankloom report`, also called by `rankloom tune`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom {
enum class ResultKind : std::uint8_t;
}

namespace rankloom::app {

/// What reports name as the program that made them.
extern const char* const program_version;

/// A document and the machine of its mappings, which drawings for the terminal need.
struct LoadedReport {
  ReportDocument document;
  std::vector<ReportDocument> others;  ///< Of results for other problems: nothing of one enters another.
  std::optional<Topology> topology;
};

struct ReportArguments {
  std::vector<std::string> results;
  ProblemArguments problem;
  RunArguments run;

  void describe(CLI::App& app);
  Result<LoadedReport> load(Progress& progress);
  /// The equivalent command without its output options.
  std::string command() const;

 private:
  Result<void> add_result(const std::string& name, ReportDocument& document);
  Result<void> add_tune_directory(const std::string& directory, ReportDocument& document);
  Result<void> add_json(const std::string& name, const FileContents& file, ReportDocument& document);
  Result<void> add_costs(const std::string& name, const nlohmann::json& json, ResultKind kind,
                         ReportDocument& document);
  Result<void> set_profile(const std::string& name);
  Result<void> compare_placements(LoadedReport& report, Progress& progress);
  Result<void> describe_profile_only(ReportDocument& document, Progress& progress);
  void add_commands(ReportDocument& document) const;

  std::vector<ReportDocument> others_;   ///< Of results for other problems than that of the first document.
  std::vector<std::string> placements_;  ///< Mapping files and mappers.
  bool tuned_ = false;                   ///< The results include a directory of `rankloom tune`.
};

/// Adds the size and the checksum of an input to the document, if it is a file.
void record_checksum(const std::string& path, ReportDocument& document);

/// Fails unless the suffix of `path` selects a page or a picture and the file can be written; an empty path is none.
/// `data_hint` names what gives the data.
Result<void> check_page_output(const std::string& path, const std::string& data_hint);

/// Writes a page (.html, .htm), the data of the page (.json) or all drawings (.svg), by the suffix of `path`.
Result<void> write_report(const LoadedReport& report, const std::string& path);

}  // namespace rankloom::app
