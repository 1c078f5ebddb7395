// SPDX-License-Identifier: Apache-2.0
// capture/import/profiler: reads IPM's XML (IPM_LOG=full). The files are often not well-formed, so tags are searched
// one by one instead of with an XML parser.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

namespace {

constexpr std::size_t xml_head_bytes = std::size_t{1} << 16;
constexpr const char* run_again = "run the program again with IPM_LOG=full until it ends normally";

/// The value of an attribute name="…" of a tag.
std::optional<std::string_view> attribute(std::string_view tag, std::string_view name) {
  for (std::size_t at = tag.find(name); at != tag.npos; at = tag.find(name, at + 1)) {
    std::string_view rest = tag.substr(at + name.size());
    if (at == 0 || tag[at - 1] != ' ' || !rest.starts_with("=\"")) continue;
    rest.remove_prefix(2);
    const std::size_t end = rest.find('"');
    return end == rest.npos ? std::nullopt : std::optional(rest.substr(0, end));
  }
  return std::nullopt;
}

/// The value of a numeric attribute; IPM prints leading blanks and exponents.
std::optional<double> number(std::string_view tag, std::string_view name) {
  const auto text = attribute(tag, name);
  if (!text) return std::nullopt;
  Scanner in(*text);
  double value = 0;
  in.skip_blanks();
  if (!in.take_number(value)) return std::nullopt;
  return value;
}

struct CallKind {
  enum class Kind : std::uint8_t { send, fetch, even, uneven } kind;
  CollectiveOp op = CollectiveOp::barrier;
};

/// The kind of an MPI function by its name; nothing for functions that send no data.
std::optional<CallKind> kind_of(std::string_view call) {
  using Kind = CallKind::Kind;
  static const std::map<std::string_view, CallKind> kinds = {
      {"Send", {Kind::send}},
      {"Isend", {Kind::send}},
      {"Ssend", {Kind::send}},
      {"Issend", {Kind::send}},
      {"Bsend", {Kind::send}},
      {"Ibsend", {Kind::send}},
      {"Rsend", {Kind::send}},
      {"Irsend", {Kind::send}},
      {"Sendrecv", {Kind::send}},
      {"Sendrecv_replace", {Kind::send}},
      {"Put", {Kind::send}},
      {"Accumulate", {Kind::send}},
      {"Get", {Kind::fetch}},
      {"Barrier", {Kind::even, CollectiveOp::barrier}},
      {"Bcast", {Kind::even, CollectiveOp::bcast}},
      {"Reduce", {Kind::even, CollectiveOp::reduce}},
      {"Allreduce", {Kind::even, CollectiveOp::allreduce}},
      {"Gather", {Kind::even, CollectiveOp::gather}},
      {"Gatherv", {Kind::uneven, CollectiveOp::gather}},
      {"Scatter", {Kind::even, CollectiveOp::scatter}},
      {"Scatterv", {Kind::uneven, CollectiveOp::scatter}},
      {"Allgather", {Kind::even, CollectiveOp::allgather}},
      {"Allgatherv", {Kind::uneven, CollectiveOp::allgather}},
      {"Alltoall", {Kind::even, CollectiveOp::alltoall}},
      {"Alltoallv", {Kind::uneven, CollectiveOp::alltoall}},
      {"Reduce_scatter", {Kind::uneven, CollectiveOp::reduce_scatter}},
      {"Scan", {Kind::even, CollectiveOp::scan}},
      {"Exscan", {Kind::even, CollectiveOp::scan}},
  };
  constexpr std::string_view prefix = "MPI_";
  if (!call.starts_with(prefix)) return std::nullopt;
  const auto found = kinds.find(call.substr(prefix.size()));
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

class IpmReader {
 public:
  explicit IpmReader(const FileContents& file) : file_(file) {}

  Result<Imported> read() {
    const std::string_view text = file_.view();
    for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
      const std::size_t end = std::min(text.find_first_of(">\n", at), text.size());
      if (auto taken = take_tag(text.substr(at, end - at)); !taken) return propagate(taken);
    }
    if (auto complete = check(text.data() + text.size()); !complete) return propagate(complete);
    auto ranks = check_rank_count(file_, text.data(), tasks_);
    if (!ranks) return propagate(ranks);
    Imported result = make_imported(traffic_.build(*ranks), file_, "ipm");
    collectives_.finish(result.profile);
    result.profile.activity.resize(*ranks);
    for (const auto& [rank, activity] : activity_) result.profile.activity[rank] = activity;
    if (!program_.empty()) result.profile.origin["program"] = program_;
    return result;
  }

 private:
  Result<void> take_tag(std::string_view tag) {
    if (tag.starts_with("<hent ")) return take_entry(tag);
    if (tag.starts_with("<task ")) return take_task(tag);
    if (tag.starts_with("</task")) open_ = false;
    if (tag.starts_with("<perf ") && open_) take_times(tag);
    if (tag.starts_with("<cmdline") && program_.empty()) take_program(tag.data() + tag.size());
    return {};
  }

  /// The command line is not escaped and may contain characters that XML does not allow.
  void take_program(const char* tag_end) {
    Scanner in(file_.view().substr(static_cast<std::size_t>(tag_end - file_.view().data())));
    if (!in.take('>')) return;
    const std::string_view line = in.take_line();
    program_ = line.substr(0, line.rfind("</cmdline"));
  }

  Result<void> take_task(std::string_view tag) {
    const auto rank = number(tag, "mpi_rank"), tasks = number(tag, "mpi_size");
    const bool valid = rank && tasks && *rank >= 0 && *rank < *tasks && *tasks < static_cast<double>(max_rank_count);
    if (!valid || open_) {
      return input_error(file_, tag.data(),
                         open_ ? "a task begins before the previous one ends" : "the task has no mpi_rank or mpi_size",
                         run_again);
    }
    if (tasks_ > 0 && *tasks != static_cast<double>(tasks_))
      return input_error(file_, tag.data(), fmt::format("mpi_size is {}, but {} in the tasks before", *tasks, tasks_),
                         "use the file of one run");
    tasks_ = static_cast<std::uint64_t>(*tasks);
    rank_ = static_cast<std::uint32_t>(*rank);
    seen_.insert(rank_);
    open_ = true;
    return {};
  }

  void take_times(std::string_view tag) {
    const auto wall = number(tag, "wtime"), mpi = number(tag, "mtime");
    if (!wall || !mpi || *mpi < 0 || *wall < *mpi || *wall > max_amount) return;
    activity_[rank_] = {.seconds_in_mpi = *mpi, .seconds_outside = *wall - *mpi, .instructions = 0};
  }

  Result<void> take_entry(std::string_view tag) {
    if (!open_) return input_error(file_, tag.data(), "the entry is not inside a task", run_again);
    ++entries_;
    const auto call = attribute(tag, "call");
    const auto kind = call ? kind_of(*call) : std::nullopt;
    if (call && !kind) return {};
    const auto bytes = number(tag, "bytes"), partner = number(tag, "orank"), count = number(tag, "count");
    if (!call || !bytes || !count || *bytes < 0 || *count < 0 || *bytes > max_amount || *count > max_amount)
      return input_error(file_, tag.data(), "the entry has no call, bytes or count", run_again);
    if (*count > 0) add(*kind, partner.value_or(-1), *bytes, *count);
    return {};
  }

  void add(const CallKind& kind, double partner, double bytes, double count) {
    const bool known = partner >= 0 && partner < static_cast<double>(tasks_);
    const auto other = known ? static_cast<std::uint32_t>(partner) : 0;
    switch (kind.kind) {
      case CallKind::Kind::send:
        if (known) traffic_.add(rank_, other, bytes * count, count);
        return;
      case CallKind::Kind::fetch:
        if (known) traffic_.add(other, rank_, bytes * count, count);
        return;
      case CallKind::Kind::even:
        return collectives_.add(rank_, {.op = kind.op, .root = has_root(kind.op) ? other : 0, .bytes = bytes}, count);
      case CallKind::Kind::uneven: {
        // IPM counts the bytes that a task sends to all ranks together.
        const bool to_each = kind.op == CollectiveOp::alltoall || kind.op == CollectiveOp::reduce_scatter;
        const double block = to_each ? bytes / static_cast<double>(tasks_) : bytes;
        collectives_.add(rank_,
                         {.op = kind.op,
                          .root = has_root(kind.op) ? other : 0,
                          .uneven_members = static_cast<std::uint32_t>(tasks_)},
                         block * count, count);
      }
    }
  }

  Result<void> check(const char* end) const {
    if (seen_.empty()) return input_error(file_, end, "the file contains no <task", run_again);
    if (open_) return input_error(file_, end, "the file ends inside a task", run_again);
    if (seen_.size() < tasks_) {
      std::uint64_t missing = 0;
      while (seen_.contains(static_cast<std::uint32_t>(missing))) ++missing;
      return input_error(file_, end, fmt::format("task {} of {} is missing", missing, tasks_), run_again);
    }
    if (entries_ == 0)
      return input_error(file_, end, "the file contains no entries <hent, and therefore no destinations", run_again);
    return {};
  }

  const FileContents& file_;
  TrafficAccumulator traffic_;
  CollectiveAccumulator collectives_;
  std::map<std::uint32_t, RankActivity> activity_;
  std::set<std::uint32_t> seen_;
  std::uint64_t tasks_ = 0, entries_ = 0;
  std::uint32_t rank_ = 0;
  bool open_ = false;
  std::string program_;
};

}  // namespace

bool is_ipm(std::string_view text) {
  text = text.substr(0, xml_head_bytes);
  return text.find("<ipm") != text.npos || (text.find("<task ") != text.npos && text.find("ipm_version=") != text.npos);
}

Result<Imported> read_ipm(const FileContents& file) {
  return IpmReader(file).read();
}

}  // namespace rankloom
