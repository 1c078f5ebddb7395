// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: parses the lines of a time-independent trace: "rank action numbers". Counts are in elements,
// followed by the code of their datatype.
#include "rankloom/capture/import/trace/time_independent_lines.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

namespace rankloom {

namespace {

/// Size of an element by the datatype code of SimGrid 3.32 on 64-bit Linux: double, int, char, short, long, float,
/// byte, …; 0: unknown size.
constexpr double element_bytes[] = {8, 4,  1, 2,  8,  4, 1,  8,  1, 1,  2,  4,  8,  8, 16, 4, 1,  1,  2, 4,
                                    8, 1,  2, 4,  8,  8, 16, 32, 8, 8,  8,  16, 16, 8, 8,  8, 16, 16, 4, 4,
                                    8, 16, 8, 16, 16, 4, 2,  4,  8, 16, 32, 0,  0,  0, 0,  0, 0,  1,  0, 8};

enum class Kind : std::uint8_t { nothing, compute, begin, end, send, get, exchange, even, uneven };

struct Action {
  std::string_view name;  // in lower case
  Kind kind;
  CollectiveOp op = CollectiveOp::barrier;
};

/// The most frequent actions come first. Receives are ignored, because the matching sends are counted.
constexpr Action actions[] = {
    {"compute", Kind::compute},
    {"isend", Kind::send},
    {"irecv", Kind::nothing},
    {"wait", Kind::nothing},
    {"send", Kind::send},
    {"recv", Kind::nothing},
    {"waitall", Kind::nothing},
    {"test", Kind::nothing},
    {"allreduce", Kind::even, CollectiveOp::allreduce},
    {"bcast", Kind::even, CollectiveOp::bcast},
    {"barrier", Kind::even, CollectiveOp::barrier},
    {"reduce", Kind::even, CollectiveOp::reduce},
    {"alltoall", Kind::even, CollectiveOp::alltoall},
    {"allgather", Kind::even, CollectiveOp::allgather},
    {"gather", Kind::even, CollectiveOp::gather},
    {"scatter", Kind::even, CollectiveOp::scatter},
    {"scan", Kind::even, CollectiveOp::scan},
    {"exscan", Kind::even, CollectiveOp::scan},
    {"reducescatter", Kind::uneven, CollectiveOp::reduce_scatter},
    {"alltoallv", Kind::uneven, CollectiveOp::alltoall},
    {"allgatherv", Kind::uneven, CollectiveOp::allgather},
    {"gatherv", Kind::uneven, CollectiveOp::gather},
    {"scatterv", Kind::uneven, CollectiveOp::scatter},
    {"sendrecv", Kind::exchange},
    {"ssend", Kind::send},
    {"issend", Kind::send},
    {"bsend", Kind::send},
    {"ibsend", Kind::send},
    {"rsend", Kind::send},
    {"irsend", Kind::send},
    {"put", Kind::send},
    {"rput", Kind::send},
    {"accumulate", Kind::send},
    {"raccumulate", Kind::send},
    {"get", Kind::get},
    {"rget", Kind::get},
    {"init", Kind::begin},
    {"finalize", Kind::end},
    {"sleep", Kind::nothing},
    {"location", Kind::nothing},
    {"comm_size", Kind::nothing},
    {"comm_split", Kind::nothing},
    {"comm_dup", Kind::nothing},
    {"waitany", Kind::nothing},
    {"waitsome", Kind::nothing},
    {"testall", Kind::nothing},
    {"testany", Kind::nothing},
    {"testsome", Kind::nothing},
    {"probe", Kind::nothing},
    {"iprobe", Kind::nothing},
    {"win_fence", Kind::nothing},
};

const Action* find_exactly(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(actions), std::end(actions), [&](const Action& action) { return action.name == name; });
  return found == std::end(actions) ? nullptr : found;
}

bool is_collective(const Action* action) {
  return action != nullptr && (action->kind == Kind::even || action->kind == Kind::uneven);
}

/// Ignores case, and accepts the prefix i of a nonblocking collective.
const Action* find_action(std::string_view name) {
  if (const Action* const found = find_exactly(name)) return found;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (const Action* const found = find_exactly(lower)) return found;
  const Action* const blocking = lower.starts_with('i') ? find_exactly(lower.substr(1)) : nullptr;
  return is_collective(blocking) ? blocking : nullptr;
}

bool is_name(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) || c == '_'; });
}

}  // namespace

bool is_time_independent_action(std::string_view word) {
  return find_action(word) != nullptr;
}

Result<void> TimeIndependentTrace::take(const FileContents& file) {
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    if (in.next_is('#')) {
      in.skip_line();
      continue;
    }
    const Scanner line = in;
    in.take('p');  // traces of old versions
    std::uint64_t rank = 0;
    if (!in.take_integer(rank) || rank >= max_rank_count) {
      return input_error(file, line, fmt::format("\"{}\" is not a rank", line.token_for_message()),
                         "a line contains rank, action and numbers, such as \"0 send 1 0 1024 6\"");
    }
    if (state_ == nullptr || rank_ != rank) {
      rank_ = static_cast<std::uint32_t>(rank);
      state_ = &ranks_[rank_];
    }
    in.skip_blanks();
    if (auto taken = take_action(file, in, line); !taken) return taken;
  }
  state_ = nullptr;
  return {};
}

Result<void> TimeIndependentTrace::take_action(const FileContents& file, Scanner& in, const Scanner& line) {
  const Scanner before = in;
  const std::string_view name = in.take_token();
  const Action* const action = find_action(name);
  if (action == nullptr && !is_name(name)) {
    return input_error(file, line, fmt::format("\"{}\" is not an action", before.token_for_message()),
                       "the rank is followed by an action: send, isend, compute, bcast, …");
  }
  if (action == nullptr || action->kind == Kind::nothing) {
    if (action == nullptr) ++unknown_actions_[std::string(name)];
    in.skip_line();
    return {};
  }
  if (auto taken = take_numbers(file, in); !taken) return taken;
  const std::size_t needed = action->kind == Kind::send || action->kind == Kind::get             ? 2
                             : action->kind == Kind::exchange                                    ? 4
                             : action->kind == Kind::compute                                     ? 1
                             : action->kind == Kind::even && action->op != CollectiveOp::barrier ? 1
                                                                                                 : 0;
  if (numbers_.size() < needed) {
    return input_error(
        file, line, fmt::format("{} numbers after \"{}\", but at least {} are required", numbers_.size(), name, needed),
        "the trace is truncated or was changed; record it again");
  }
  switch (action->kind) {
    case Kind::compute:
      if (numbers_[0] < 0)
        return input_error(file, line, "the amount of computation is negative", "record the trace again");
      state_->work += numbers_[0];
      break;
    case Kind::begin:
      state_->begun = true;
      state_->type_bytes = numbers_.empty() ? 1 : 8;  // "init 1" announces doubles
      break;
    case Kind::end:
      state_->ended = true;
      break;
    case Kind::send:
    case Kind::get:
      take_message(action->kind == Kind::get);
      break;
    case Kind::exchange:
      take_sendrecv();
      break;
    case Kind::even:
      take_even(action->op);
      break;
    case Kind::uneven:
      return take_uneven(file, line, action->op);
    case Kind::nothing:
      break;
  }
  return {};
}

/// Takes the numbers up to the end of the line. A negative number is MPI_PROC_NULL, a wildcard or an unknown datatype.
Result<void> TimeIndependentTrace::take_numbers(const FileContents& file, Scanner& in) {
  numbers_.clear();
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    double value = 0;
    const Scanner before = in;
    if (!in.take_number(value) || std::abs(value) > max_amount) {
      return input_error(file, before, fmt::format("\"{}\" is not a finite number", before.token_for_message()),
                         "an action is followed by decimal numbers");
    }
    numbers_.push_back(value);
  }
  return {};
}

double TimeIndependentTrace::type_bytes(std::size_t index) const {
  if (index >= numbers_.size()) return state_->type_bytes;
  const double code = numbers_[index];
  return code >= 0 && code < static_cast<double>(std::size(element_bytes))
             ? element_bytes[static_cast<std::size_t>(code)]
             : 0;
}

/// The bytes of the elements whose count and datatype have these indices.
double TimeIndependentTrace::bytes_at(std::size_t index, std::size_t type_index) {
  const double count = std::max(number(index), 0.0), size = type_bytes(type_index);
  if (size > 0) return count * size;
  unknown_elements_ += count;
  return count;
}

void TimeIndependentTrace::send(std::uint32_t from, double to, double bytes) {
  if (to < 0 || to >= static_cast<double>(max_rank_count)) return;  // MPI_PROC_NULL
  traffic_.add(from, static_cast<std::uint32_t>(to), bytes);
  sizes_.add(std::min(bytes, 0x1p62));
}

/// "partner tag count [type]"; before 2018 without the tag.
void TimeIndependentTrace::take_message(bool fetched) {
  const bool old = numbers_.size() == 2;
  const double bytes = bytes_at(old ? 1 : 2, 3), partner = numbers_[0];
  if (partner < 0 || partner >= static_cast<double>(max_rank_count)) return;
  if (fetched) {
    send(static_cast<std::uint32_t>(partner), rank_, bytes);
  } else {
    send(rank_, partner, bytes);
  }
}

/// "count to count from [type type]"; the partner's line contains what this rank receives.
void TimeIndependentTrace::take_sendrecv() {
  send(rank_, numbers_[1], bytes_at(0, 4));
}

/// Every member reports the same bytes. Of the two counts of a gather, the one that is not significant at a rank may
/// have any value, usually the same or 0.
void TimeIndependentTrace::take_even(CollectiveOp op) {
  CollectiveAccumulator::Call call{.op = op};
  const auto larger = [this](std::size_t type) { return std::max(bytes_at(0, type), bytes_at(1, type + 1)); };
  double root = 0;
  switch (op) {
    case CollectiveOp::bcast:
      call.bytes = bytes_at(0, 2);
      root = number(1);
      break;
    case CollectiveOp::reduce:
      call.bytes = bytes_at(0, 3);
      root = number(2);
      break;
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      call.bytes = larger(3);
      root = number(2);
      break;
    case CollectiveOp::allgather:
    case CollectiveOp::alltoall:
      call.bytes = larger(2);
      break;
    case CollectiveOp::barrier:
      break;
    default:
      call.bytes = bytes_at(0, 2);
  }
  call.root = root > 0 && root < static_cast<double>(max_rank_count) ? static_cast<std::uint32_t>(root) : 0;
  collectives_.add(rank_, call);
}

/// Calls with a count for each member:
///   reducescatter  received… work type
///   allgatherv     sent received… type type
///   gatherv        sent received… root type type
///   scatterv       sent… received root type type
///   alltoallv      size sent… size received… type type
Result<void> TimeIndependentTrace::take_uneven(const FileContents& file, const Scanner& line, CollectiveOp op) {
  const std::size_t others = op == CollectiveOp::reduce_scatter ? 2 : op == CollectiveOp::allgather ? 3 : 4;
  const std::size_t lists = op == CollectiveOp::alltoall ? 2 : 1;
  if (numbers_.size() < others + lists || (numbers_.size() - others) % lists != 0) {
    return input_error(file, line, fmt::format("invalid number of arguments: {}", numbers_.size()),
                       "the trace is truncated or was changed; record it again");
  }
  const auto members = static_cast<std::uint32_t>((numbers_.size() - others) / lists);
  const std::size_t type = numbers_.size() - 2;  // index of the send datatype; the receive datatype follows
  CollectiveAccumulator::Call call{.op = op, .uneven_members = members};
  if (has_root(op)) {
    const double root = numbers_[type - 1];
    if (root < 0 || root >= members)
      return input_error(file, line, fmt::format("root {} is not in 0..{}", root, members - 1),
                         "record the trace again");
    call.root = static_cast<std::uint32_t>(root);
  }
  if (op == CollectiveOp::reduce_scatter) {
    for (std::size_t i = 0; i < members; ++i) call.bytes += bytes_at(i, type + 1) / members;
    call.uneven_members = 0;  // all members report the complete list
    collectives_.add(rank_, call);
    return {};
  }
  if (op == CollectiveOp::allgather) {
    collectives_.add(rank_, call, bytes_at(0, type), 1);
    return {};
  }
  UnevenCalls& calls = uneven_[members];
  double bytes = 0;
  if (op == CollectiveOp::alltoall) {
    for (std::uint32_t to = 0; to < members; ++to) {
      const double sent = bytes_at(1 + to, type);
      if (sent > 0) calls.pairs.add(rank_, to, sent);
      bytes += sent / members;
    }
  } else if (op == CollectiveOp::gather) {
    bytes = bytes_at(0, type);
    if (rank_ != call.root) calls.pairs.add(rank_, call.root, bytes);
  } else {
    bytes = bytes_at(members, type + 1);
    if (rank_ != call.root) calls.pairs.add(call.root, rank_, bytes);
  }
  calls.collectives.add(rank_, call, bytes, 1);
  return {};
}

void TimeIndependentTrace::merge(const TimeIndependentTrace& other) {
  for (const auto& [rank, state] : other.ranks_) {
    RankState& mine = ranks_[rank];
    mine.begun |= state.begun;
    mine.ended |= state.ended;
    mine.work += state.work;
  }
  traffic_.merge(other.traffic_);
  sizes_.merge(other.sizes_);
  collectives_.merge(other.collectives_);
  for (const auto& [members, calls] : other.uneven_) {
    uneven_[members].pairs.merge(calls.pairs);
    uneven_[members].collectives.merge(calls.collectives);
  }
  unknown_elements_ += other.unknown_elements_;
  for (const auto& [action, lines] : other.unknown_actions_) unknown_actions_[action] += lines;
}

}  // namespace rankloom
