// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: the rows of an experiment as JSON lines. A row is on the disk before the next run starts.
#pragma once

#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/descriptor.hpp"

namespace rankloom::app {

class RowJournal {
 public:
  /// Opens or creates the file and reads its rows. A last line without a newline, from a process that was killed, is
  /// removed.
  static Result<RowJournal> open(const std::string& path);

  const std::vector<Json>& rows() const { return rows_; }
  /// Appends a row by one write and waits until it is on the disk. If this fails, the file keeps its complete rows.
  Result<void> append(Json row);

 private:
  RowJournal(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> read();
  Failure cannot_write() const;

  std::string path_;
  Descriptor file_;
  std::vector<Json> rows_;
};

}  // namespace rankloom::app
