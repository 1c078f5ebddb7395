// SPDX-License-Identifier: Apache-2.0
// capture/import/profiler: reads the output of Open MPI's pml_monitoring: one file per rank, PREFIX.RANK.prof, or all
// ranks in one text. docs/formats.md describes the letters at the beginning of lines.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Collectives = ReadOptions::MonitoredCollectives;

constexpr std::string_view file_suffix = ".prof";
constexpr const char* record_again =
    "record again: mpirun --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 "
    "--mca pml_monitoring_filename PREFIX ...";

/// "app.3.prof" is the file of rank 3 with prefix "app.".
struct RankFile {
  std::string prefix;
  std::uint64_t rank = 0;
};

std::optional<RankFile> rank_file(std::string_view name) {
  if (!name.ends_with(file_suffix)) return std::nullopt;
  name.remove_suffix(file_suffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return std::nullopt;
  RankFile result{std::string(name.substr(0, dot + 1)), 0};
  Scanner digits(name.substr(dot + 1));
  if (!digits.take_integer(result.rank) || !digits.done()) return std::nullopt;
  return result;
}

/// The names of all files with the same prefix, by rank; none if the name of the given file has no rank.
std::vector<std::string> files_of_trace(const FileContents& file) {
  const fs::path path(file.name());
  const auto own = rank_file(path.filename().string());
  std::error_code error;
  if (!own || !fs::is_regular_file(path, error)) return {};
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::map<std::uint64_t, fs::path> names;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const auto other = rank_file(at->path().filename().string());
    if (other && other->prefix == own->prefix && at->is_regular_file(error))
      names[other->rank] = path.parent_path() / at->path().filename();
  }
  std::vector<std::string> list;
  list.reserve(names.size());
  for (const auto& [rank, name] : names) list.push_back(name.string());
  return list;
}

/// "E 0 1 <bytes> bytes <messages> msgs sent <histogram>"; the sums of a communicator have no receiver.
struct MonitoredLine {
  std::uint64_t from = 0, to = 0;
  double bytes = 0, messages = 0;
};

bool take_token(Scanner& in, std::string_view word) {
  in.skip_blanks();
  if (!in.rest().starts_with(word)) return false;
  for (const char c : word) in.take(c);
  return true;
}

class MonitoringReader {
 public:
  explicit MonitoringReader(Collectives collectives) : collectives_(collectives) {}

  Result<void> take(const FileContents& file) {
    Scanner in(file.view());
    bool headed = false, ended = false;
    for (in.skip_space(); !in.done(); in.skip_space()) {
      if (in.next_is('#')) {
        const std::string_view title = in.take_line();
        headed |= title.starts_with("# POINT TO POINT");
        ended |= title.starts_with("# COLLECTIVES");
        continue;
      }
      if (auto taken = take_line(file, in); !taken) return taken;
    }
    if (headed && !ended) return input_error(file, in, "the file ends before its section COLLECTIVES", record_again);
    if (sums_left_ > 0)
      return input_error(file, in, "the file ends before the sums of its last communicator", record_again);
    return {};
  }

  Result<Imported> finish(const FileContents& file) {
    std::uint64_t ranks = std::max({traffic_.rank_count(), expanded_.rank_count(), source_rank_count(), member_end_});
    if (world_ranks_ > 0 && ranks > world_ranks_) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("rank {} occurs, but MPI_COMM_WORLD has {} members", ranks - 1, world_ranks_),
                  "the files belong to different runs; remove those of the other runs");
    }
    ranks = std::max(ranks, world_ranks_);
    auto count = check_rank_count(file, file.view().data(), ranks);
    if (!count) return propagate(count);
    if (auto complete = check_ranks(file, *count); !complete) return propagate(complete);
    Imported result = make_imported(traffic_.build(*count), file, "monitoring");
    if (!expanded_.empty()) result.profile.expanded_collectives = expanded_.build(*count);
    if (collectives_ == Collectives::physical) result.profile.sizes = sizes_.sizes();
    for (Communicator& group : communicators_) result.profile.communicators.push_back(std::move(group));
    result.profile.origin["collectives"] = collectives_ == Collectives::physical ? "I" : "C";
    return result;
  }

 private:
  std::uint64_t source_rank_count() const { return sources_.empty() ? 0 : *sources_.rbegin() + 1; }

  /// Every rank has a file with the sums of its communicators, even if it sent nothing.
  Result<void> check_ranks(const FileContents& file, std::uint32_t ranks) const {
    if (world_ranks_ == 0 || sources_.size() == ranks) return {};
    std::uint64_t missing = 0;
    while (sources_.contains(missing)) ++missing;
    const auto own = rank_file(file.name());
    return fail(Code::bad_input, at(file.name()),
                fmt::format("only {} of {} ranks are present; rank {} is missing", sources_.size(), ranks, missing),
                own ? fmt::format("add the file {}{}{}, or {}", own->prefix, missing, file_suffix, record_again)
                    : fmt::format("add the output of the other ranks, or {}", record_again));
  }

  Result<void> take_line(const FileContents& file, Scanner& in) {
    const Scanner before = in;
    const char letter = in.rest().front();
    if (take_token(in, "D\t")) return take_communicator(file, in);
    for (const std::string_view sum : {"O2A", "A2O", "A2A"}) {
      if (!take_token(in, sum)) continue;
      if (sums_left_ == 0)
        return input_error(file, before, "the sums have no communicator", "a line D must precede them");
      --sums_left_;
      auto line = take_amounts(file, in, before, false);
      if (!line) return propagate(line);
      sources_.insert(line->from);
      if (sum == "A2O") reverse_root_traffic(*line);
      return {};
    }
    if (sums_left_ > 0)
      return input_error(file, before, "the sums of the previous communicator are incomplete", record_again);
    in.take(letter);
    if (std::string_view("EISRC").find(letter) == std::string_view::npos || !(in.next_is('\t') || in.next_is(' '))) {
      return input_error(
          file, before,
          fmt::format("\"{}\" is not the beginning of a line of Open MPI's monitoring", before.token_for_message()),
          "lines begin with E, I, S, R, C, D, O2A, A2O, A2A or #; remove the output of other programs");
    }
    auto line = take_amounts(file, in, before, true);
    if (!line) return propagate(line);
    sources_.insert(line->from);
    add(letter, *line);
    return {};
  }

  Result<MonitoredLine> take_amounts(const FileContents& file, Scanner& in, const Scanner& before, bool with_receiver) {
    MonitoredLine line;
    for (std::uint64_t* const rank : {&line.from, with_receiver ? &line.to : nullptr}) {
      in.skip_blanks();
      if (rank != nullptr && (!in.take_integer(*rank) || *rank >= max_rank_count))
        return input_error(file, in, fmt::format("\"{}\" is not a rank", in.token_for_message()), record_again);
    }
    in.skip_blanks();
    auto bytes = take_amount(file, in, "number of bytes");
    if (!bytes) return propagate(bytes);
    const bool named = take_token(in, "bytes");
    in.skip_blanks();
    auto messages = take_amount(file, in, "number of messages");
    if (!messages) return propagate(messages);
    if (!named || !take_token(in, "msgs sent"))
      return input_error(file, before, "the line is incomplete", "the line must be: … N bytes M msgs sent");
    line.bytes = *bytes;
    line.messages = *messages;
    if (with_receiver) take_histogram(in);
    in.skip_line();
    return line;
  }

  /// Numbers of messages of 0 bytes, 1 byte, 2 to 3, 4 to 7, …; one histogram per receiver, for all kinds of messages.
  void take_histogram(Scanner& in) {
    in.skip_blanks();
    std::uint64_t messages = 0;
    for (std::size_t bucket = 0; bucket < SizeHistogram::buckets && in.take_integer(messages); ++bucket) {
      sizes_.add(bucket, messages);
      if (!in.take(',')) return;
    }
  }

  void add(char letter, const MonitoredLine& line) {
    const auto from = static_cast<std::uint32_t>(line.from), to = static_cast<std::uint32_t>(line.to);
    if (letter == 'E' || letter == 'S') traffic_.add(from, to, line.bytes, line.messages);
    if (letter == 'R') traffic_.add(to, from, line.bytes, line.messages);  // MPI_Get: the data flows to the caller
    if (letter == 'I' && collectives_ == Collectives::physical) expanded_.add(from, to, line.bytes, line.messages);
    if (letter == 'C' && collectives_ == Collectives::logical) {
      expanded_.add(from, to, line.bytes, line.messages);
      logical_pairs_[line.from][line.to] = line;
    }
  }

  /// Open MPI writes what a root receives (reductions, gathers) as if the root sent it. The sum over all members is
  /// known: it is distributed evenly over the pairs of the root and reversed, but no pair is reduced below 0.
  void reverse_root_traffic(const MonitoredLine& sum) {
    if (collectives_ != Collectives::logical || sum.messages == 0 || members_.size() < 2) return;
    auto& pairs = logical_pairs_[sum.from];
    const auto root = static_cast<std::uint32_t>(sum.from);
    for (const Rank member : members_) {
      const auto line = pairs.find(index(member));
      if (line == pairs.end() || index(member) == root) continue;
      const double bytes = std::min(line->second.bytes, sum.bytes / static_cast<double>(members_.size() - 1));
      const double messages = std::min(line->second.messages, sum.messages);
      line->second.bytes -= bytes;
      line->second.messages -= messages;
      expanded_.add(root, index(member), -bytes, -messages);
      expanded_.add(index(member), root, bytes, messages);
    }
  }

  /// Takes "NAME procs: 0,2,4".
  Result<void> take_communicator(const FileContents& file, Scanner& in) {
    const Scanner before = in;
    if (sums_left_ > 0)
      return input_error(file, before, "the sums of the previous communicator are incomplete", record_again);
    constexpr std::string_view key = "\tprocs: ";
    const std::string_view line = in.take_line();
    const std::size_t position = line.rfind(key);
    members_.clear();
    Scanner list(position == line.npos ? std::string_view() : line.substr(position + key.size()));
    std::uint64_t rank = 0;
    for (bool more = true; more; more = list.take(',')) {
      if (!list.take_integer(rank) || rank >= max_rank_count) {
        return input_error(file, before,
                           fmt::format("\"{}\" is not a rank of the communicator", list.token_for_message()),
                           "a line D contains the name, a tab and \"procs: 0,1,2\"");
      }
      members_.push_back(Rank{static_cast<std::uint32_t>(rank)});
    }
    sums_left_ = 3;
    const std::string_view name = line.substr(0, position);
    if (name == "MPI_COMM_WORLD") {
      if (world_ranks_ > 0 && world_ranks_ != members_.size()) {
        return input_error(
            file, before,
            fmt::format("MPI_COMM_WORLD has {} members here, but {} in other files", members_.size(), world_ranks_),
            "the files belong to different runs; remove those of the other runs");
      }
      world_ranks_ = members_.size();
    }
    return add_communicator(file, before, name, line);
  }

  Result<void> add_communicator(const FileContents& file, const Scanner& position, std::string_view name,
                                std::string_view line) {
    if (members_.size() < 2 || !known_.insert(std::string(line)).second) return {};
    std::vector<Rank> sorted = members_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return input_error(file, position, "a rank occurs twice in the communicator", record_again);
    member_end_ = std::max(member_end_, std::uint64_t{index(sorted.back())} + 1);
    if (world_ranks_ > 0 && member_end_ > world_ranks_)
      return input_error(file, position, fmt::format("rank {} is not in MPI_COMM_WORLD", member_end_ - 1),
                         record_again);
    communicators_.push_back({std::string(name), name == "MPI_COMM_WORLD" ? std::vector<Rank>() : members_});
    return {};
  }

  Collectives collectives_;
  TrafficAccumulator traffic_, expanded_;
  SizeHistogram sizes_;
  std::vector<Communicator> communicators_;
  std::set<std::string> known_;
  std::set<std::uint64_t> sources_;
  std::uint64_t world_ranks_ = 0;
  std::uint64_t member_end_ = 0;
  std::vector<Rank> members_;  // of the communicator whose sums come next
  int sums_left_ = 0;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, MonitoredLine>> logical_pairs_;
};

}  // namespace

bool is_monitoring(std::string_view text) {
  Scanner in(text);
  in.skip_space();
  if (in.rest().starts_with("# POINT TO POINT")) return true;
  if (std::string_view("EISRC").find(in.done() ? ' ' : in.rest().front()) == std::string_view::npos) return false;
  const std::string_view line = in.take_line();
  return line.size() > 1 && line[1] == '\t' && line.find(" bytes\t") != line.npos &&
         line.find("msgs sent") != line.npos;
}

void describe_monitoring(ReadOptions& options, OptionList& list) {
  list.choice("collectives", options.collectives, {{"I", Collectives::physical}, {"C", Collectives::logical}},
              "lines read as collectives: I, the messages that Open MPI sent; C, the logical data flow");
}

Result<Imported> read_monitoring(const FileContents& file, const ReadOptions& options) {
  MonitoringReader reader(options.collectives);
  const std::vector<std::string> names = files_of_trace(file);
  for (const std::string& name : names) {
    auto rank_file = read_file(name);
    if (!rank_file) return propagate(rank_file);
    if (auto taken = reader.take(*rank_file); !taken) return propagate(taken);
  }
  if (names.empty()) {
    if (auto taken = reader.take(file); !taken) return propagate(taken);
  }
  return reader.finish(file);
}

}  // namespace rankloom
