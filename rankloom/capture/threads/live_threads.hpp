// SPDX-License-Identifier: Apache-2.0
// capture/threads: reads the LiveTable of a running program that records its threads. The program does not synchronise
// with its readers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rankloom {

namespace threads {
struct LiveTable;
}

class LiveThreads {
 public:
  /// nullptr while the table does not exist or is not complete.
  static std::unique_ptr<LiveThreads> open(const std::string& path);
  ~LiveThreads();
  LiveThreads(const LiveThreads&) = delete;
  LiveThreads& operator=(const LiveThreads&) = delete;

  std::uint32_t process() const;
  /// The program has ended normally; a killed program does not report its end.
  bool ended() const;
  /// The count of thread numbers that were ever used, at most the rows of the table.
  std::uint32_t numbers() const;
  /// The system id (gettid) of the thread that has the number now; 0: none.
  std::uint32_t system_id(std::uint32_t number) const;
  /// Lines that this number has received from each of the first `from` numbers since the program began.
  std::vector<std::uint64_t> received(std::uint32_t number, std::uint32_t from) const;

 private:
  explicit LiveThreads(const threads::LiveTable* table) : table_(table) {}
  const threads::LiveTable* table_;
};

}  // namespace rankloom
