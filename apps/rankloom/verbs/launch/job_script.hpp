// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: a user's job script, changed so that `rankloom tune` starts its program: `rankloom tune --script`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"

namespace rankloom::app {

/// A script of a shell, perhaps with directives of a batch system.
class JobScript {
 public:
  /// A command of a launcher.
  struct Launch {
    std::size_t line = 0;    ///< From 1.
    std::size_t column = 0;  ///< Where the launcher begins in this line.
    std::string text;        ///< The command, without the lines' ends.
  };

  static JobScript parse(const FileContents& file);

  const std::vector<Launch>& launches() const { return launches_; }
  /// The only launch, or the one of this line. Fails if there is none, or several and no line is given.
  Result<Launch> choose(std::optional<std::size_t> line) const;
  /// "sbatch", "qsub", "bsub"; empty: it has no directives of a batch system.
  const std::string& submitter() const { return submitter_; }
  /// The requested time, from directives of Slurm.
  std::optional<double> seconds() const { return seconds_; }
  std::optional<std::uint32_t> nodes() const { return nodes_; }
  const std::string& name() const { return name_; }

  /// The script with `prefix` before the launcher and another limit of time. The second line says what wrote it.
  std::string with_prefix(const Launch& launch, const std::string& prefix, std::optional<double> seconds) const;

 private:
  void find_launches();
  void read_directive(std::size_t line);

  std::string name_;
  std::vector<std::string> lines_;
  std::vector<Launch> launches_;
  std::string submitter_;
  std::optional<double> seconds_;
  /// Where the directive with the limit of time has its value.
  struct TimeLimit {
    std::size_t line, column, length;  // from 0
  };
  std::optional<TimeLimit> time_;
  std::optional<std::uint32_t> nodes_;
};

/// Whether `rankloom tune --script` wrote this file.
bool is_tune_script(std::string_view content);

/// A time as Slurm writes it: "90" (minutes), "90:30", "1:30:00", "1-12", "1-12:30", "1-12:30:00".
std::optional<double> parse_slurm_time(std::string_view text);
/// "1-12:30:00"
std::string format_slurm_time(double seconds);

}  // namespace rankloom::app
