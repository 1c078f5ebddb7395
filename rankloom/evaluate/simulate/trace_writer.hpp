// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: writes the time-independent trace of one rank; collectives become messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/collective_steps.hpp"

namespace rankloom {

/// Collects the lines of one rank.
class TraceWriter {
 public:
  explicit TraceWriter(Rank rank) : rank_(index(rank)) {}

  static constexpr int exchange_tag = 0, collective_tag = 1;
  /// SimGrid stores sizes in an int and allocates a buffer for the largest message.
  static constexpr double max_message = 256.0 * (1 << 20);

  void line(std::string_view action);
  void compute(double nanoseconds);
  void isend(Rank to, int tag, double bytes) { message("isend", to, tag, bytes, true); }
  void send(Rank to, int tag, double bytes) { message("send", to, tag, bytes, true); }
  void irecv(Rank from, int tag, double bytes) { message("irecv", from, tag, bytes, false); }
  void recv(Rank from, int tag, double bytes) { message("recv", from, tag, bytes, false); }
  void wait_all() { line("waitall"); }

  /// The messages of the member `position` in one step of a collective.
  void collective(const CollectiveStep& step, std::span<const Rank> members, std::uint32_t ranks, std::uint32_t root,
                  std::uint32_t position, double bytes);

  std::string& text() { return text_; }
  std::uint64_t messages() const { return messages_; }

 private:
  void message(std::string_view action, Rank other, int tag, double bytes, bool is_send);

  std::uint32_t rank_;
  std::string text_;
  std::uint64_t messages_ = 0;
};

}  // namespace rankloom
