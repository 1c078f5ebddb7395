// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: the rows of an experiment as JSON lines.
#include "apps/rankloom/verbs/mapping/bench/row_journal.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

Result<RowJournal> RowJournal::open(const std::string& path) {
  RowJournal journal(path,
                     Descriptor(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)));
  if (!journal.file_.is_open()) return journal.cannot_write();
  if (auto read = journal.read(); !read) return propagate(read);
  return journal;
}

Result<void> RowJournal::read() {
  auto file = read_file(path_);
  if (!file) return propagate(file);
  std::string_view rest = file->view();
  for (std::uint64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      const std::size_t complete = file->view().size() - rest.size();
      if (::ftruncate(file_.number(), static_cast<off_t>(complete)) != 0) return cannot_write();
      break;
    }
    Json row = Json::parse(rest.substr(0, end), nullptr, false);
    if (!row.is_object()) {
      return fail(Code::bad_input, at(path_, line), "this line is not a row of an experiment",
                  "remove the line, or start again with --force");
    }
    rows_.push_back(std::move(row));
    rest.remove_prefix(end + 1);
  }
  return {};
}

Result<void> RowJournal::append(Json row) {
  const std::string line = to_line(row);
  struct stat before {};
  if (::fstat(file_.number(), &before) != 0) return cannot_write();
  const ssize_t written = ::write(file_.number(), line.data(), line.size());
  if (written >= 0) errno = ENOSPC;  // of a partial write, which sets no error
  if (written != static_cast<ssize_t>(line.size()) || ::fdatasync(file_.number()) != 0) {
    auto failure = cannot_write();
    [[maybe_unused]] const int restored = ::ftruncate(file_.number(), before.st_size);
    return failure;
  }
  rows_.push_back(std::move(row));
  return {};
}

Failure RowJournal::cannot_write() const {
  return fail(Code::environment, at(path_), fmt::format("cannot be written: {}", std::strerror(errno)),
              "choose a directory that can be written and has free space, then call the same command again");
}

}  // namespace rankloom::app
