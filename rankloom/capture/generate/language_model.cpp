// SPDX-License-Identifier: Apache-2.0
// capture/generate: one training step of a transformer with tensor, pipeline, data and expert parallelism.
// docs/patterns.md derives the volumes.
#include <string_view>

#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

struct Model {
  std::uint64_t tensor = 8;
  std::uint64_t pipeline = 4;
  std::uint64_t data = 4;
  std::uint64_t expert = 1;
  std::uint64_t layers = 32;
  std::uint64_t hidden = 4096;
  std::uint64_t feed_forward = 0;
  std::uint64_t sequence = 4096;
  std::uint64_t vocabulary = 32000;
  std::uint64_t experts = 0;
  std::uint64_t top = 2;
  std::uint64_t micro_batches = 8;
  std::uint64_t micro_batch_size = 1;
  std::uint64_t number_bytes = 2;
  std::uint64_t gradient_bytes = 4;
  bool sequence_parallel = false;
  bool distributed_optimizer = true;
};

double real(std::uint64_t number) {
  return static_cast<double>(number);
}

/// Ranks are numbered as in Megatron-LM: the tensor index varies fastest, then the data index, whose consecutive ranks
/// share experts, then the pipeline stage.
class TrainingStep {
 public:
  explicit TrainingStep(const Model& model) : m_(model) {}

  Profile profile() {
    const auto ranks = static_cast<std::uint32_t>(m_.tensor * m_.data * m_.pipeline);
    profile_ = point_to_point_profile(pipeline_messages(ranks));
    for (std::uint64_t stage = 0; stage < m_.pipeline; ++stage) {
      add_tensor_groups(stage);
      add_data_groups(stage);
      if (experts() > 0) add_expert_groups(stage);
    }
    return std::move(profile_);
  }

 private:
  Rank rank(std::uint64_t stage, std::uint64_t data, std::uint64_t tensor) const {
    return Rank{static_cast<std::uint32_t>((stage * m_.data + data) * m_.tensor + tensor)};
  }
  bool first(std::uint64_t stage) const { return stage == 0; }
  bool last(std::uint64_t stage) const { return stage + 1 == m_.pipeline; }
  double layers(std::uint64_t stage) const {
    return real(m_.layers / m_.pipeline + (stage < m_.layers % m_.pipeline ? 1 : 0));
  }
  double experts() const { return real(m_.experts > 0 || m_.expert == 1 ? m_.experts : m_.expert); }
  double tokens() const { return real(m_.sequence) * real(m_.micro_batch_size); }
  double activation_bytes() const { return tokens() * real(m_.hidden) * real(m_.number_bytes); }
  /// Parameters of a feed-forward network, or of one expert.
  double feed_forward() const {
    return 2 * real(m_.hidden) * (m_.feed_forward > 0 ? real(m_.feed_forward) : 4 * real(m_.hidden));
  }

  /// Activations to the next stage and gradients to the previous one, once per micro-batch.
  CommGraph pipeline_messages(std::uint32_t ranks) const {
    CommGraphBuilder builder(ranks);
    const double bytes = activation_bytes() / (m_.sequence_parallel ? real(m_.tensor) : 1);
    const double messages = real(m_.micro_batches);
    for (std::uint64_t stage = 0; stage + 1 < m_.pipeline; ++stage)
      for (std::uint64_t data = 0; data < m_.data; ++data)
        for (std::uint64_t tensor = 0; tensor < m_.tensor; ++tensor) {
          builder.add(rank(stage, data, tensor), rank(stage + 1, data, tensor), bytes * messages, messages);
          builder.add(rank(stage + 1, data, tensor), rank(stage, data, tensor), bytes * messages, messages);
        }
    return std::move(builder).build(true);
  }

  void add_tensor_groups(std::uint64_t stage) {
    if (m_.tensor == 1) return;
    const double activation = activation_bytes();
    const double embedding = first(stage) ? 1 : 0;
    const double output = last(stage) ? 1 : 0;
    for (std::uint64_t data = 0; data < m_.data; ++data) {
      add_communicator("tp", stage * m_.data + data, m_.tensor, [&](std::uint64_t t) { return rank(stage, data, t); });
      if (m_.sequence_parallel) {
        const double part = activation / real(m_.tensor);
        add_collective(CollectiveOp::allgather, part,
                       real(m_.micro_batches) * (6 * layers(stage) + embedding + 2 * output));
        add_collective(CollectiveOp::reduce_scatter, part,
                       real(m_.micro_batches) * (4 * layers(stage) + embedding + output));
      } else {
        add_collective(CollectiveOp::allreduce, activation,
                       real(m_.micro_batches) * (4 * layers(stage) + embedding + output));
      }
      if (last(stage))
        add_collective(CollectiveOp::allreduce, tokens() * 4,
                       real(m_.micro_batches) * 3);  // the loss, in single precision
    }
  }

  void add_data_groups(std::uint64_t stage) {
    if (m_.data == 1) return;
    const double hidden = real(m_.hidden);
    double parameters = layers(stage) * 4 * hidden * hidden;
    if (experts() == 0) parameters += layers(stage) * feed_forward();
    if (experts() > 0 && m_.expert == 1) parameters += layers(stage) * feed_forward() * experts();
    if (first(stage)) parameters += real(m_.vocabulary) * hidden;
    if (last(stage)) parameters += real(m_.vocabulary) * hidden;
    for (std::uint64_t tensor = 0; tensor < m_.tensor; ++tensor) {
      add_communicator("dp", stage * m_.tensor + tensor, m_.data,
                       [&](std::uint64_t d) { return rank(stage, d, tensor); });
      sum_gradients(parameters / real(m_.tensor), m_.data);
    }
  }

  void add_expert_groups(std::uint64_t stage) {
    if (m_.expert == 1) return;
    const std::uint64_t copies = m_.data / m_.expert;
    const double block =
        tokens() / real(m_.tensor) * real(m_.top) * real(m_.hidden) * real(m_.number_bytes) / real(m_.expert);
    for (std::uint64_t copy = 0; copy < copies; ++copy)
      for (std::uint64_t tensor = 0; tensor < m_.tensor; ++tensor) {
        add_communicator("ep", (stage * copies + copy) * m_.tensor + tensor, m_.expert,
                         [&](std::uint64_t e) { return rank(stage, copy * m_.expert + e, tensor); });
        add_collective(CollectiveOp::alltoall, block, real(m_.micro_batches) * 4 * layers(stage));
      }
    if (copies == 1) return;
    const double parameters = layers(stage) * feed_forward() * experts() / real(m_.expert) / real(m_.tensor);
    for (std::uint64_t expert = 0; expert < m_.expert; ++expert)
      for (std::uint64_t tensor = 0; tensor < m_.tensor; ++tensor) {
        add_communicator("edp", (stage * m_.expert + expert) * m_.tensor + tensor, copies,
                         [&](std::uint64_t c) { return rank(stage, c * m_.expert + expert, tensor); });
        sum_gradients(parameters, copies);
      }
  }

  /// Once per step. With the distributed optimizer, each member sums one part of the gradients and sends the updated
  /// parameters of this part to all others.
  void sum_gradients(double parameters, std::uint64_t members) {
    if (m_.distributed_optimizer) {
      add_collective(CollectiveOp::reduce_scatter, parameters * real(m_.gradient_bytes) / real(members), 1);
      add_collective(CollectiveOp::allgather, parameters * real(m_.number_bytes) / real(members), 1);
    } else {
      add_collective(CollectiveOp::allreduce, parameters * real(m_.gradient_bytes), 1);
    }
  }

  template <class Member>
  void add_communicator(std::string_view kind, std::uint64_t number, std::uint64_t size, const Member& member) {
    Communicator communicator{.name = fmt::format("{}{}", kind, number), .members = {}};
    communicator.members.reserve(size);
    for (std::uint64_t position = 0; position < size; ++position) communicator.members.push_back(member(position));
    profile_.communicators.push_back(std::move(communicator));
  }

  /// A call on the communicator that was added last.
  void add_collective(CollectiveOp op, double bytes, double count) {
    const auto communicator = static_cast<std::uint32_t>(profile_.communicators.size() - 1);
    profile_.collectives.push_back({.communicator = communicator, .op = op, .bytes = bytes, .count = count});
  }

  const Model& m_;
  Profile profile_;
};

class LanguageModel : public Generator {
 public:
  void describe(OptionList& options) override {
    constexpr std::uint64_t max_value = 1'000'000'000;
    options.count("tp", m_.tensor, "tensor parallel degree", 1, max_ranks);
    options.count("pp", m_.pipeline, "pipeline stages", 1, max_ranks);
    options.count("dp", m_.data, "data parallel degree", 1, max_ranks);
    options.count("ep", m_.expert, "expert parallel degree, a divisor of dp", 1, max_ranks);
    options.count("layers", m_.layers, "number of layers", 1, max_value);
    options.count("hidden", m_.hidden, "hidden size", 1, max_value);
    options.count("ffn", m_.feed_forward, "size of the feed-forward networks; 0: four times hidden", 0, max_value);
    options.count("sequence", m_.sequence, "tokens per sample", 1, max_value);
    options.count("vocabulary", m_.vocabulary, "size of the vocabulary, for the embeddings", 1, max_value);
    options.count("experts", m_.experts, "experts per layer; 0: ep, or none if ep is 1", 0, max_value);
    options.count("top", m_.top, "experts per token", 1, max_value);
    options.count("micro-batches", m_.micro_batches, "micro-batches per step and data parallel rank", 1, max_value);
    options.count("micro-batch-size", m_.micro_batch_size, "samples per micro-batch", 1, max_value);
    options.count("number-bytes", m_.number_bytes, "bytes per activation or parameter", 1, 8);
    options.count("gradient-bytes", m_.gradient_bytes, "bytes per gradient", 1, 8);
    options.flag("sequence-parallel", m_.sequence_parallel,
                 "tensor parallel ranks use allgather and reduce-scatter instead of allreduce");
    options.flag("distributed-optimizer", m_.distributed_optimizer,
                 "data parallel ranks use reduce-scatter and allgather instead of allreduce");
  }

  Result<Profile> generate(std::uint64_t) const override {
    if (auto valid = check(); !valid) return propagate(valid);
    return TrainingStep(m_).profile();
  }

 private:
  Result<void> check() const {
    const double ranks = real(m_.tensor) * real(m_.pipeline) * real(m_.data);
    if (ranks > real(max_ranks))
      return fail(Code::usage, at("--dp"), "tp x pp x dp has too many ranks",
                  fmt::format("the product is at most {}", max_ranks));
    if (m_.layers < m_.pipeline)
      return fail(Code::usage, at("--pp"),
                  fmt::format("{} pipeline stages are more than {} layers", m_.pipeline, m_.layers),
                  "decrease pp or increase layers: every stage needs a layer");
    if (m_.data % m_.expert != 0)
      return fail(Code::usage, at("--ep"), fmt::format("ep {} does not divide dp {}", m_.expert, m_.data),
                  "choose an ep that divides dp");
    if (m_.experts % m_.expert != 0)
      return fail(Code::usage, at("--experts"),
                  fmt::format("{} experts cannot be distributed evenly over {} ranks", m_.experts, m_.expert),
                  "choose a multiple of ep");
    return check_memory("llm", ranks, ranks * 2 * (bytes_per_built_edge + bytes_per_communicator));
  }

  Model m_;
};

}  // namespace

std::unique_ptr<Generator> make_llm() {
  return std::make_unique<LanguageModel>();
}

}  // namespace rankloom
