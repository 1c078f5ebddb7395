// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: enumerates layouts and estimates their memory.
#include "rankloom/capture/generate/training/layouts.hpp"

#include <algorithm>

namespace rankloom {

namespace {

constexpr std::uint64_t min_context_tokens = 2048;

double as_real(std::uint64_t number) {
  return static_cast<double>(number);
}

struct StageParameters {
  double dense = 0, experts = 0;  ///< On one rank.
};

StageParameters stage_parameters(const TrainingJob& job, std::uint64_t stage) {
  const LayerParameters of_layer = layer_parameters(job);
  const StageLayers layers = layers_of_stage(job, stage);
  const bool is_first = stage == 0, is_last = stage + 1 == job.pipeline;
  double embeddings = (is_first ? 1 : 0) + (is_last ? 1 : 0);
  if (job.tied_embeddings && job.pipeline == 1) embeddings = 1;
  StageParameters parameters;
  parameters.dense = (layers.all * of_layer.attention + (layers.all - layers.with_experts) * of_layer.feed_forward +
                      layers.with_experts * of_layer.shared + embeddings * of_layer.embedding) /
                     as_real(job.tensor);
  parameters.experts =
      layers.with_experts * of_layer.expert * as_real(job.experts) / as_real(job.expert) / as_real(job.expert_tensor);
  return parameters;
}

/// Korthikanti et al. 2022, equations 2 and 4 and section 5, with attention that stores no scores. Proportional to the
/// bytes of a number.
double activation_bytes_per_layer(const TrainingJob& job) {
  const double tensor = as_real(job.tensor);
  const double elements = as_real(job.sequence) / as_real(job.context) * as_real(job.micro_batch_size) *
                          as_real(job.hidden) * as_real(job.number_bytes) / 2;
  if (job.recompute) return 2 * elements / (job.sequence_parallel ? tensor : 1);
  return job.sequence_parallel ? 34 * elements / tensor : (10 + 24 / tensor) * elements;
}

MemoryUse memory_of_stage(const TrainingJob& job, std::uint64_t stage) {
  const StageParameters of_rank = stage_parameters(job, stage);
  const double copies = as_real(job.data * job.context);
  const double expert_copies = as_real(job.tensor * job.context * job.data / (job.expert * job.expert_tensor));
  const auto sharded = [&](Sharding from, double bytes) {
    const bool divided = job.sharding >= from;
    return bytes * (of_rank.dense / (divided ? copies : 1) + of_rank.experts / (divided ? expert_copies : 1));
  };
  MemoryUse use;
  use.parameters = sharded(Sharding::parameters, as_real(job.number_bytes));
  use.gradients = sharded(Sharding::gradients, as_real(job.gradient_bytes));
  use.optimizer = sharded(Sharding::optimizer, 12);
  // One forward, one backward: a stage keeps the micro-batches that the stages after it still need.
  const double in_flight = std::min(as_real(job.micro_batches), as_real(job.pipeline - stage));
  use.activations = in_flight * layers_of_stage(job, stage).all * activation_bytes_per_layer(job);
  if (stage + 1 == job.pipeline) {  // the logits, in single precision
    use.activations += 4 * as_real(job.sequence) / as_real(job.context) * as_real(job.micro_batch_size) *
                       as_real(job.vocabulary) / as_real(job.tensor);
  }
  return use;
}

std::vector<std::uint64_t> divisors(std::uint64_t number, std::uint64_t max) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t divisor = 1; divisor <= std::min(number, max); ++divisor) {
    if (number % divisor == 0) result.push_back(divisor);
  }
  return result;
}

std::vector<std::uint64_t> powers_of_two(std::uint64_t max) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t power = 1; power <= max; power *= 2) result.push_back(power);
  return result;
}

}  // namespace

MemoryUse memory_per_gpu(const TrainingJob& job) {
  MemoryUse most;
  for (std::uint64_t stage = 0; stage < job.pipeline; ++stage) {
    const MemoryUse use = memory_of_stage(job, stage);
    if (use.total() > most.total()) most = use;
  }
  return most;
}

std::vector<TrainingJob> layouts(const TrainingJob& job, const LayoutChoice& choice) {
  TrainingJob any = job;
  any.tensor = any.pipeline = any.context = any.expert = any.virtual_stages = any.data = 1;
  any.expert_tensor = any.gpus = any.global_batch_size = 0;
  const auto sizes = resolve(any);  // of the model
  if (!sizes || choice.gpus == 0) return {};
  const auto one_or = [](bool fixed, std::uint64_t value, std::vector<std::uint64_t> all) {
    return fixed ? std::vector{value} : std::move(all);
  };
  const std::uint64_t max_context = std::max<std::uint64_t>(1, job.sequence / min_context_tokens);
  const std::uint64_t max_pipeline = std::min(sizes->layers, choice.gpus);
  std::vector<TrainingJob> found;
  for (const std::uint64_t tensor :
       one_or(choice.fixed_tensor, job.tensor, powers_of_two(std::min(choice.max_tensor, choice.gpus)))) {
    for (const std::uint64_t pipeline :
         one_or(choice.fixed_pipeline, job.pipeline, divisors(sizes->layers, max_pipeline))) {
      for (const std::uint64_t context :
           one_or(choice.fixed_context, job.context, powers_of_two(std::min<std::uint64_t>(max_context, 64)))) {
        for (const std::uint64_t expert :
             one_or(choice.fixed_expert, job.expert, divisors(std::max<std::uint64_t>(1, sizes->experts), 4096))) {
          TrainingJob layout = job;
          layout.tensor = tensor;
          layout.pipeline = pipeline;
          layout.context = context;
          layout.expert = expert;
          layout.gpus = choice.gpus;
          if (pipeline == 1 || sizes->layers < pipeline * job.virtual_stages) layout.virtual_stages = 1;
          if (auto complete = resolve(std::move(layout))) found.push_back(std::move(*complete));
        }
      }
    }
  }
  return found;
}

}  // namespace rankloom
