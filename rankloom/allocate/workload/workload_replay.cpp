// SPDX-License-Identifier: Apache-2.0
// allocate/workload: discrete-event simulation of a machine, its queue and a policy.
#include "rankloom/allocate/workload/workload_replay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <list>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/allocate/workload/moldable_jobs.hpp"
#include "rankloom/allocate/workload/shared_channels.hpp"

namespace rankloom {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A job with a communication pattern consists of equal iterations: computing, then communicating.
struct Iterations {
  double recorded = 0;        // seconds of communication per iteration in the recorded run; 0: not known
  double recorded_total = 0;  // the same with computing
  double computing = 0;       // seconds per iteration
  double communicating = 0;   // seconds per iteration, now
  double left = 0;            // iterations
  double since = 0;           // when `left` and `communicating` were updated
  double total = 0;           // seconds of communication so far
  double seconds() const { return computing + communicating; }
};

struct SimulatedJob {
  std::uint64_t number;
  double submit, run, estimate;
  std::uint32_t nodes;
  const WorkloadJob* recorded;
  std::vector<MoldableShape> shapes = {};  // of a moldable job
  std::uint32_t shape = 0;                 // the one that `nodes` and `estimate` belong to
  double requested_estimate = 0;           // on the requested nodes
  double start = 0;
  double end = never;
  Allocation allocation = {};
  bool had_conflict = false;
  double promised = never;      // the earliest start of its reservations
  bool leaves_headroom = true;  // until it is the next one or its reservation would be delayed
  Iterations iterations = {};

  /// As it would run now: with the tasks of its shape.
  const WorkloadJob& as_placed() const { return shapes.empty() ? *recorded : shapes[shape].job; }
  void take_shape(std::size_t chosen) {
    shape = static_cast<std::uint32_t>(chosen);
    nodes = shapes[chosen].nodes;
    estimate = requested_estimate * shapes[chosen].relative_run();
  }
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
        failures_(allocator.machine().node_count() + 1),
        channels_(options.communication != nullptr ? options.communication->channel_count() : 0) {}

  ReplayResult run(Progress& progress);

 private:
  /// The real or the estimated end of a job.
  struct End {
    double time;
    std::uint32_t job;
    bool operator>(const End& other) const { return std::pair(time, job) > std::pair(other.time, other.job); }
    bool operator<(const End& other) const { return std::pair(time, job) < std::pair(other.time, other.job); }
  };
  struct Reservation {
    double time = never;
    Allocation allocation = {};
  };
  /// An allocation that is used for an interval of time.
  struct Plan {
    double from, until;
    const Allocation* allocation;
  };
  /// The last round in which the policy found no nodes for jobs of one size, and the least headroom of these jobs. A
  /// job that leaves at least as much is not tried again in this round.
  struct Failure {
    std::uint64_t round = 0;
    std::uint32_t headroom = 0;
    bool is_known(std::uint64_t now, std::uint32_t leaves) const { return round == now && leaves >= headroom; }
  };
  struct Failures {
    Failure anywhere, next_to_reservation;
  };

  std::uint32_t headroom_of(const SimulatedJob& job) const;
  std::optional<Allocation> choose_nodes(const Occupancy& occupancy, const SimulatedJob& job);
  double start_communication(std::uint32_t job);
  void update_communication(std::uint32_t job);
  void set_end(std::uint32_t job, double end);
  void drop_outdated_ends();
  void account(const SimulatedJob& job, double run);
  void start(std::uint32_t job, Allocation allocation);
  void finish(std::uint32_t job);
  void mark_conflicts(SimulatedJob& job);
  void advance_time(double until);
  void record_job(const SimulatedJob& job);

  void schedule(std::size_t first_new, bool nodes_freed);
  void start_in_order();
  std::optional<double> predicted_end(const SimulatedJob& job, const Reservation& start);
  Reservation earliest_for(const SimulatedJob& job);
  Reservation after_ends(const SimulatedJob& job);
  template <class Earliest>
  bool choose_shape(SimulatedJob& job, const Earliest& earliest);
  void backfill(std::size_t from);
  Reservation earliest(const SimulatedJob& job, std::span<const Plan> plans);
  Reservation as_promised(SimulatedJob& job, std::span<const Plan> plans);
  void plan_all();

  const Allocator& allocator_;
  const PolicyInfo& policy_;
  const ReplayOptions& options_;
  std::vector<SimulatedJob> jobs_;
  Occupancy occupancy_;
  ConflictVerifier verifier_;
  std::vector<Failures> failures_;  // by number of nodes
  SharedChannels channels_;
  std::vector<float> decision_times_;
  std::uint64_t round_ = 1;

  double now_ = 0;
  std::vector<std::uint32_t> waiting_;                               // in order of arrival
  std::vector<End> running_;                                         // by estimated end
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // by real end
  Reservation reservation_;
  ReplayResult result_;
};

std::uint32_t Replay::headroom_of(const SimulatedJob& job) const {
  if (!policy_.leaves_headroom || !job.leaves_headroom) return 0;
  return options_.headroom.nodes(allocator_.machine().node_count(), job.estimate);
}

std::optional<Allocation> Replay::choose_nodes(const Occupancy& occupancy, const SimulatedJob& job) {
  if (occupancy.free_count() < job.nodes) return std::nullopt;
  AllocationOptions options = options_.allocation;
  options.fit.headroom = headroom_of(job);
  if (options_.communication != nullptr) options.fit.run_time = options_.communication->run_time_model(job.as_placed());
  const auto begin = std::chrono::steady_clock::now();
  auto allocation = allocate_nodes(allocator_, occupancy, policy_, job.nodes, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result_.decision_seconds += seconds;
  decision_times_.push_back(static_cast<float>(seconds));
  ++result_.decisions;
  return allocation;
}

/// Returns the run time with the jobs that run now.
double Replay::start_communication(std::uint32_t number) {
  SimulatedJob& job = jobs_[number];
  if (options_.communication == nullptr || job.recorded->application == 0) return job.run;
  Iterations& iterations = job.iterations;
  const double recorded = options_.communication->recorded_seconds(*job.recorded);
  const double computing = options_.communication->computing_seconds(*job.recorded);
  if (!(recorded > 0)) return job.run;
  const double own_computing = job.shapes.empty() ? computing : job.shapes[job.shape].computing;
  iterations = {.recorded = recorded,
                .recorded_total = recorded + computing,
                .computing = own_computing,
                .left = job.run / (recorded + computing),
                .since = now_};
  const auto others =
      channels_.add(number, options_.communication->place(job.as_placed(), job.allocation.nodes), own_computing);
  iterations.communicating = channels_.seconds(number);
  for (const std::uint32_t other : others) update_communication(other);
  return iterations.left * iterations.seconds();
}

/// Another job started or ended on the channels of a running job.
void Replay::update_communication(std::uint32_t number) {
  SimulatedJob& job = jobs_[number];
  Iterations& iterations = job.iterations;
  const double done = (now_ - iterations.since) / iterations.seconds();
  iterations.total += done * iterations.communicating;
  iterations.left = std::max(0.0, iterations.left - done);
  iterations.since = now_;
  iterations.communicating = channels_.seconds(number);
  set_end(number, now_ + iterations.left * iterations.seconds());
}

void Replay::set_end(std::uint32_t number, double end) {
  jobs_[number].end = end;
  ends_.push({end, number});
}

/// An end that changed later is in the queue several times.
void Replay::drop_outdated_ends() {
  while (!ends_.empty() && jobs_[ends_.top().job].end != ends_.top().time) ends_.pop();
}

void Replay::account(const SimulatedJob& job, double run) {
  const double wait = job.start - job.submit;
  result_.mean_wait += wait;
  result_.bounded_slowdown += std::max(1.0, (wait + run) / std::max(job.run, 10.0));
  result_.utilisation += job.nodes * run;
}

void Replay::mark_conflicts(SimulatedJob& job) {
  if (!occupancy_.conflicts_with(job.allocation.shared_resources)) return;
  job.had_conflict = true;
  for (const End& other : running_) {
    if (jobs_[other.job].allocation.shared_resources.intersects(job.allocation.shared_resources))
      jobs_[other.job].had_conflict = true;
  }
}

void Replay::start(std::uint32_t number, Allocation allocation) {
  SimulatedJob& job = jobs_[number];
  job.start = now_;
  job.allocation = std::move(allocation);
  mark_conflicts(job);
  if (options_.verify) result_.conflicts += verifier_.start({std::to_string(number), job.allocation.nodes}).size();
  occupancy_.add(job.allocation);
  const End estimated{now_ + job.estimate, number};
  running_.insert(std::lower_bound(running_.begin(), running_.end(), estimated), estimated);
  set_end(number, now_ + start_communication(number));
  if (job.iterations.recorded == 0) account(job, job.run);  // else when it ends
  if (job.nodes > 1) result_.mean_diameter += job.allocation.diameter;
}

void Replay::finish(std::uint32_t number) {
  SimulatedJob& job = jobs_[number];
  occupancy_.remove(job.allocation);
  if (options_.verify) verifier_.end(std::to_string(number));
  const End estimated{job.start + job.estimate, number};
  running_.erase(std::lower_bound(running_.begin(), running_.end(), estimated));
  job.end = never;
  if (Iterations& iterations = job.iterations; iterations.recorded > 0) {
    iterations.total += iterations.left * iterations.communicating;
    for (const std::uint32_t other : channels_.remove(number)) update_communication(other);
    account(job, now_ - job.start);
    ++result_.communicating;
    result_.mean_communication += iterations.total;
    const double recorded = job.run * iterations.recorded / iterations.recorded_total;
    result_.communication_ratio += iterations.total / recorded;
  }
  ++result_.jobs;
  if (!job.shapes.empty() && job.as_placed().tasks != job.recorded->tasks) ++result_.reshaped;
  if (job.nodes > 1) {
    ++result_.parallel;
    result_.jobs_with_conflict += job.had_conflict ? 1 : 0;
  }
  if (options_.keep_jobs) record_job(job);
  job.allocation = {};
}

void Replay::record_job(const SimulatedJob& job) {
  const double first = jobs_.front().submit;
  ReplayedJob replayed{job.number,           job.submit - first, job.start - first,         now_ - first,
                       job.allocation.nodes, job.had_conflict,   job.recorded->application, job.iterations.total};
  std::sort(replayed.nodes.begin(), replayed.nodes.end());
  result_.job_list.push_back(std::move(replayed));
}

void Replay::advance_time(double until) {
  if (!waiting_.empty() && occupancy_.free_count() >= jobs_[waiting_.front()].nodes)
    result_.fragmentation += occupancy_.free_count() * (until - now_);
  now_ = until;
}

void Replay::start_in_order() {
  std::size_t started = 0;
  for (; started < waiting_.size(); ++started) {
    SimulatedJob& job = jobs_[waiting_[started]];
    job.leaves_headroom = false;
    choose_shape(job, [&](const SimulatedJob& shaped) { return earliest_for(shaped); });
    auto allocation = choose_nodes(occupancy_, job);
    if (!allocation) break;
    start(waiting_[started], std::move(*allocation));
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(started));
}

/// When a moldable job would end that starts with the chosen nodes; nothing if it cannot start.
std::optional<double> Replay::predicted_end(const SimulatedJob& job, const Reservation& start) {
  if (start.time == never) return std::nullopt;
  const double run = job.shapes[job.shape].relative_run(start.allocation.nodes, *options_.communication);
  return start.time + job.requested_estimate * run;
}

/// A moldable job takes the shape with the earliest predicted end, of which `earliest` tells the start; of equal ends,
/// the one with fewer nodes. Returns whether it can start in some shape; if not, it has the requested one.
template <class Earliest>
bool Replay::choose_shape(SimulatedJob& job, const Earliest& earliest) {
  if (job.shapes.empty()) return true;
  std::optional<std::size_t> best;
  std::size_t requested = 0;
  double best_end = never;
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    job.take_shape(i);
    if (job.shapes[i].job.tasks == job.recorded->tasks) requested = i;
    const auto end = predicted_end(job, earliest(job));
    if (end && *end < best_end) best = i, best_end = *end;
  }
  job.take_shape(best.value_or(requested));
  return best.has_value();
}

/// The first moment at which enough running jobs should have ended for this job. If the job fits at some moment it also
/// fits later, so bisection finds the first one.
Replay::Reservation Replay::earliest_for(const SimulatedJob& job) {
  if (auto allocation = choose_nodes(occupancy_, job)) return {now_, std::move(*allocation)};
  if (running_.empty()) return {};
  return after_ends(job);
}

Replay::Reservation Replay::after_ends(const SimulatedJob& job) {
  const auto after = [&](std::size_t ended) {
    Occupancy future = occupancy_;
    for (std::size_t i = 0; i < ended; ++i) future.remove(jobs_[running_[i].job].allocation);
    return future;
  };
  std::size_t low = 1, high = running_.size();
  std::optional<Allocation> found;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (auto allocation = choose_nodes(after(middle), job)) {
      high = middle;
      found = std::move(allocation);
    } else {
      low = middle + 1;
      found.reset();
    }
  }
  if (!found) found = choose_nodes(after(high), job);
  if (!found) return {};  // drained nodes block the job; the end of no other job helps
  return {std::max(now_, running_[high - 1].time), std::move(*found)};
}

/// Starts jobs from this position of the queue on that end before the reservation starts or do not conflict with it. A
/// moldable job takes fewer nodes only if it does not end later than on the requested ones from the reservation on.
void Replay::backfill(std::size_t from) {
  std::optional<Occupancy> with_reservation;  // the reserved nodes, routers and links are in use
  const auto nodes_for = [&](const SimulatedJob& job) -> std::optional<Allocation> {
    Failures& failures = failures_[job.nodes];
    const std::uint32_t leaves = headroom_of(job);
    const bool ends_before = now_ + job.estimate <= reservation_.time;
    const bool known_to_fail = failures.anywhere.is_known(round_, leaves) ||
                               (!ends_before && failures.next_to_reservation.is_known(round_, leaves));
    if (job.nodes > occupancy_.free_count() || known_to_fail) return std::nullopt;
    if (!ends_before && !with_reservation) {
      with_reservation = occupancy_;
      with_reservation->add(reservation_.allocation);
    }
    auto allocation = choose_nodes(ends_before ? occupancy_ : *with_reservation, job);
    if (!allocation) (ends_before ? failures.anywhere : failures.next_to_reservation) = {round_, leaves};
    return allocation;
  };
  const auto start_now = [&](const SimulatedJob& job) -> Reservation {
    if (now_ + job.estimate > reservation_.time + job.requested_estimate) return {};
    auto allocation = nodes_for(job);
    if (!allocation) return {};
    return {now_, *std::move(allocation)};
  };
  std::size_t still_waiting = from;
  for (std::size_t i = from; i < waiting_.size(); ++i) {
    const std::uint32_t number = waiting_[i];
    SimulatedJob& job = jobs_[number];
    std::optional<Allocation> allocation;
    if (choose_shape(job, start_now)) allocation = nodes_for(job);
    if (allocation) {
      if (with_reservation) with_reservation->add(*allocation);
      start(number, std::move(*allocation));
    } else {
      waiting_[still_waiting++] = number;
    }
  }
  waiting_.resize(still_waiting);
}

void Replay::schedule(std::size_t first_new, bool nodes_freed) {
  if (options_.queue == Queue::conservative) return plan_all();
  if (nodes_freed || first_new == 0) {
    start_in_order();
    if (waiting_.empty() || options_.queue == Queue::fcfs) return;
    ++round_;
    reservation_ = after_ends(jobs_[waiting_.front()]);
    backfill(1);
  } else if (options_.queue == Queue::easy) {
    backfill(first_new);  // nothing has changed for jobs that were waiting before
  }
}

/// The first moment at which a job can start and run for its estimated time next to all running and planned jobs.
Replay::Reservation Replay::earliest(const SimulatedJob& job, std::span<const Plan> plans) {
  std::vector<double> moments{now_};
  for (const Plan& plan : plans) moments.push_back(std::max(now_, plan.until));
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  for (const double moment : moments) {
    Occupancy planned_occupancy = occupancy_;
    for (const End& end : running_) planned_occupancy.remove(jobs_[end.job].allocation);
    for (const Plan& plan : plans) {
      const bool has_ended = plan.until <= moment && moment > now_;
      if (!has_ended && plan.from < moment + job.estimate) planned_occupancy.add(*plan.allocation);
    }
    if (auto allocation = choose_nodes(planned_occupancy, job)) return {moment, std::move(*allocation)};
  }
  return {};
}

/// Short jobs may take the headroom that a job with a reservation has to leave. The job then leaves none, so that its
/// reservation does not become later.
Replay::Reservation Replay::as_promised(SimulatedJob& job, std::span<const Plan> plans) {
  Reservation found = earliest(job, plans);
  if (found.time > job.promised && job.leaves_headroom) {
    job.leaves_headroom = false;
    found = earliest(job, plans);
  }
  job.promised = std::min(job.promised, found.time);
  return found;
}

/// Gives the first `depth` waiting jobs a reservation each, and starts the jobs whose reservation begins now.
/// Recomputes all reservations whenever a job arrives or ends.
void Replay::plan_all() {
  std::vector<Plan> plans;
  for (const End& end : running_) plans.push_back({now_, end.time, &jobs_[end.job].allocation});
  std::list<Allocation> planned;
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const std::uint32_t number = waiting_[i];
    SimulatedJob& job = jobs_[number];
    if (i < options_.depth) choose_shape(job, [&](const SimulatedJob& shaped) { return earliest(shaped, plans); });
    if (i == 0 || job.promised <= now_) job.leaves_headroom = false;
    Reservation found = i < options_.depth ? as_promised(job, plans) : Reservation{};
    if (found.time == now_) {
      start(number, std::move(found.allocation));
      plans.push_back({now_, now_ + job.estimate, &job.allocation});
      continue;
    }
    left.push_back(number);
    if (found.time == never) continue;
    planned.push_back(std::move(found.allocation));
    plans.push_back({found.time, found.time + job.estimate, &planned.back()});
  }
  waiting_ = std::move(left);
}

ReplayResult Replay::run(Progress& progress) {
  result_.policy = policy_.name;
  std::size_t next = 0;
  now_ = jobs_.empty() ? 0 : jobs_.front().submit;
  const double begin = now_;
  while (true) {
    drop_outdated_ends();
    const double arrival = next < jobs_.size() ? jobs_[next].submit : never;
    const double end = ends_.empty() ? never : ends_.top().time;
    if (arrival == never && end == never) break;
    advance_time(std::min(arrival, end));
    bool nodes_freed = false;
    for (drop_outdated_ends(); !ends_.empty() && ends_.top().time <= now_; drop_outdated_ends()) {
      const std::uint32_t ended = ends_.top().job;
      ends_.pop();
      finish(ended);
      nodes_freed = true;
    }
    const std::size_t first_new = waiting_.size();
    while (next < jobs_.size() && jobs_[next].submit <= now_) waiting_.push_back(static_cast<std::uint32_t>(next++));
    if (!waiting_.empty()) schedule(first_new, nodes_freed);
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
  const auto communicating = static_cast<double>(std::max<std::uint64_t>(1, result_.communicating));
  result_.mean_communication /= communicating;
  result_.communication_ratio /= communicating;
  if (!decision_times_.empty()) {
    const auto late = decision_times_.begin() + static_cast<std::ptrdiff_t>((decision_times_.size() - 1) * 99 / 100);
    std::nth_element(decision_times_.begin(), late, decision_times_.end());
    result_.slowest_decision = static_cast<double>(*late);
  }
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

std::uint32_t Headroom::nodes(std::uint32_t of_machine, double estimate) const {
  if (estimate <= short_seconds) return 0;
  const double most = std::min<double>(share * of_machine, max_nodes);
  return static_cast<std::uint32_t>(std::lround(most * (1 - short_seconds / estimate)));
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
  std::vector<std::int8_t> fits(machine.node_count() + 1,
                                -1);  // by number of nodes: 1 if the empty machine can run it, -1 if unknown
  for (const WorkloadJob& job : workload.jobs) {
    if (options.jobs > 0 && chosen.size() == options.jobs) break;
    const std::uint64_t nodes = (job.tasks + machine.cores_per_node() - 1) / machine.cores_per_node();
    if (nodes <= machine.node_count() && fits[nodes] < 0)
      fits[nodes] =
          allocate_nodes(allocator, empty, policy, static_cast<std::uint32_t>(nodes), options.allocation) ? 1 : 0;
    if (nodes > machine.node_count() || fits[nodes] == 0) {
      ++too_large;
    } else {
      chosen.push_back(job);
    }
  }
  if (chosen.empty()) {
    return fail(Code::infeasible, at(workload.name), "no job of the workload fits this machine",
                fmt::format("nodes: {}, cores per node: {}; choose a larger machine with -t", machine.node_count(),
                            machine.cores_per_node()));
  }
  const double offered = offered_load(chosen, machine);
  const double stretch = options.load > 0 && offered != never ? offered / options.load : 1;
  const double first = chosen.front().submit;
  std::vector<SimulatedJob> jobs;
  jobs.reserve(chosen.size());
  for (const WorkloadJob& job : chosen) {
    jobs.push_back({job.number, first + (job.submit - first) * stretch, job.run, job.estimate,
                    machine.nodes_for(job.tasks), &job});
    if (!(options.moldable > 1) || options.communication == nullptr) continue;
    jobs.back().requested_estimate = job.estimate;
    jobs.back().shapes =
        shapes_of(job, jobs.back().nodes, machine.node_count() - static_cast<std::uint32_t>(machine.holes().count()),
                  machine.cores_per_node(), options.moldable, *options.communication);
  }
  ReplayResult result = Replay(allocator, policy, options, std::move(jobs)).run(progress);
  result.too_large = too_large;
  return result;
}

}  // namespace rankloom
