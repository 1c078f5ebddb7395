// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm why`: why a job of Slurm waits although nodes are free.
#include <algorithm>
#include <array>
#include <ctime>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"
#include "rankloom/allocate/scheduler/waiting_reason.hpp"

namespace rankloom::app {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A job as squeue shows it.
struct QueuedJob {
  std::string id, state, reason, partition, comment;
  std::uint32_t nodes = 0;
};

/// In the form of Slurm's own times.
std::string time_text(double seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(static_cast<std::time_t>(seconds)));
}

/// Whether a new job may get a node in this state, as sinfo abbreviates it.
bool is_usable(std::string_view state) {
  static constexpr std::array<std::string_view, 9> unusable{"down",  "drain", "drng",  "fail", "err",
                                                            "maint", "unk",   "inval", "futr"};
  if (state.ends_with('*')) return false;  // does not respond
  return std::none_of(unusable.begin(), unusable.end(), [&](auto start) { return state.starts_with(start); });
}

class SlurmWhyVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"JOB", "JOB", "the number of the job", "input", "", true}, job_);
    machine_.describe(app);
    machine_.describe_policy(app);
    add_switch(app, "--comment",
               "also write the answer into the admin comment of the job, which squeue and scontrol show",
               write_comment_, "output");
  }

  Result<int> run(const Session& session) override {
    auto queued = find_job();
    if (!queued) return propagate(queued);
    if (queued->state != "PENDING") {
      if (session.json) {
        print_json(Json{{"job", queued->id}, {"state", queued->state}, {"waits", false}});
      } else {
        print(fmt::format("job {} does not wait: its state is {}\n", queued->id, queued->state));
      }
      return success;
    }
    auto machine = machine_.load();
    if (!machine) return propagate(machine);
    auto running = running_slurm_jobs(*machine);
    if (!running) return propagate(running);
    NodeRequest request{queued->nodes, Bitset(machine->names().size()), {}, machine->options()};
    if (auto fallback = fallback_from_comment(queued->comment)) request.allocation.fallback = *fallback;
    if (auto found = find_usable_nodes(*machine, queued->partition, request.usable); !found) return propagate(found);
    std::vector<ScheduledJob> scheduled;
    for (const SlurmJob& job : *running) scheduled.push_back({job.nodes, job.end.value_or(never)});
    const WaitingReason reason = why_waiting(machine->allocator(), machine->policy(), scheduled, request);
    const std::string text = to_text(*machine, *queued, *running, reason);
    if (session.json) {
      print_json(to_json(*machine, *queued, *running, reason));
    } else {
      print(text);
    }
    if (!write_comment_) return success;
    if (auto written = write_comment(queued->id, text); !written) return propagate(written);
    return success;
  }

 private:
  Result<QueuedJob> find_job() const {
    if (job_.empty() || job_.find_first_not_of("0123456789_+[]") != std::string::npos)
      return bad_value("JOB", job_, "the number of a job, as squeue shows it");
    auto lines = slurm_lines({"squeue", "-h", "-j", job_, "-o", "%A|%T|%D|%P|%r|%k"});
    if (!lines) return propagate(lines);
    for (const std::string& line : *lines) {
      const auto fields = split_fields(line);
      if (fields.size() < 6) continue;
      const auto nodes = parse_number(fields[2]);
      return QueuedJob{fields[0], fields[1], fields[4],
                       fields[3], fields[5], nodes ? static_cast<std::uint32_t>(*nodes) : 1};
    }
    return fail(Code::bad_input, at("JOB"), fmt::format("squeue does not list job {}", job_),
                "it has ended, or the number is wrong: see squeue");
  }

  /// Replaces only a comment that rankloom wrote.
  static Result<void> write_comment(const std::string& job, const std::string& text) {
    constexpr std::string_view own = "rankloom: ", field = "AdminComment=";
    auto lines = slurm_lines({"scontrol", "show", "job", job});
    if (!lines) return propagate(lines);
    for (const std::string& line : *lines) {
      const std::size_t found = line.find(field);
      if (found == std::string::npos || line.find_first_not_of(' ') != found) continue;
      const std::string_view comment = std::string_view(line).substr(found + field.size());
      if (!comment.empty() && !comment.starts_with(own))
        return fail(Code::usage, at("--comment"),
                    fmt::format("job {} has an admin comment that rankloom did not write", job),
                    fmt::format("remove it first: scontrol update JobId={} AdminComment=", job));
    }
    std::string comment = std::string(own) + text;
    std::replace(comment.begin(), comment.end(), '\n', ' ');
    auto written = slurm_lines({"scontrol", "update", "JobId=" + job, fmt::format("{}{}", field, comment)});
    if (!written) return propagate(written);
    return {};
  }

  /// The nodes of the partition on which new jobs may start.
  static Result<void> find_usable_nodes(const SlurmMachine& machine, const std::string& partition, Bitset& usable) {
    auto lines = slurm_lines({"sinfo", "-h", "-N", "-p", partition, "-o", "%N|%t"});
    if (!lines) return propagate(lines);
    for (const std::string& line : *lines) {
      const auto fields = split_fields(line);
      if (fields.size() < 2 || !is_usable(fields[1])) continue;
      for (const Node node : machine.nodes_of(fields[0])) usable.set(index(node));
    }
    return {};
  }

  static std::string_view name_of_kind(WaitingReason::Kind kind) {
    switch (kind) {
      case WaitingReason::Kind::can_start:
        return "can_start";
      case WaitingReason::Kind::few_nodes:
        return "few_nodes";
      case WaitingReason::Kind::not_isolated:
        return "not_isolated";
      case WaitingReason::Kind::does_not_fit:
        break;
    }
    return "does_not_fit";
  }

  static Json to_json(const SlurmMachine& machine, const QueuedJob& queued, const std::vector<SlurmJob>& running,
                      const WaitingReason& reason) {
    Json json{{"job", queued.id},
              {"state", queued.state},
              {"waits", true},
              {"why", name_of_kind(reason.kind)},
              {"nodes", queued.nodes},
              {"usable_nodes", reason.usable_nodes},
              {"free_nodes", reason.free_nodes},
              {"policy", machine.policy().name},
              {"slurm_reason", queued.reason},
              {"blockers", Json::array()},
              {"start", nullptr},
              {"start_nodes", Json::array()}};
    for (const std::size_t job : reason.blockers) json["blockers"].push_back(running[job].name);
    if (reason.allocation) json["start_nodes"] = machine.names_of(reason.allocation->nodes);
    if (reason.start > 0 && reason.start < never) json["start"] = time_text(reason.start);
    return json;
  }

  static std::string to_text(const SlurmMachine& machine, const QueuedJob& queued, const std::vector<SlurmJob>& running,
                             const WaitingReason& reason) {
    const std::string_view policy = machine.policy().name;
    const auto resources = name_of(machine.allocator().machine().exclusive());
    std::string text = fmt::format("job {} waits for {}; ", queued.id, counted(queued.nodes, "node"));
    switch (reason.kind) {
      case WaitingReason::Kind::can_start:
        return text + fmt::format("{} has some for it: {}. Slurm's reason is {}.\n", policy,
                                  machine.list_of(reason.allocation->nodes), queued.reason);
      case WaitingReason::Kind::does_not_fit:
        return text + fmt::format("{} finds none even if no other job runs: {} of its partition can be used.\n", policy,
                                  counted(reason.usable_nodes, "node"));
      case WaitingReason::Kind::few_nodes:
        text += fmt::format("{} free.\n", reason.free_nodes == 1 ? "1 is" : fmt::format("{} are", reason.free_nodes));
        break;
      case WaitingReason::Kind::not_isolated:
        text += fmt::format("{} are free, but {} finds no {} of them that share no {} with other jobs.\n",
                            reason.free_nodes, policy, queued.nodes, resources);
        break;
    }
    if (reason.blockers.empty()) {
      text += "No single job blocks it: several have to end.\n";
    } else {
      std::vector<std::string> names;
      for (const std::size_t job : reason.blockers) {
        const SlurmJob& blocker = running[job];
        names.push_back(blocker.end ? fmt::format("{} (ends by {})", blocker.name, time_text(*blocker.end))
                                    : blocker.name);
      }
      text += fmt::format("It could start as soon as {} ends: {}.\n",
                          names.size() == 1 ? "this job" : "one of these jobs", fmt::join(names, ", "));
    }
    if (reason.start < never)
      text += fmt::format("By the time limits of the running jobs it can start at {} on {}.\n", time_text(reason.start),
                          machine.list_of(reason.allocation->nodes));
    return text + fmt::format("Slurm's reason is {}.\n", queued.reason);
  }

  std::string job_;
  SlurmMachineArguments machine_;
  bool write_comment_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_why() {
  return std::make_unique<SlurmWhyVerb>();
}

}  // namespace rankloom::app
