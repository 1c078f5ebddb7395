// SPDX-License-Identifier: Apache-2.0
// allocate: an event simulation of a machine, its queue and a policy.
#include "rankloom/allocate/workload/workload_replay.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <list>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "rankloom/allocate/routing/conflict_verifier.hpp"

namespace rankloom {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct SimulatedJob {
  std::uint64_t number;
  double submit, run, estimate;
  std::uint32_t nodes;
  double start = 0;
  Allotment allotment = {};
  bool met = false;
};

class Replay {
 public:
  Replay(const Allocator& allocator, const PolicyInfo& policy, const ReplayOptions& options,
         std::vector<SimulatedJob> jobs)
      : allocator_(allocator),
        policy_(policy),
        options_(options),
        jobs_(std::move(jobs)),
        occupancy_(allocator.machine()),
        verifier_(allocator.machine().network(), allocator.machine().exclusive()),
        failed_(allocator.machine().node_count() + 1) {}

  ReplayResult run(Progress& progress);

 private:
  /// When it ends, or is thought to.
  struct End {
    double time;
    std::uint32_t job;
    bool operator>(const End& other) const { return std::pair(time, job) > std::pair(other.time, other.job); }
    bool operator<(const End& other) const { return std::pair(time, job) < std::pair(other.time, other.job); }
  };
  struct Reservation {
    double time = never;
    Allotment allotment = {};
  };
  /// Nodes and passages that somebody has for a time.
  struct Plan {
    double from, until;
    const Allotment* allotment;
  };
  /// Sizes that found no place since the occupancy last gained one: among all free nodes, or beside the reservation.
  struct Failed {
    std::uint64_t anywhere = 0, beside = 0;  // the round in which that was found
  };

  std::optional<Allotment> decide(const Occupancy& occupancy, std::uint32_t nodes);
  void start(std::uint32_t job, Allotment allotment);
  void finish(std::uint32_t job);
  void note_meetings(SimulatedJob& job);
  void pass_time(double until);
  void keep(const SimulatedJob& job);

  void schedule(std::size_t first_new, bool room_gained);
  void start_from_the_front();
  void reserve_for_the_first();
  void backfill(std::size_t from);
  Reservation earliest(const SimulatedJob& job, std::span<const Plan> plans);
  void plan_everybody();

  const Allocator& allocator_;
  const PolicyInfo& policy_;
  const ReplayOptions& options_;
  std::vector<SimulatedJob> jobs_;
  Occupancy occupancy_;
  Verifier verifier_;
  std::vector<Failed> failed_;  // by size
  std::uint64_t round_ = 1;

  double now_ = 0;
  std::vector<std::uint32_t> waiting_;                               // in order of arrival
  std::vector<End> running_;                                         // by estimated end
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // by real end
  Reservation reservation_;
  ReplayResult result_;
};

std::optional<Allotment> Replay::decide(const Occupancy& occupancy, std::uint32_t nodes) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  auto allotment = place(allocator_, occupancy, policy_, nodes, options_.place);
  result_.decision_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++result_.decisions;
  return allotment;
}

void Replay::note_meetings(SimulatedJob& job) {
  if (!job.allotment.passages.meets(occupancy_.held())) return;
  job.met = true;
  for (const End& other : running_) {
    if (jobs_[other.job].allotment.passages.meets(job.allotment.passages)) jobs_[other.job].met = true;
  }
}

void Replay::start(std::uint32_t number, Allotment allotment) {
  SimulatedJob& job = jobs_[number];
  job.start = now_;
  job.allotment = std::move(allotment);
  note_meetings(job);
  if (options_.verify) result_.meetings += verifier_.start({std::to_string(number), job.allotment.nodes}).size();
  occupancy_.add(job.allotment);
  const End estimated{now_ + job.estimate, number};
  running_.insert(std::lower_bound(running_.begin(), running_.end(), estimated), estimated);
  ends_.push({now_ + job.run, number});
  const double wait = now_ - job.submit;
  result_.mean_wait += wait;
  result_.bounded_slowdown += std::max(1.0, (wait + job.run) / std::max(job.run, 10.0));
  result_.utilisation += job.nodes * job.run;
  if (job.nodes > 1) result_.mean_diameter += job.allotment.diameter;
}

void Replay::finish(std::uint32_t number) {
  SimulatedJob& job = jobs_[number];
  occupancy_.remove(job.allotment);
  if (options_.verify) verifier_.end(std::to_string(number));
  const End estimated{job.start + job.estimate, number};
  running_.erase(std::lower_bound(running_.begin(), running_.end(), estimated));
  ++result_.jobs;
  if (job.nodes > 1) {
    ++result_.parallel;
    result_.met += job.met ? 1 : 0;
  }
  if (options_.keep_jobs) keep(job);
  job.allotment = {};
}

void Replay::keep(const SimulatedJob& job) {
  const double first = jobs_.front().submit;
  ReplayedJob kept{job.number, job.submit - first, job.start - first, now_ - first, job.allotment.nodes, job.met};
  std::sort(kept.nodes.begin(), kept.nodes.end());
  result_.job_list.push_back(std::move(kept));
}

void Replay::pass_time(double until) {
  if (!waiting_.empty() && occupancy_.free_count() >= jobs_[waiting_.front()].nodes)
    result_.fragmentation += occupancy_.free_count() * (until - now_);
  now_ = until;
}

void Replay::start_from_the_front() {
  std::size_t started = 0;
  for (; started < waiting_.size(); ++started) {
    auto allotment = decide(occupancy_, jobs_[waiting_[started]].nodes);
    if (!allotment) break;
    start(waiting_[started], std::move(*allotment));
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(started));
}

/// The first moment at which enough of the running jobs should have ended, and the place that the policy gives it then.
/// More room never hurts, so the moment is found by bisection.
void Replay::reserve_for_the_first() {
  const std::uint32_t nodes = jobs_[waiting_.front()].nodes;
  const auto after = [&](std::size_t ended) {
    Occupancy future = occupancy_;
    for (std::size_t i = 0; i < ended; ++i) future.remove(jobs_[running_[i].job].allotment);
    return future;
  };
  std::size_t low = 1, high = running_.size();
  std::optional<Allotment> found;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (auto allotment = decide(after(middle), nodes)) {
      high = middle;
      found = std::move(allotment);
    } else {
      low = middle + 1;
      found.reset();
    }
  }
  if (!found) found = decide(after(high), nodes);
  reservation_ = {};
  if (!found) return;  // drained nodes are in the way: nothing to wait for
  reservation_ = {std::max(now_, running_[high - 1].time), std::move(*found)};
}

/// Jobs from this place of the queue on start if they end before the reservation begins or do not touch it.
void Replay::backfill(std::size_t from) {
  std::optional<Occupancy> beside;  // with the reserved shape taken
  std::size_t kept = from;
  for (std::size_t i = from; i < waiting_.size(); ++i) {
    const std::uint32_t number = waiting_[i];
    const SimulatedJob& job = jobs_[number];
    Failed& failed = failed_[job.nodes];
    std::optional<Allotment> allotment;
    const bool ends_before = now_ + job.estimate <= reservation_.time;
    const bool hopeless = failed.anywhere == round_ || (!ends_before && failed.beside == round_);
    if (job.nodes <= occupancy_.free_count() && !hopeless) {
      if (!ends_before && !beside) {
        beside = occupancy_;
        beside->add(reservation_.allotment);
      }
      allotment = decide(ends_before ? occupancy_ : *beside, job.nodes);
      if (!allotment) (ends_before ? failed.anywhere : failed.beside) = round_;
    }
    if (allotment) {
      if (beside) beside->add(*allotment);
      start(number, std::move(*allotment));
    } else {
      waiting_[kept++] = number;
    }
  }
  waiting_.resize(kept);
}

void Replay::schedule(std::size_t first_new, bool room_gained) {
  if (options_.queue == Queue::conservative) return plan_everybody();
  if (room_gained || first_new == 0) {
    start_from_the_front();
    if (waiting_.empty() || options_.queue == Queue::fcfs) return;
    ++round_;
    reserve_for_the_first();
    backfill(1);
  } else if (options_.queue == Queue::easy) {
    backfill(first_new);  // nothing has changed for those that wait already
  }
}

/// The first moment at which there is room for a job as long as it may run, beside all that run or are planned then.
Replay::Reservation Replay::earliest(const SimulatedJob& job, std::span<const Plan> plans) {
  std::vector<double> moments{now_};
  for (const Plan& plan : plans) moments.push_back(std::max(now_, plan.until));
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  for (const double moment : moments) {
    Occupancy then = occupancy_;
    for (const End& end : running_) then.remove(jobs_[end.job].allotment);
    for (const Plan& plan : plans) {
      const bool over = plan.until <= moment && moment > now_;
      if (!over && plan.from < moment + job.estimate) then.add(*plan.allotment);
    }
    if (auto allotment = decide(then, job.nodes)) return {moment, std::move(*allotment)};
  }
  return {};
}

/// Everybody in turn, up to the depth, gets a reservation; who has one for now starts. Plans are made anew whenever a
/// job ends or comes.
void Replay::plan_everybody() {
  std::vector<Plan> plans;
  for (const End& end : running_) plans.push_back({now_, end.time, &jobs_[end.job].allotment});
  std::list<Allotment> planned;
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const std::uint32_t number = waiting_[i];
    const SimulatedJob& job = jobs_[number];
    Reservation found = i < options_.depth ? earliest(job, plans) : Reservation{};
    if (found.time == now_) {
      start(number, std::move(found.allotment));
      plans.push_back({now_, now_ + job.estimate, &job.allotment});
      continue;
    }
    left.push_back(number);
    if (found.time == never) continue;
    planned.push_back(std::move(found.allotment));
    plans.push_back({found.time, found.time + job.estimate, &planned.back()});
  }
  waiting_ = std::move(left);
}

ReplayResult Replay::run(Progress& progress) {
  result_.policy = policy_.name;
  std::size_t next = 0;
  now_ = jobs_.empty() ? 0 : jobs_.front().submit;
  const double begin = now_;
  while (next < jobs_.size() || !ends_.empty()) {
    const double arrival = next < jobs_.size() ? jobs_[next].submit : never;
    const double end = ends_.empty() ? never : ends_.top().time;
    if (arrival == never && end == never) break;
    pass_time(std::min(arrival, end));
    bool room_gained = false;
    while (!ends_.empty() && ends_.top().time <= now_) {
      finish(ends_.top().job);
      ends_.pop();
      room_gained = true;
    }
    const std::size_t first_new = waiting_.size();
    while (next < jobs_.size() && jobs_[next].submit <= now_) waiting_.push_back(static_cast<std::uint32_t>(next++));
    if (!waiting_.empty()) schedule(first_new, room_gained);
    if ((result_.jobs & 0xff) == 0)
      progress.report(policy_.name, static_cast<double>(result_.jobs) / static_cast<double>(jobs_.size()));
  }
  result_.makespan = now_ - begin;
  std::sort(result_.job_list.begin(), result_.job_list.end(), [](const ReplayedJob& a, const ReplayedJob& b) {
    return std::tie(a.start, a.submit, a.number) < std::tie(b.start, b.submit, b.number);
  });
  const auto jobs = static_cast<double>(std::max<std::uint64_t>(1, result_.jobs));
  const double capacity =
      (allocator_.machine().node_count() - static_cast<double>(allocator_.machine().holes().count())) *
      result_.makespan;
  result_.mean_wait /= jobs;
  result_.bounded_slowdown /= jobs;
  result_.mean_diameter /= static_cast<double>(std::max<std::uint64_t>(1, result_.parallel));
  result_.utilisation /= capacity;
  result_.fragmentation /= capacity;
  return result_;
}

}  // namespace

std::string_view name_of(Queue queue) {
  switch (queue) {
    case Queue::fcfs:
      return "fcfs";
    case Queue::easy:
      return "easy";
    case Queue::conservative:
      break;
  }
  return "conservative";
}

double offered_load(std::span<const WorkloadJob> jobs, const AllocationMachine& machine) {
  if (jobs.empty()) return 0;
  double work = 0;
  for (const WorkloadJob& job : jobs) work += machine.nodes_for(job.tasks) * job.run;
  const double time = jobs.back().submit - jobs.front().submit;
  const double nodes = machine.node_count() - static_cast<double>(machine.holes().count());
  return time > 0 ? work / (time * nodes) : never;
}

Result<ReplayResult> replay(const Allocator& allocator, const PolicyInfo& policy, const Workload& workload,
                            const ReplayOptions& options, Progress& progress) {
  const AllocationMachine& machine = allocator.machine();
  std::vector<WorkloadJob> chosen;
  std::uint64_t too_large = 0;
  const Occupancy empty(machine);
  std::vector<std::int8_t> fits(machine.node_count() + 1, -1);  // by size: can it ever be placed?
  for (const WorkloadJob& job : workload.jobs) {
    if (options.jobs > 0 && chosen.size() == options.jobs) break;
    const std::uint64_t nodes = (job.tasks + machine.cores_per_node() - 1) / machine.cores_per_node();
    if (nodes <= machine.node_count() && fits[nodes] < 0)
      fits[nodes] = place(allocator, empty, policy, static_cast<std::uint32_t>(nodes), options.place) ? 1 : 0;
    if (nodes > machine.node_count() || fits[nodes] == 0) {
      ++too_large;
    } else {
      chosen.push_back(job);
    }
  }
  if (chosen.empty()) {
    return fail(Code::infeasible, at(workload.name), "no job of the trace fits this machine",
                fmt::format("its nodes are {}, the cores of each {}", machine.node_count(), machine.cores_per_node()));
  }
  const double offered = offered_load(chosen, machine);
  const double stretch = options.load > 0 && offered != never ? offered / options.load : 1;
  const double first = chosen.front().submit;
  std::vector<SimulatedJob> jobs;
  jobs.reserve(chosen.size());
  for (const WorkloadJob& job : chosen)
    jobs.push_back(
        {job.number, first + (job.submit - first) * stretch, job.run, job.estimate, machine.nodes_for(job.tasks)});
  ReplayResult result = Replay(allocator, policy, options, std::move(jobs)).run(progress);
  result.too_large = too_large;
  return result;
}

}  // namespace rankloom
