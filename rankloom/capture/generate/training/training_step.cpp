// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the communication of one training step with tensor, context, pipeline, data and expert
// parallelism. docs/patterns.md derives the volumes.
#include "rankloom/capture/generate/training/training_step.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

double real(std::uint64_t number) {
  return static_cast<double>(number);
}

/// What one member sends in one call with blocks of `bytes`.
double sent_by_member(CollectiveOp op, double bytes, double members) {
  return op == CollectiveOp::allreduce ? 2 * (members - 1) / members * bytes : (members - 1) * bytes;
}

/// Parts of a step that a rank goes through one after another, and the beginnings of the names of their groups. The
/// embedding is reduced with the other gradients.
struct StepPart {
  std::string_view name;
  std::array<std::string_view, 3> groups;
};
constexpr std::array step_parts{StepPart{"tensor", {"tp", "etp"}}, StepPart{"context", {"cp"}},
                                StepPart{"experts", {"ep"}}, StepPart{"pipeline", {"pp"}},
                                StepPart{"gradients", {"dp", "edp", "embd"}}};

std::size_t part_of(std::string_view group) {
  const auto has_group = [&](const StepPart& part) {
    return std::find(part.groups.begin(), part.groups.end(), group) != part.groups.end();
  };
  return static_cast<std::size_t>(std::find_if(step_parts.begin(), step_parts.end(), has_group) - step_parts.begin());
}

/// A kind of traffic with the formula of the bytes that one rank sends.
struct TrafficKind {
  std::string_view name;
  std::string_view formula;
};

class StepBuilder {
 public:
  StepBuilder(const TrainingJob& job, const RankOrder& order)
      : job_(job),
        order_(order),
        of_layer_(layer_parameters(job)),
        copies_(job.tensor * job.context * job.data / (job.expert * job.expert_tensor)) {}

  TrainingStep build() {
    for (std::uint64_t stage = 0; stage < job_.pipeline; ++stage) {
      layers_ = layers_of_stage(job_, stage);
      add_pipeline(stage);
      add_tensor_groups(stage);
      add_context_groups(stage);
      add_data_groups(stage);
      if (job_.experts > 0) add_expert_groups(stage);
    }
    add_embedding_groups();
    add_phases();
    std::erase_if(traffic_, [](const StepTraffic& row) { return row.bytes == 0; });
    return {std::move(profile_), std::move(traffic_)};
  }

 private:
  static Rank number(std::uint64_t value) { return Rank{static_cast<std::uint32_t>(value)}; }
  Rank rank(std::uint64_t stage, std::uint64_t data, std::uint64_t context, std::uint64_t tensor) const {
    const RankStrides& stride = order_.dense;
    return number(stage * stride.pipeline + data * stride.data + context * stride.context + tensor * stride.tensor);
  }
  Rank expert_rank(std::uint64_t stage, std::uint64_t copy, std::uint64_t expert, std::uint64_t tensor) const {
    const RankStrides& stride = order_.experts;
    return number(stage * stride.pipeline + copy * stride.data + expert * stride.expert + tensor * stride.tensor);
  }
  bool first(std::uint64_t stage) const { return stage == 0; }
  bool last(std::uint64_t stage) const { return stage + 1 == job_.pipeline; }
  double micro_batches() const { return real(job_.micro_batches); }
  double dense_layers() const { return layers_.all - layers_.with_experts; }
  /// Tokens of a micro-batch on one rank.
  double tokens() const { return real(job_.sequence) * real(job_.micro_batch_size) / real(job_.context); }
  double activation_bytes() const { return tokens() * real(job_.hidden) * real(job_.number_bytes); }
  /// Experts are distributed over other groups than the rest of a layer.
  bool has_expert_groups() const { return job_.experts > 0 && (job_.expert > 1 || job_.expert_tensor != job_.tensor); }
  /// Passes through a layer in which its forward communication happens.
  double forward_passes() const { return job_.recompute ? 2 : 1; }

  /// Activations to the next stage and gradients to the previous one, once per micro-batch and virtual stage. With
  /// virtual stages the last stage also sends to the first.
  void add_pipeline(std::uint64_t stage) {
    if (job_.pipeline == 1) return;
    const double bytes = activation_bytes() / (job_.sequence_parallel ? real(job_.tensor) : 1);
    const double virtual_stages = real(job_.virtual_stages);
    const double messages = micro_batches() * (last(stage) ? virtual_stages - 1 : virtual_stages);
    const std::uint64_t next = last(stage) ? 0 : stage + 1;
    if (messages > 0) {
      for (std::uint64_t data = 0; data < job_.data; ++data)
        for (std::uint64_t context = 0; context < job_.context; ++context)
          for (std::uint64_t tensor = 0; tensor < job_.tensor; ++tensor) {
            const Rank from = rank(stage, data, context, tensor), to = rank(next, data, context, tensor);
            pipeline_messages_.add(from, to, bytes * messages, messages);
            pipeline_messages_.add(to, from, bytes * messages, messages);
          }
    }
    // A stage sends activations to the next one, and gradients to the one before.
    const double sent = messages + micro_batches() * (first(stage) ? virtual_stages - 1 : virtual_stages);
    count_messages({"pipeline", job_.sequence_parallel ? "n·A/tp" : "n·A"}, "pp", job_.pipeline, stage == 0, bytes,
                   sent);
  }

  void add_tensor_groups(std::uint64_t stage) {
    const bool experts_use_group =
        layers_.with_experts > 0 && job_.expert_tensor == job_.tensor && order_.tensor_is_first;
    if (job_.tensor > 1) {
      for (std::uint64_t data = 0; data < job_.data; ++data)
        for (std::uint64_t context = 0; context < job_.context; ++context) {
          add_communicator("tp", (stage * job_.data + data) * job_.context + context, job_.tensor,
                           [&](std::uint64_t t) { return rank(stage, data, context, t); });
          add_tensor_calls(stage);
          if (experts_use_group) add_expert_tensor_calls(job_.tensor);
        }
    }
    if (experts_use_group || layers_.with_experts == 0 || job_.expert_tensor == 1) return;
    for (std::uint64_t copy = 0; copy < copies_; ++copy)
      for (std::uint64_t expert = 0; expert < job_.expert; ++expert) {
        add_communicator("etp", (stage * copies_ + copy) * job_.expert + expert, job_.expert_tensor,
                         [&](std::uint64_t t) { return expert_rank(stage, copy, expert, t); });
        add_expert_tensor_calls(job_.expert_tensor);
      }
  }

  /// Attention and dense feed-forward networks: one exchange each, forward and backward.
  void add_tensor_calls(std::uint64_t stage) {
    const double activation = activation_bytes();
    const double embedding = first(stage) ? 1 : 0;
    const double output = last(stage) ? 1 : 0;
    const double parts = layers_.all + dense_layers();
    if (job_.sequence_parallel) {
      const double block = activation / real(job_.tensor);
      add_collective({"tensor", "n·(tp−1)/tp·A"}, CollectiveOp::allgather, block,
                     micro_batches() * ((2 + forward_passes()) * parts + embedding + 2 * output));
      add_collective({"tensor", "n·(tp−1)/tp·A"}, CollectiveOp::reduce_scatter, block,
                     micro_batches() * ((1 + forward_passes()) * parts + embedding + output));
    } else {
      add_collective({"tensor", "n·2·(tp−1)/tp·A"}, CollectiveOp::allreduce, activation,
                     micro_batches() * ((1 + forward_passes()) * parts + embedding + output));
    }
    if (last(stage))  // in single precision
      add_collective({"loss", "n·2·(tp−1)/tp·4·s·b/cp"}, CollectiveOp::allreduce, tokens() * 4, micro_batches() * 3);
  }

  /// The ranks that share an expert gather the tokens that each of them has received, and reduce the results.
  void add_expert_tensor_calls(std::uint64_t members) {
    const double block = real(job_.top) * activation_bytes() / real(job_.tensor);
    const double calls = micro_batches() * layers_.with_experts * (1 + forward_passes());
    if (members == 1 || calls == 0) return;
    add_collective({"tensor, experts", "n·(etp−1)·k·A/tp"}, CollectiveOp::allgather, block, calls);
    add_collective({"tensor, experts", "n·(etp−1)·k·A/tp"}, CollectiveOp::reduce_scatter, block, calls);
  }

  void add_context_groups(std::uint64_t stage) {
    if (job_.context == 1) return;
    for (std::uint64_t data = 0; data < job_.data; ++data)
      for (std::uint64_t tensor = 0; tensor < job_.tensor; ++tensor) {
        const auto member = [&](std::uint64_t c) { return rank(stage, data, c, tensor); };
        if (job_.context_exchange == ContextExchange::ring) {
          add_ring(member);
        } else {
          add_communicator("cp", (stage * job_.data + data) * job_.tensor + tensor, job_.context, member);
          add_context_calls();
        }
      }
  }

  double query_bytes() const {
    const double width = job_.heads > 0 ? real(job_.heads * job_.head_size) : real(job_.hidden);
    return tokens() * width / real(job_.tensor) * real(job_.number_bytes);
  }
  double key_and_value_bytes() const {
    const double width = job_.heads > 0 ? real(job_.kv_heads * job_.head_size) : real(job_.hidden);
    return 2 * tokens() * width / real(job_.tensor) * real(job_.number_bytes);
  }

  /// Forward, keys and values visit all other ranks. Backward they do so again, and their gradients also return to the
  /// rank that they belong to.
  template <class Member>
  void add_ring(const Member& member) {
    const double steps = real(job_.context) - 1;
    const double blocks = forward_passes() * steps + steps + steps + 1;
    const double messages = micro_batches() * layers_.all * blocks;
    for (std::uint64_t c = 0; c < job_.context; ++c)
      context_messages_.add(member(c), member((c + 1) % job_.context), messages * key_and_value_bytes(), messages);
    count_messages({"context", "n·KV"}, "cp", job_.context, true, key_and_value_bytes(), messages, job_.context);
  }

  void add_context_calls() {
    const double layers = micro_batches() * layers_.all;
    if (job_.context_exchange == ContextExchange::alltoall) {
      const double passes = layers * (1 + forward_passes());
      add_collective({"context, queries and results", "n·(cp−1)/cp·Q"}, CollectiveOp::alltoall,
                     query_bytes() / real(job_.context), 2 * passes);
      add_collective({"context, keys and values", "n·(cp−1)/cp·KV/2"}, CollectiveOp::alltoall,
                     key_and_value_bytes() / 2 / real(job_.context), 2 * passes);
    } else {
      add_collective({"context", "n·(cp−1)·KV"}, CollectiveOp::allgather, key_and_value_bytes(),
                     layers * (1 + forward_passes()));
      add_collective({"context", "n·(cp−1)·KV"}, CollectiveOp::reduce_scatter, key_and_value_bytes(), layers);
    }
  }

  /// Ranks with different data or context have the same parameters.
  void add_data_groups(std::uint64_t stage) {
    const std::uint64_t members = job_.data * job_.context;
    if (members == 1) return;
    double parameters = layers_.all * of_layer_.attention + dense_layers() * of_layer_.feed_forward +
                        layers_.with_experts * of_layer_.shared;
    if (!has_expert_groups()) parameters += layers_.with_experts * of_layer_.expert * real(job_.experts);
    if (first(stage)) parameters += of_layer_.embedding;
    if (last(stage) && !(job_.tied_embeddings && job_.pipeline == 1)) parameters += of_layer_.embedding;
    for (std::uint64_t tensor = 0; tensor < job_.tensor; ++tensor) {
      add_communicator("dp", stage * job_.tensor + tensor, members, [&](std::uint64_t member) {
        return rank(stage, member / job_.context, member % job_.context, tensor);
      });
      reduce_gradients("", "P", parameters / real(job_.tensor), members);
    }
  }

  void add_expert_groups(std::uint64_t stage) {
    if (layers_.with_experts == 0 || !has_expert_groups()) return;
    const double block =
        tokens() / real(job_.tensor) * real(job_.top) * real(job_.hidden) * real(job_.number_bytes) / real(job_.expert);
    if (job_.expert > 1) {
      for (std::uint64_t copy = 0; copy < copies_; ++copy)
        for (std::uint64_t tensor = 0; tensor < job_.expert_tensor; ++tensor) {
          add_communicator("ep", (stage * copies_ + copy) * job_.expert_tensor + tensor, job_.expert,
                           [&](std::uint64_t e) { return expert_rank(stage, copy, e, tensor); });
          add_collective({"experts", "n·(ep−1)/ep·k·A/tp"}, CollectiveOp::alltoall, block,
                         micro_batches() * 2 * (1 + forward_passes()) * layers_.with_experts);
        }
    }
    if (copies_ == 1) return;
    const double parameters =
        layers_.with_experts * of_layer_.expert * real(job_.experts) / real(job_.expert) / real(job_.expert_tensor);
    for (std::uint64_t expert = 0; expert < job_.expert; ++expert)
      for (std::uint64_t tensor = 0; tensor < job_.expert_tensor; ++tensor) {
        add_communicator("edp", (stage * job_.expert + expert) * job_.expert_tensor + tensor, copies_,
                         [&](std::uint64_t c) { return expert_rank(stage, c, expert, tensor); });
        reduce_gradients(" of experts", "Pₑ", parameters, copies_);
      }
  }

  /// Gradients are summed, and with a sharded optimizer each member sends the updated parameters of its part to all
  /// others.
  void reduce_gradients(std::string_view of, std::string_view symbol, double parameters, std::uint64_t members) {
    const std::string gradients = fmt::format("gradients{}", of), updated = fmt::format("parameters{}", of);
    const double gradient_bytes = parameters * real(job_.gradient_bytes);
    if (job_.sharding == Sharding::none) {
      const std::string formula = fmt::format("n·2·(d−1)/d·{}·g", symbol);
      add_collective({gradients, formula}, CollectiveOp::allreduce, gradient_bytes, 1);
      return;
    }
    const bool every_micro_batch = job_.sharding == Sharding::gradients || job_.sharding == Sharding::parameters;
    const std::string gradient_formula = fmt::format("n·(d−1)/d·{}·g", symbol);
    const std::string parameter_formula = fmt::format("n·(d−1)/d·{}·w", symbol);
    add_collective({gradients, gradient_formula}, CollectiveOp::reduce_scatter, gradient_bytes / real(members),
                   every_micro_batch ? micro_batches() : 1);
    add_collective({updated, parameter_formula}, CollectiveOp::allgather,
                   parameters * real(job_.number_bytes) / real(members),
                   job_.sharding == Sharding::parameters ? 2 * micro_batches() : 1);
  }

  /// The gradients of one embedding that two stages have.
  void add_embedding_groups() {
    if (!job_.tied_embeddings || job_.pipeline == 1) return;
    const double bytes = of_layer_.embedding / real(job_.tensor) * real(job_.gradient_bytes);
    std::uint64_t group = 0;
    for (std::uint64_t data = 0; data < job_.data; ++data)
      for (std::uint64_t context = 0; context < job_.context; ++context)
        for (std::uint64_t tensor = 0; tensor < job_.tensor; ++tensor) {
          add_communicator("embd", group++, 2, [&](std::uint64_t member) {
            return rank(member == 0 ? 0 : job_.pipeline - 1, data, context, tensor);
          });
          add_collective({"embedding", "n·V·h·g/tp"}, CollectiveOp::allreduce, bytes, 1);
        }
  }

  /// The parts with traffic as phases, if there are several: a step takes the sum of their times, because each of them
  /// waits for the one before. A profile of one part has no phases.
  void add_phases() {
    std::array<CommGraph, step_parts.size()> messages;
    messages.fill(CommGraphBuilder(static_cast<std::uint32_t>(job_.ranks())).build(true));
    messages[part_of("pp")] = std::move(pipeline_messages_).build(true);
    messages[part_of("cp")] = std::move(context_messages_).build(true);
    profile_.point_to_point = sum(messages[part_of("pp")], messages[part_of("cp")]);
    for (std::size_t part = 0; part < step_parts.size(); ++part) {
      if (messages[part].edge_count() == 0 && calls_[part].empty()) continue;
      profile_.phases.push_back({.name = std::string(step_parts[part].name),
                                 .point_to_point = std::move(messages[part]),
                                 .expanded_collectives = {},
                                 .collectives = std::move(calls_[part])});
    }
    if (profile_.phases.size() == 1) profile_.phases.clear();
  }

  template <class Member>
  void add_communicator(std::string_view kind, std::uint64_t group, std::uint64_t size, const Member& member) {
    Communicator communicator{.name = fmt::format("{}{}", kind, group), .members = {}};
    communicator.members.reserve(size);
    for (std::uint64_t position = 0; position < size; ++position) communicator.members.push_back(member(position));
    profile_.communicators.push_back(std::move(communicator));
    group_ = kind;
  }

  /// Calls on the communicator that was added last. Equal calls are combined.
  void add_collective(const TrafficKind& kind, CollectiveOp op, double bytes, double count) {
    if (count == 0) return;
    const auto communicator = static_cast<std::uint32_t>(profile_.communicators.size() - 1);
    const std::uint64_t members = profile_.communicators.back().members.size();
    StepTraffic& row = find_row(kind, group_, to_string(op), members);
    ++row.groups;
    add_bytes(row, bytes, count, sent_by_member(op, bytes, real(members)), real(members));
    const Collective call{.communicator = communicator, .op = op, .bytes = bytes, .count = count};
    add_call(call, profile_.collectives);
    add_call(call, calls_[part_of(group_)]);
  }

  static void add_call(const Collective& added, std::vector<Collective>& calls) {
    const auto equal = std::find_if(calls.rbegin(), calls.rend(), [&](const Collective& call) {
      return call.communicator != added.communicator || (call.op == added.op && call.bytes == added.bytes);
    });
    if (equal != calls.rend() && equal->communicator == added.communicator) {
      equal->count += added.count;
    } else {
      calls.push_back(added);
    }
  }

  /// Messages of every rank of a pipeline stage, or of the members of one group.
  void count_messages(const TrafficKind& kind, std::string_view group, std::uint64_t members, bool new_groups,
                      double bytes, double messages, std::uint64_t senders = 0) {
    StepTraffic& row = find_row(kind, group, "send", members);
    const std::uint64_t of_a_stage = job_.tensor * job_.context * job_.data;
    if (new_groups) row.groups += senders > 0 ? 1 : of_a_stage;
    add_bytes(row, bytes, messages, bytes, real(senders > 0 ? senders : of_a_stage));
  }

  static void add_bytes(StepTraffic& row, double bytes_per_call, double calls, double sent_per_call, double senders) {
    row.bytes += calls * sent_per_call * senders;
    if (calls * sent_per_call <= row.bytes_per_rank) return;
    row.bytes_per_rank = calls * sent_per_call;
    row.bytes_per_call = bytes_per_call;
    row.calls = calls;
  }

  StepTraffic& find_row(const TrafficKind& kind, std::string_view group, std::string_view operation,
                        std::uint64_t members) {
    const auto found = std::find_if(traffic_.begin(), traffic_.end(), [&](const StepTraffic& row) {
      return row.kind == kind.name && row.group == group && row.operation == operation;
    });
    if (found != traffic_.end()) return *found;
    StepTraffic row;
    row.kind = kind.name;
    row.group = group;
    row.operation = operation;
    row.ranks = members;
    row.formula = kind.formula;
    return traffic_.emplace_back(std::move(row));
  }

  const TrainingJob& job_;
  const RankOrder& order_;
  LayerParameters of_layer_;
  StageLayers layers_;
  CommGraphBuilder pipeline_messages_{static_cast<std::uint32_t>(job_.ranks())};
  CommGraphBuilder context_messages_{static_cast<std::uint32_t>(job_.ranks())};
  std::uint64_t copies_;  // of every expert
  Profile profile_;
  std::array<std::vector<Collective>, step_parts.size()> calls_;  // by part of the step
  std::vector<StepTraffic> traffic_;
  std::string group_;  // of the communicator that was added last
};

}  // namespace

std::vector<FormulaSymbol> formula_symbols() {
  return {{"n", "calls or messages of the group"},
          {"A", "s·b·h·w/cp, the bytes of the activations of a micro-batch between two layers"},
          {"s, b, h, V", "tokens per sample, samples per micro-batch, hidden size, vocabulary"},
          {"w, g", "bytes per activation or parameter, bytes per gradient"},
          {"k", "experts per token"},
          {"Q, KV", "bytes of the queries, and of the keys and values, of one layer and rank"},
          {"P, Pₑ", "parameters of one rank without experts, and in experts"},
          {"d", "ranks with the same parameters"}};
}

Result<TrainingStep> make_training_step(const TrainingJob& job) {
  auto order = rank_order(job);
  if (!order) return propagate(order);
  const double ranks = real(job.ranks());
  if (auto fits = check_memory("llm", ranks, ranks * 3 * (bytes_per_built_edge + bytes_per_communicator)); !fits)
    return propagate(fits);
  return StepBuilder(job, *order).build();
}

}  // namespace rankloom
