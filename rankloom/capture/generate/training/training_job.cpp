// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: completes and checks the description of a training job.
#include "rankloom/capture/generate/training/training_job.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "rankloom/capture/generate/support.hpp"
#include "rankloom/capture/generate/training/known_models.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom {

namespace {

constexpr std::uint64_t max_size_value = 1'000'000'000;
constexpr std::uint64_t max_virtual_stages = 10'000;

void set_if_open(std::uint64_t& field, std::uint64_t value) {
  if (field == 0) field = value;
}

Result<void> apply_model(TrainingJob& job) {
  if (job.model.empty()) return {};
  const KnownModel* const model = find_model(job.model);
  if (model == nullptr) {
    std::vector<std::string_view> names;
    for (const KnownModel& row : known_models()) names.push_back(row.name);
    return fail(Code::usage, at("--model"), fmt::format("unknown model '{}'", job.model), suggest(job.model, names));
  }
  set_if_open(job.layers, model->layers);
  set_if_open(job.hidden, model->hidden);
  set_if_open(job.feed_forward, model->feed_forward);
  set_if_open(job.heads, model->heads);
  set_if_open(job.kv_heads, model->kv_heads);
  set_if_open(job.head_size, model->head_size);
  set_if_open(job.vocabulary, model->vocabulary);
  set_if_open(job.experts, model->experts);
  set_if_open(job.top, model->top);
  set_if_open(job.expert_feed_forward, model->expert_feed_forward);
  job.gated = job.gated || model->gated;
  job.tied_embeddings = job.tied_embeddings || model->tied_embeddings;
  return {};
}

Result<void> derive_data(TrainingJob& job) {
  if (job.gpus == 0) return {};
  const std::uint64_t of_a_copy = job.tensor * job.pipeline * job.context;
  if (job.gpus % of_a_copy != 0)
    return fail(Code::usage, at("--gpus"),
                fmt::format("{} GPUs are not a multiple of tp x pp x cp = {}", job.gpus, of_a_copy),
                "change the number of GPUs or the degrees");
  job.data = job.gpus / of_a_copy;
  return {};
}

Result<void> derive_micro_batches(TrainingJob& job) {
  if (job.global_batch_size == 0) return {};
  const std::uint64_t per_step = job.micro_batch_size * job.data;
  if (job.global_batch_size % per_step != 0)
    return fail(
        Code::usage, at("--global-batch-size"),
        fmt::format("{} samples are not a multiple of micro-batch-size x dp = {}", job.global_batch_size, per_step),
        "change the batch size or the degrees");
  job.micro_batches = job.global_batch_size / per_step;
  return {};
}

Result<void> check_size(const TrainingJob& job, std::uint64_t data) {
  const double ranks = static_cast<double>(job.tensor) * static_cast<double>(job.pipeline) *
                       static_cast<double>(job.context) * static_cast<double>(data);
  if (ranks <= static_cast<double>(max_ranks)) return {};
  return fail(Code::usage, at("--dp"), "tp x pp x cp x dp has too many ranks",
              fmt::format("the product is at most {}", max_ranks));
}

Result<void> check_degrees(const TrainingJob& job) {
  if (job.layers < job.pipeline * job.virtual_stages) {
    return fail(
        Code::usage, at("--pp"),
        fmt::format("{} pipeline stages are more than {} layers", job.pipeline * job.virtual_stages, job.layers),
        "decrease pp or increase layers: every stage needs a layer");
  }
  if (job.virtual_stages > 1 && job.pipeline == 1)
    return fail(Code::usage, at("--virtual-stages"), "virtual stages need a pipeline", "increase pp");
  if (job.virtual_stages > max_virtual_stages)
    return fail(Code::usage, at("--virtual-stages"), fmt::format("{} virtual stages are too many", job.virtual_stages),
                fmt::format("give at most {}", max_virtual_stages));
  if (job.sequence % job.context != 0)
    return fail(Code::usage, at("--cp"),
                fmt::format("{} tokens cannot be distributed evenly over {} ranks", job.sequence, job.context),
                "choose a cp that divides sequence");
  if (job.heads > 0 && job.heads % job.tensor != 0)
    return fail(Code::usage, at("--tp"),
                fmt::format("{} attention heads cannot be distributed evenly over {} ranks", job.heads, job.tensor),
                "choose a tp that divides the number of heads");
  return {};
}

Result<void> check_experts(const TrainingJob& job) {
  const std::uint64_t of_a_stage = job.tensor * job.context * job.data;
  if (of_a_stage % (job.expert * job.expert_tensor) != 0) {
    const bool plain = job.expert_tensor == job.tensor && job.context == 1;
    return fail(Code::usage, at("--ep"),
                plain ? fmt::format("ep {} does not divide dp {}", job.expert, job.data)
                      : fmt::format("ep x etp = {} does not divide the {} ranks of a pipeline stage",
                                    job.expert * job.expert_tensor, of_a_stage),
                plain ? "choose an ep that divides dp" : "choose an ep that divides tp x cp x dp / etp");
  }
  if (job.experts % job.expert != 0)
    return fail(Code::usage, at("--experts"),
                fmt::format("{} experts cannot be distributed evenly over {} ranks", job.experts, job.expert),
                "choose a multiple of ep");
  return {};
}

}  // namespace

void describe(TrainingJob& job, OptionList& options) {
  options.count("tp", job.tensor, "tensor parallel degree", 1, max_ranks);
  options.count("pp", job.pipeline, "pipeline stages", 1, max_ranks);
  options.count("cp", job.context, "context parallel degree", 1, max_ranks);
  options.count("dp", job.data, "data parallel degree", 1, max_ranks);
  options.count("ep", job.expert, "expert parallel degree, a divisor of cp x dp", 1, max_ranks);
  options.count("etp", job.expert_tensor, "tensor parallel degree of experts; 0: as tp", 0, max_ranks);
  options.count("gpus", job.gpus, "all GPUs of the job, which determine dp; 0: tp x pp x cp x dp", 0, max_ranks);
  options.count("virtual-stages", job.virtual_stages, "virtual pipeline stages per rank (interleaved schedule)", 1,
                max_size_value);
  options.text("order", job.order, "ORDER", "the dimensions of a rank number; the first one varies fastest");
  options.text("model", job.model, "LLM",
               "sizes of a row of `rankloom list llms`, such as llama3-70b; other options replace single sizes");
  options.count("layers", job.layers, "number of layers; 0: of the model, or 32", 0, max_size_value);
  options.count("hidden", job.hidden, "hidden size; 0: of the model, or 4096", 0, max_size_value);
  options.count("ffn", job.feed_forward, "size of the feed-forward networks; 0: of the model, or four times hidden", 0,
                max_size_value);
  options.flag("gated", job.gated, "feed-forward networks have three matrices (SwiGLU) instead of two");
  options.count("heads", job.heads, "attention heads; 0: of the model, or not considered", 0, max_size_value);
  options.count("kv-heads", job.kv_heads, "heads of keys and values (query groups); 0: of the model, or as heads", 0,
                max_size_value);
  options.count("head-size", job.head_size, "size of one head; 0: of the model, or hidden / heads", 0, max_size_value);
  options.count("vocabulary", job.vocabulary, "size of the vocabulary, for the embeddings; 0: of the model, or 32000",
                0, max_size_value);
  options.flag("tied-embeddings", job.tied_embeddings, "the output uses the weights of the input embedding");
  options.count("sequence", job.sequence, "tokens per sample", 1, max_size_value);
  options.count("experts", job.experts, "experts per layer; 0: of the model, or ep, or none if ep is 1", 0,
                max_size_value);
  options.count("top", job.top, "experts per token; 0: of the model, or 2", 0, max_size_value);
  options.count("expert-ffn", job.expert_feed_forward, "size of one expert; 0: of the model, or as ffn", 0,
                max_size_value);
  options.count("shared-ffn", job.shared_feed_forward, "size of the experts that see every token", 0, max_size_value);
  options.count("dense-layers", job.dense_layers, "the first layers, which have no experts", 0, max_size_value);
  options.count("micro-batches", job.micro_batches, "micro-batches per step and data parallel rank", 1, max_size_value);
  options.count("micro-batch-size", job.micro_batch_size, "samples per micro-batch", 1, max_size_value);
  options.count("global-batch-size", job.global_batch_size,
                "samples per step, which determine micro-batches; 0: use micro-batches", 0, max_size_value);
  options.count("number-bytes", job.number_bytes, "bytes per activation or parameter", 1, 8);
  options.count("gradient-bytes", job.gradient_bytes, "bytes per gradient", 1, 8);
  options.flag("sequence-parallel", job.sequence_parallel,
               "tensor parallel ranks use allgather and reduce-scatter instead of allreduce");
  options.flag("distributed-optimizer", job.distributed_optimizer,
               "data parallel ranks use reduce-scatter and allgather instead of allreduce");
  options.choice("zero", job.sharding,
                 {{"auto", Sharding::by_optimizer},
                  {"0", Sharding::none},
                  {"1", Sharding::optimizer},
                  {"2", Sharding::gradients},
                  {"3", Sharding::parameters}},
                 "ZeRO stage; FSDP with full sharding is 3; auto: 1 with the distributed optimizer, else 0");
  options.flag("recompute", job.recompute, "activations of all layers are computed again in the backward pass");
  options.choice("cp-exchange", job.context_exchange,
                 {{"ring", ContextExchange::ring},
                  {"alltoall", ContextExchange::alltoall},
                  {"allgather", ContextExchange::allgather}},
                 "how context parallel ranks exchange keys and values");
}

Result<TrainingJob> resolve(TrainingJob job) {
  if (auto applied = apply_model(job); !applied) return propagate(applied);
  set_if_open(job.layers, 32);
  set_if_open(job.hidden, 4096);
  set_if_open(job.feed_forward, 4 * job.hidden);
  set_if_open(job.vocabulary, 32000);
  set_if_open(job.top, 2);
  if (job.expert > 1) set_if_open(job.experts, job.expert);
  set_if_open(job.expert_feed_forward, job.feed_forward);
  set_if_open(job.expert_tensor, job.tensor);
  if (job.heads > 0) {
    set_if_open(job.kv_heads, job.heads);
    set_if_open(job.head_size, std::max<std::uint64_t>(1, job.hidden / job.heads));
  }
  if (job.sharding == Sharding::by_optimizer)
    job.sharding = job.distributed_optimizer ? Sharding::optimizer : Sharding::none;
  if (auto valid = check_size(job, 1); !valid) return propagate(valid);
  if (auto derived = derive_data(job); !derived) return propagate(derived);
  if (auto valid = check_size(job, job.data); !valid) return propagate(valid);
  if (auto derived = derive_micro_batches(job); !derived) return propagate(derived);
  if (auto valid = check_degrees(job); !valid) return propagate(valid);
  if (auto valid = check_experts(job); !valid) return propagate(valid);
  if (auto valid = rank_order(job); !valid) return propagate(valid);
  return job;
}

LayerParameters layer_parameters(const TrainingJob& job) {
  const auto hidden = static_cast<double>(job.hidden);
  const double matrices = job.gated ? 3 : 2;
  const double heads = job.heads > 0 ? static_cast<double>(job.heads * job.head_size) : hidden;
  const double kv_heads = job.heads > 0 ? static_cast<double>(job.kv_heads * job.head_size) : hidden;
  LayerParameters parameters;
  parameters.attention = 2 * hidden * heads + 2 * hidden * kv_heads;
  parameters.feed_forward = matrices * hidden * static_cast<double>(job.feed_forward);
  parameters.expert = matrices * hidden * static_cast<double>(job.expert_feed_forward);
  parameters.shared = matrices * hidden * static_cast<double>(job.shared_feed_forward);
  parameters.embedding = hidden * static_cast<double>(job.vocabulary);
  return parameters;
}

double total_parameters(const TrainingJob& job) {
  const LayerParameters of_layer = layer_parameters(job);
  const double layers = static_cast<double>(job.layers);
  const double dense = job.experts == 0 ? layers : static_cast<double>(std::min(job.dense_layers, job.layers));
  return layers * of_layer.attention + dense * of_layer.feed_forward +
         (layers - dense) * (static_cast<double>(job.experts) * of_layer.expert + of_layer.shared) +
         (job.tied_embeddings ? 1 : 2) * of_layer.embedding;
}

StageLayers layers_of_stage(const TrainingJob& job, std::uint64_t stage) {
  const std::uint64_t parts = job.pipeline * job.virtual_stages;
  const std::uint64_t per_part = job.layers / parts, longer = job.layers % parts;
  StageLayers layers;
  for (std::uint64_t part = stage; part < parts; part += job.pipeline) {
    const std::uint64_t first = part * per_part + std::min(part, longer);
    const std::uint64_t end = first + per_part + (part < longer ? 1 : 0);
    layers.all += static_cast<double>(end - first);
    if (job.experts > 0) layers.with_experts += static_cast<double>(end - std::clamp(job.dense_layers, first, end));
  }
  return layers;
}

Result<RankOrder> rank_order(const TrainingJob& job) {
  struct Dimension {
    std::string_view name;
    std::uint64_t dense, experts;
    std::uint64_t RankStrides::*stride;
    bool seen = false;
  };
  const std::uint64_t copies = job.tensor * job.context * job.data / (job.expert * job.expert_tensor);
  std::array<Dimension, 5> dimensions{{{"tp", job.tensor, job.expert_tensor, &RankStrides::tensor},
                                       {"cp", job.context, 1, &RankStrides::context},
                                       {"ep", 1, job.expert, &RankStrides::expert},
                                       {"dp", job.data, copies, &RankStrides::data},
                                       {"pp", job.pipeline, job.pipeline, &RankStrides::pipeline}}};
  const auto bad = [&](const std::string& what) {
    return fail(Code::usage, at("--order"), fmt::format("'{}' {}", job.order, what),
                "write every one of tp, cp, ep, dp, pp once, separated by -, such as tp-cp-ep-dp-pp");
  };
  RankOrder order{.dense = {}, .experts = {}, .tensor_is_first = job.order.starts_with("tp")};
  std::uint64_t dense = 1, experts = 1;
  std::string_view rest = job.order;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('-'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                    [&](const Dimension& dimension) { return dimension.name == name; });
    if (found == dimensions.end()) return bad(fmt::format("contains '{}'", name));
    if (found->seen) return bad(fmt::format("contains {} twice", name));
    found->seen = true;
    order.dense.*(found->stride) = dense;
    order.experts.*(found->stride) = experts;
    dense *= found->dense;
    experts *= found->experts;
  }
  for (const Dimension& dimension : dimensions) {
    if (!dimension.seen && (dimension.dense > 1 || dimension.experts > 1))
      return bad(fmt::format("does not contain {}", dimension.name));
  }
  const bool own_experts = job.expert > 1 || job.expert_tensor != job.tensor;
  if (own_experts && order.dense.pipeline != order.experts.pipeline)
    return fail(Code::usage, at("--order"),
                fmt::format("with '{}', experts would be in other pipeline stages", job.order), "write pp last");
  return order;
}

}  // namespace rankloom
