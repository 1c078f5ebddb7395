// SPDX-License-Identifier: Apache-2.0
// capture: the threads of a program that records them, while it runs: the recorder's table, mapped to be read. The
// program knows nothing of its readers and waits for none.
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
  /// Nothing while there is no such table, or it is not ready.
  static std::unique_ptr<LiveThreads> open(const std::string& path);
  ~LiveThreads();
  LiveThreads(const LiveThreads&) = delete;
  LiveThreads& operator=(const LiveThreads&) = delete;

  std::uint32_t process() const;
  /// The program said so; one that was killed cannot.
  bool ended() const;
  /// Numbers that were ever in use, as far as the table has room for them.
  std::uint32_t numbers() const;
  /// Of the thread that has the number now; 0: none.
  std::uint32_t system_id(std::uint32_t number) const;
  /// Lines that came to this number from each of the first `from` numbers, since the program began.
  std::vector<std::uint64_t> received(std::uint32_t number, std::uint32_t from) const;

 private:
  explicit LiveThreads(const threads::LiveTable* table) : table_(table) {}
  const threads::LiveTable* table_;
};

}  // namespace rankloom
