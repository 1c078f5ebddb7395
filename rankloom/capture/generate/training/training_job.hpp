// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the description of a training job of a language model: degrees of parallelism, sizes of
// the model, the batch. docs/training.md explains the terms, docs/patterns.md the options.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// What data parallel ranks keep only a part of (ZeRO, Rajbhandari et al. 2020; FSDP with full sharding is stage 3).
enum class Sharding : std::uint8_t {
  by_optimizer,  ///< Stage 1 with the distributed optimizer, else stage 0.
  none,          ///< Stage 0: gradients are summed by one allreduce.
  optimizer,     ///< Stage 1: the state of the optimizer.
  gradients,     ///< Stage 2: also the gradients, which are reduced once per micro-batch.
  parameters,    ///< Stage 3: also the parameters, which are gathered twice per micro-batch.
};

/// How context parallel ranks exchange keys and values.
enum class ContextExchange : std::uint8_t {
  ring,       ///< Ring attention (Liu et al. 2023).
  alltoall,   ///< Ulysses (Jacobs et al. 2023): heads instead of tokens are distributed during attention.
  allgather,  ///< Every rank gathers all keys and values.
};

/// As the user gives it; 0 and empty values of sizes are derived by resolve().
struct TrainingJob {
  std::uint64_t tensor = 8;
  std::uint64_t pipeline = 4;
  std::uint64_t context = 1;
  std::uint64_t data = 4;
  std::uint64_t expert = 1;
  std::uint64_t expert_tensor = 0;  ///< 0: as tensor.
  std::uint64_t gpus = 0;           ///< 0: the product of the degrees; else it determines data.
  std::uint64_t virtual_stages = 1;
  std::string order = "tp-cp-ep-dp-pp";

  std::string model;  ///< A row of known_models().
  std::uint64_t layers = 0;
  std::uint64_t hidden = 0;
  std::uint64_t feed_forward = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_size = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t experts = 0;
  std::uint64_t top = 0;
  std::uint64_t expert_feed_forward = 0;
  std::uint64_t shared_feed_forward = 0;  ///< Of the experts that see every token.
  std::uint64_t dense_layers = 0;         ///< The first layers, which have no experts.
  bool gated = false;
  bool tied_embeddings = false;

  std::uint64_t sequence = 4096;
  std::uint64_t micro_batches = 8;
  std::uint64_t micro_batch_size = 1;
  std::uint64_t global_batch_size = 0;  ///< 0: of micro_batches; else it determines micro_batches.
  std::uint64_t number_bytes = 2;
  std::uint64_t gradient_bytes = 4;
  bool sequence_parallel = false;
  bool distributed_optimizer = true;
  bool recompute = false;
  Sharding sharding = Sharding::by_optimizer;
  ContextExchange context_exchange = ContextExchange::ring;

  std::uint64_t ranks() const { return tensor * pipeline * context * data; }
};

/// Binds the options of `rankloom gen llm`.
void describe(TrainingJob& job, OptionList& options);

/// The same job with all values that it leaves open: those of the named model, defaults, and what follows from the
/// number of GPUs and the global batch size. Fails if the values contradict each other.
Result<TrainingJob> resolve(TrainingJob job);

/// Parameters of the parts of a resolved job.
struct LayerParameters {
  double attention = 0;     ///< Of one layer.
  double feed_forward = 0;  ///< Of one dense layer.
  double expert = 0;        ///< Of one expert.
  double shared = 0;        ///< Of the shared experts and the router of one layer.
  double embedding = 0;     ///< Of one embedding: input or output.
};
LayerParameters layer_parameters(const TrainingJob& job);
/// Of the complete model, without biases and norms.
double total_parameters(const TrainingJob& job);

/// The layers of one pipeline stage.
struct StageLayers {
  double all = 0;
  double with_experts = 0;
};
StageLayers layers_of_stage(const TrainingJob& job, std::uint64_t stage);

/// How a rank number is composed of indices: the first dimension of the order varies fastest. As in Megatron-LM, layers
/// with experts divide the ranks of a pipeline stage in another way than the others.
struct RankStrides {
  std::uint64_t tensor = 1, context = 1, expert = 1, data = 1, pipeline = 1;
};
struct RankOrder {
  RankStrides dense;
  RankStrides experts;  ///< `tensor` of the expert tensor degree, `data` of the copies of an expert.
  bool tensor_is_first = true;
};
Result<RankOrder> rank_order(const TrainingJob& job);

}  // namespace rankloom
