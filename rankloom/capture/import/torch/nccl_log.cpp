// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: reads the log of NCCL (NCCL_DEBUG=INFO): communicators, their ranks, the channels between them,
// and with NCCL_DEBUG_SUBSYS=INIT,COLL the calls. The reader is written from NCCL's sources and
// was tried on a log of one GPU.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/torch/group_calls.hpp"

namespace rankloom {

namespace {

constexpr std::string_view info_mark = " NCCL INFO ";
constexpr const char* log_all =
    "give the logs of all processes, from their start: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL "
    "NCCL_DEBUG_FILE=nccl.%h.%p.log";

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r", at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

/// The word after this one; empty: there is none.
std::string_view word_after(const std::vector<std::string_view>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() || found + 1 == words.end() ? std::string_view() : *(found + 1);
}

/// Bytes of an element by the number of ncclDataType_t.
std::optional<double> nccl_element_bytes(std::uint64_t type) {
  static constexpr double bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type < std::size(bytes) ? std::optional(bytes[type]) : std::nullopt;
}

class NcclLogReader final : public RankFileReader {
 public:
  Result<void> take(const FileContents& file) override {
    last_file_ = file;
    const std::string_view text = file.view();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (auto taken = take_line(file, text.substr(at, end - at)); !taken) return taken;
      at = end + 1;
    }
    return {};
  }

  Result<Imported> finish(const std::string& source) override;

 private:
  /// A communicator of the job.
  struct Job {
    std::uint64_t size = 0;
    std::uint64_t order = 0;                          // in which it was found
    std::map<std::uint64_t, std::string> process_of;  // by rank; a process with its GPU
    std::map<std::uint64_t, std::uint32_t> job_rank;  // by rank, if known
  };
  /// A communicator as one process knows it.
  struct Handle {
    std::string job;
    std::uint64_t rank = 0;
  };

  Result<void> take_line(const FileContents& file, std::string_view line);
  Result<void> take_communicator(const FileContents& file, std::string_view line, const std::string& process,
                                 const std::string& thread, const std::vector<std::string_view>& words);
  Result<void> take_call(const FileContents& file, std::string_view line, const std::string& process,
                         const std::vector<std::string_view>& words);
  void take_channel(const std::string& process, const std::string& thread, const std::vector<std::string_view>& words);
  const Job* find_world() const;
  void add_traffic(const Job& job, const std::string& name, TrafficAccumulator& traffic) const;

  std::optional<FileContents> last_file_;
  std::map<std::string, Job> jobs_;
  std::map<std::pair<std::string, std::string>, Handle> handles_;           // by process and pointer
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> unnamed_;  // communicators of this size of a process
  std::map<std::string, std::string> current_;  // the last communicator of a thread or process
  std::map<std::tuple<std::string, CollectiveOp, std::uint64_t, double>, double>
      calls_;  // communicator, …, root, bytes
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::pair<double, double>> messages_;  // from, to
  std::set<std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>> channels_;  // channel, from, to
};

Result<void> NcclLogReader::take_line(const FileContents& file, std::string_view line) {
  const std::size_t mark = line.find(info_mark);
  if (mark == line.npos) return {};
  // "host:pid:tid [device]", after the time of day or the name of a launcher.
  std::string thread;
  for (const std::string_view word : words_of(line.substr(0, mark)))
    if (std::count(word.begin(), word.end(), ':') >= 2 && word.front() != '[' && word.back() != ':') thread = word;
  if (thread.empty()) return {};
  const std::string process = thread.substr(0, thread.rfind(':'));
  const auto words = words_of(line.substr(mark + info_mark.size()));
  if (words.empty()) return {};
  const bool is_call = words[0].back() == ':' && !word_after(words, "opCount").empty();
  if (is_call) return take_call(file, line, process, words);
  const bool is_communicator = !word_after(words, "comm").empty() && !word_after(words, "nranks").empty() &&
                               !word_after(words, "rank").empty() && line.find("Init ") != line.npos;
  if (is_communicator) return take_communicator(file, line, process, thread, words);
  if (words[0] == "Channel") take_channel(process, thread, words);
  return {};
}

Result<void> NcclLogReader::take_communicator(const FileContents& file, std::string_view line,
                                              const std::string& process, const std::string& thread,
                                              const std::vector<std::string_view>& words) {
  const auto rank = whole(word_after(words, "rank")), size = whole(word_after(words, "nranks"));
  const std::string pointer(word_after(words, "comm"));
  if (!rank || !size || *rank >= *size || *size > GroupCalls::max_members) {
    return input_error(file, line.data(), "the rank or the number of ranks of the communicator is invalid",
                       fmt::format("a communicator has up to {} ranks", GroupCalls::max_members));
  }
  std::string id(word_after(words, "commId"));
  if (id == "0x0") id.clear();
  const std::string parent(word_after(words, "parent"));
  const bool starts = line.find("Init START") != line.npos;
  if (!starts && handles_.contains({process, pointer})) return {};  // the end of what is known already
  if (id.empty() && !parent.empty() && parent != "(nil)") {
    const auto found = handles_.find({process, parent});
    if (found == handles_.end())
      return input_error(file, line.data(), fmt::format("the parent {} of the communicator is not known", parent),
                         log_all);
    const std::string_view count =
        !word_after(words, "splitCount").empty() ? word_after(words, "splitCount") : word_after(words, "childCount");
    id = fmt::format("{}/{}/{}", found->second.job, count, word_after(words, "color"));
  }
  if (id.empty()) {  // a log without commId: the n-th communicator of this size of every process
    const std::string gpu = fmt::format("{} {}", process, word_after(words, "cudaDev"));
    id = fmt::format("{} ranks, {}", *size, unnamed_[{gpu, *size}]++);
  }
  const auto [at, is_new] = jobs_.try_emplace(id);
  Job& job = at->second;
  if (is_new) {
    job.size = *size;
    job.order = jobs_.size();
  }
  if (job.size != *size) {
    return input_error(file, line.data(),
                       fmt::format("the communicator {} has {} ranks, but {} in an earlier line", id, *size, job.size),
                       "give the logs of one run");
  }
  job.process_of[*rank] = fmt::format("{} {}", process, word_after(words, "cudaDev"));
  handles_[{process, pointer}] = {id, *rank};
  current_[thread] = current_[process] = id;
  return {};
}

Result<void> NcclLogReader::take_call(const FileContents& file, std::string_view line, const std::string& process,
                                      const std::vector<std::string_view>& words) {
  const std::string_view name = words[0].substr(0, words[0].size() - 1);
  const auto call = find_torch_call(name);
  if (!call) return {};
  const auto count = whole(word_after(words, "count")), type = whole(word_after(words, "datatype"));
  const auto root = whole(word_after(words, "root"));
  const auto element = type ? nccl_element_bytes(*type) : std::nullopt;
  if (!count || !element || !root) {
    return input_error(file, line.data(), fmt::format("{} has no valid count, datatype or root", name),
                       "give the unchanged log of NCCL");
  }
  const auto handle = handles_.find({process, std::string(word_after(words, "comm"))});
  if (handle == handles_.end())
    return input_error(file, line.data(), fmt::format("the communicator of {} is not known", name), log_all);
  const Job& job = jobs_.at(handle->second.job);
  const double bytes = static_cast<double>(*count) * *element;
  if (call->kind == TorchCall::Kind::collective) {
    const bool rooted = has_root(call->op);
    if (rooted && *root >= job.size)
      return input_error(file, line.data(), fmt::format("the root {} is not a rank of the communicator", *root),
                         "give the unchanged log of NCCL");
    calls_[{handle->second.job, call->op, rooted ? *root : 0, bytes}] += 1;
    return {};
  }
  if (call->kind == TorchCall::Kind::receive) return {};  // the sender counts
  if (*root >= job.size)
    return input_error(file, line.data(), fmt::format("the peer {} is not a rank of the communicator", *root),
                       "give the unchanged log of NCCL");
  auto& sum = messages_[{handle->second.job, handle->second.rank, *root}];
  sum.first += bytes;
  sum.second += 1;
  return {};
}

/// "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", "Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA". The line does
/// not name its communicator: it is the one that the thread, or else the process, initialises.
void NcclLogReader::take_channel(const std::string& process, const std::string& thread,
                                 const std::vector<std::string_view>& words) {
  constexpr std::size_t arrow = 4;
  if (words.size() <= arrow + 1 || words[2] != ":" || words[arrow] != "->") return;
  const auto rank = [](std::string_view word) { return whole(word.substr(0, word.find('['))); };
  const auto channel = whole(words[1].substr(0, words[1].find('/'))), from = rank(words[3]), to = rank(words[5]);
  auto found = current_.find(thread);
  if (found == current_.end()) found = current_.find(process);
  if (!channel || !from || !to || found == current_.end()) return;
  const Job& job = jobs_.at(found->second);
  if (*from < job.size && *to < job.size) channels_.insert({found->second, *channel, *from, *to});
}

/// The communicator with the most ranks; of several, the first one.
const NcclLogReader::Job* NcclLogReader::find_world() const {
  const Job* world = nullptr;
  for (const auto& [id, job] : jobs_) {
    if (world == nullptr || job.size > world->size || (job.size == world->size && job.order < world->order))
      world = &job;
  }
  return world;
}

void NcclLogReader::add_traffic(const Job& job, const std::string& name, TrafficAccumulator& traffic) const {
  const auto add = [&](std::uint64_t from, std::uint64_t to, double bytes, double messages) {
    const auto p = job.job_rank.find(from), q = job.job_rank.find(to);
    if (p != job.job_rank.end() && q != job.job_rank.end()) traffic.add(p->second, q->second, bytes, messages);
  };
  for (const auto& [key, sum] : messages_)
    if (std::get<0>(key) == name) add(std::get<1>(key), std::get<2>(key), sum.first, sum.second);
  if (!calls_.empty() || !messages_.empty()) return;
  for (const auto& [communicator, channel, from, to] : channels_)
    if (communicator == name) add(from, to, 1, 1);
}

Result<Imported> NcclLogReader::finish(const std::string& source) {
  const Job* const world = find_world();
  if (world == nullptr) return fail(Code::bad_input, at(source), "the log contains no communicator", log_all);
  for (std::uint64_t rank = 0; rank < world->size; ++rank) {
    if (world->process_of.contains(rank)) continue;
    return fail(Code::bad_input, at(source),
                fmt::format("rank {} of the largest communicator, of {} ranks, is not in the log", rank, world->size),
                log_all);
  }
  std::map<std::string, std::uint32_t> rank_of;  // by process
  for (const auto& [rank, process] : world->process_of) rank_of.emplace(process, static_cast<std::uint32_t>(rank));
  auto ranks = check_rank_count(*last_file_, last_file_->view().data(), world->size);
  if (!ranks) return propagate(ranks);

  std::vector<std::pair<const std::string*, Job*>> in_order;
  in_order.reserve(jobs_.size());
  for (auto& [id, job] : jobs_) in_order.emplace_back(&id, &job);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
  TrafficAccumulator traffic;
  Profile profile;
  std::map<std::string, std::uint32_t> communicator_of;
  std::uint64_t incomplete = 0;
  for (const auto& [id, job] : in_order) {
    for (const auto& [rank, process] : job->process_of)
      if (const auto found = rank_of.find(process); found != rank_of.end()) job->job_rank[rank] = found->second;
    add_traffic(*job, *id, traffic);
    if (job->job_rank.size() < job->size) {
      ++incomplete;
      continue;
    }
    Communicator communicator{.name = *id, .members = {}};
    bool is_world = job->size == world->size;
    for (const auto& [rank, job_rank] : job->job_rank) is_world &= rank == job_rank;
    if (!is_world) {
      communicator.members.reserve(job->job_rank.size());
      for (const auto& entry : job->job_rank) communicator.members.push_back(Rank{entry.second});
    }
    communicator_of[*id] = static_cast<std::uint32_t>(profile.communicators.size());
    profile.communicators.push_back(std::move(communicator));
  }
  for (const auto& [key, reports] : calls_) {
    const auto& [id, op, root, bytes] = key;
    const auto found = communicator_of.find(id);
    if (found == communicator_of.end()) continue;
    profile.collectives.push_back(
        {found->second, op, static_cast<std::uint32_t>(root), bytes, reports / static_cast<double>(jobs_.at(id).size)});
  }
  Imported result = make_imported(traffic.build(*ranks), *last_file_, "nccl-log");
  result.profile.communicators = std::move(profile.communicators);
  result.profile.collectives = std::move(profile.collectives);
  auto& origin = result.profile.origin;
  origin["file"] = source;
  origin["channels"] = fmt::format("{}", channels_.size());
  if (incomplete > 0)
    origin["incomplete communicators"] = fmt::format("{}, left out with their collectives", incomplete);
  if (calls_.empty() && messages_.empty()) {
    origin["bytes"] = "numbers of channels, because the log has no calls; record with NCCL_DEBUG_SUBSYS=INIT,COLL";
    if (channels_.empty()) {
      return fail(Code::bad_input, at(source),
                  "the log has neither calls nor channels, so it says nothing about traffic", log_all);
    }
  }
  return result;
}

}  // namespace

bool is_nccl_log(std::string_view text) {
  constexpr std::size_t head = std::size_t{1} << 16;
  return text.substr(0, head).find(info_mark) != text.npos;
}

std::unique_ptr<RankFileReader> make_nccl_log_reader() {
  return std::make_unique<NcclLogReader>();
}

}  // namespace rankloom
