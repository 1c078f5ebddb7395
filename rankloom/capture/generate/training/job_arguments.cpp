// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the arguments of Megatron-LM, as its file arguments.py lists them, and those of torchrun
// that determine the number of processes.
#include "rankloom/capture/generate/training/job_arguments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr std::uint64_t max_argument_value = 1'000'000'000;

struct CountArgument {
  std::string_view name;
  std::uint64_t TrainingJob::*field;
};

constexpr auto count_arguments = std::to_array<CountArgument>({
    {"tensor-model-parallel-size", &TrainingJob::tensor},
    {"pipeline-model-parallel-size", &TrainingJob::pipeline},
    {"context-parallel-size", &TrainingJob::context},
    {"expert-model-parallel-size", &TrainingJob::expert},
    {"expert-tensor-parallel-size", &TrainingJob::expert_tensor},
    {"num-virtual-stages-per-pipeline-rank", &TrainingJob::virtual_stages},
    {"num-layers", &TrainingJob::layers},
    {"hidden-size", &TrainingJob::hidden},
    {"ffn-hidden-size", &TrainingJob::feed_forward},
    {"num-attention-heads", &TrainingJob::heads},
    {"num-query-groups", &TrainingJob::kv_heads},
    {"kv-channels", &TrainingJob::head_size},
    {"padded-vocab-size", &TrainingJob::vocabulary},
    {"num-experts", &TrainingJob::experts},
    {"num-moe-experts", &TrainingJob::experts},
    {"moe-router-topk", &TrainingJob::top},
    {"moe-ffn-hidden-size", &TrainingJob::expert_feed_forward},
    {"moe-shared-expert-intermediate-size", &TrainingJob::shared_feed_forward},
    {"seq-length", &TrainingJob::sequence},
    {"micro-batch-size", &TrainingJob::micro_batch_size},
    {"global-batch-size", &TrainingJob::global_batch_size},
    {"world-size", &TrainingJob::gpus},
});

/// The sizes of these are derived from other arguments.
constexpr auto other_counts = std::to_array<std::string_view>({"num-layers-per-virtual-pipeline-stage", "vocab-size",
                                                               "make-vocab-size-divisible-by", "nnodes",
                                                               "nproc-per-node", "num-nodes", "zero-stage"});

constexpr auto switch_arguments = std::to_array<std::string_view>(
    {"sequence-parallel", "use-distributed-optimizer", "swiglu", "untie-embeddings-and-output-weights", "bf16", "fp16",
     "accumulate-allreduce-grads-in-fp32", "grad-reduce-in-bf16", "use-torch-fsdp2", "use-megatron-fsdp",
     "use-custom-fsdp", "use-tp-pp-dp-mapping", "group-query-attention"});

constexpr auto text_arguments = std::to_array<std::string_view>(
    {"recompute-granularity", "cp-comm-type", "data-parallel-sharding-strategy", "order", "model"});

template <class List>
bool is_in(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string normalised(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

/// torchrun also takes a range of nodes, "1:4", for elastic jobs, which has no fixed number of ranks.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > max_argument_value) return std::nullopt;
  return number;
}

class ArgumentReader {
 public:
  ArgumentReader(const std::string& source, TrainingJob& job) : source_(source), job_(job) {
    // What Megatron-LM does without an argument.
    job_.tensor = job_.pipeline = job_.context = job_.expert = job_.virtual_stages = 1;
    job_.data = 1;
    job_.micro_batches = 1;
    job_.number_bytes = 4;
    job_.gradient_bytes = 0;
    job_.distributed_optimizer = false;
    job_.tied_embeddings = true;
  }

  Result<UsedArguments> read(std::span<const TrainingArgument> arguments) {
    UsedArguments result;
    for (const TrainingArgument& argument : arguments) {
      auto used = read(argument);
      if (!used) return propagate(used);
      if (*used) {
        result.used.push_back(argument.name);
      } else {
        ++result.ignored;
      }
    }
    if (result.used.empty())
      return fail(Code::bad_input, at(source_), "no argument describes a training job",
                  "give arguments of Megatron-LM such as --tensor-model-parallel-size 8 --num-layers 32");
    if (auto derived = derive(); !derived) return propagate(derived);
    return result;
  }

 private:
  Result<bool> read(const TrainingArgument& argument) {
    const auto wrong = [&](std::string_view expected) {
      return fail(Code::bad_input, argument.line > 0 ? at(source_, argument.line) : at(source_),
                  fmt::format("{}: '{}' is not {}", argument.name, argument.value, expected),
                  argument.value.starts_with('$') ? "write the value instead of a variable of the shell"
                                                  : fmt::format("give {}", expected));
    };
    const auto count = std::find_if(count_arguments.begin(), count_arguments.end(),
                                    [&](const CountArgument& row) { return row.name == argument.name; });
    const bool other = is_in(other_counts, argument.name);
    if (count != count_arguments.end() || other) {
      const auto number = parse_count(argument.value);
      if (!number || (*number == 0 && argument.name != "zero-stage")) return wrong("a positive number");
      if (other) {
        numbers_[argument.name] = *number;
      } else {
        job_.*(count->field) = *number;
        is_size_given_ = is_size_given_ || count->field == &TrainingJob::gpus;
      }
      return true;
    }
    if (is_in(switch_arguments, argument.name)) {
      if (!argument.value.empty() && argument.value != "true" && argument.value != "false" &&
          argument.value != "True" && argument.value != "False")
        return wrong("true or false");
      const bool on = argument.value != "false" && argument.value != "False";
      set(argument.name, on);
      return true;
    }
    if (!is_in(text_arguments, argument.name)) return false;
    return read_text(argument, wrong);
  }

  void set(std::string_view name, bool on) {
    if (name == "sequence-parallel") job_.sequence_parallel = on;
    if (name == "use-distributed-optimizer") job_.distributed_optimizer = on;
    if (name == "swiglu") job_.gated = on;
    if (name == "untie-embeddings-and-output-weights") job_.tied_embeddings = !on;
    if ((name == "bf16" || name == "fp16") && on) job_.number_bytes = 2;
    if ((name == "bf16" || name == "accumulate-allreduce-grads-in-fp32") && on && job_.gradient_bytes == 0)
      job_.gradient_bytes = 4;
    if (name == "grad-reduce-in-bf16" && on) job_.gradient_bytes = 2;
    if (name == "use-torch-fsdp2" && on) job_.sharding = Sharding::parameters;
    if (name == "use-tp-pp-dp-mapping" && on) job_.order = "tp-cp-ep-pp-dp";
  }

  template <class Wrong>
  Result<bool> read_text(const TrainingArgument& argument, const Wrong& wrong) {
    const std::string& value = argument.value;
    if (argument.name == "recompute-granularity") {
      if (value != "full" && value != "selective") return wrong("full or selective");
      job_.recompute = value == "full";
    } else if (argument.name == "cp-comm-type") {
      if (value != "p2p" && value != "a2a" && value != "allgather" && value != "all_gather")
        return wrong("p2p, a2a or allgather");
      job_.context_exchange = value == "p2p"   ? ContextExchange::ring
                              : value == "a2a" ? ContextExchange::alltoall
                                               : ContextExchange::allgather;
    } else if (argument.name == "data-parallel-sharding-strategy") {
      constexpr std::array<std::string_view, 4> names{"no_shard", "optim", "optim_grads", "optim_grads_params"};
      constexpr std::array<Sharding, 4> stages{Sharding::none, Sharding::optimizer, Sharding::gradients,
                                               Sharding::parameters};
      const auto found = std::find(names.begin(), names.end(), value);
      if (found == names.end()) return wrong("no_shard, optim, optim_grads or optim_grads_params");
      job_.sharding = stages[static_cast<std::size_t>(found - names.begin())];
    } else {
      (argument.name == "order" ? job_.order : job_.model) = value;
    }
    return true;
  }

  std::uint64_t number(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? 0 : found->second;
  }

  /// What several arguments determine together.
  Result<void> derive() {
    if (job_.gradient_bytes == 0) job_.gradient_bytes = job_.number_bytes;
    if (job_.gated && job_.feed_forward == 0 && job_.hidden > 0) job_.feed_forward = 4 * job_.hidden * 2 / 3 / 64 * 64;
    if (const std::uint64_t size = number("vocab-size"); size > 0 && job_.vocabulary == 0) {
      const std::uint64_t divisor = number("make-vocab-size-divisible-by");
      const std::uint64_t multiple = (divisor > 0 ? divisor : 128) * job_.tensor;
      job_.vocabulary = (size + multiple - 1) / multiple * multiple;
    }
    if (const std::uint64_t layers = number("num-layers-per-virtual-pipeline-stage"); layers > 0) {
      if (job_.layers == 0 || job_.layers % (job_.pipeline * layers) != 0)
        return fail(Code::bad_input, at(source_),
                    fmt::format("{} layers cannot be divided into {} pipeline stages with virtual stages of {} layers",
                                job_.layers, job_.pipeline, layers),
                    "correct num-layers-per-virtual-pipeline-stage");
      job_.virtual_stages = job_.layers / job_.pipeline / layers;
    }
    if (numbers_.contains("zero-stage")) {
      constexpr std::array<Sharding, 4> stages{Sharding::none, Sharding::optimizer, Sharding::gradients,
                                               Sharding::parameters};
      if (number("zero-stage") > 3)
        return fail(Code::bad_input, at(source_), "zero-stage is above 3", "give a number from 0 to 3");
      job_.sharding = stages[number("zero-stage")];
    }
    const std::uint64_t nodes = std::max(number("nnodes"), number("num-nodes")), per_node = number("nproc-per-node");
    if (!is_size_given_ && per_node > 0) job_.gpus = std::max<std::uint64_t>(1, nodes) * per_node;
    return {};
  }

  const std::string& source_;
  TrainingJob& job_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
  bool is_size_given_ = false;
};

/// The words of a shell script, without quotes, comments and the ends of continued lines.
struct ShellWord {
  std::string text;
  std::uint64_t line = 1;
};

std::vector<ShellWord> shell_words(std::string_view text) {
  std::vector<ShellWord> words;
  std::uint64_t line = 1;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends = quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ')' ||
                                     c == ';' || c == '&' || c == '|');
    if (c == '\n') ++line;
    if (quote == 0 && c == '#' && !in_word) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      ++i;
      if (text[i] == '\n') {
        ++line;
        in_word = in_word && quote != 0;
      } else {
        if (!in_word) words.push_back({"", line});
        in_word = true;
        words.back().text += text[i];
      }
    } else if ((c == '"' || c == '\'') && (quote == 0 || quote == c)) {
      quote = quote == 0 ? c : 0;
    } else if (ends || (quote != 0 && (c == ' ' || c == '\n' || c == '\t'))) {
      in_word = false;  // a quoted list of arguments is several words, as "$ARGS" without quotes is
    } else {
      if (!in_word) words.push_back({"", line});
      in_word = true;
      words.back().text += c;
    }
  }
  return words;
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos;
}

using ShellVariables = std::map<std::string, std::string, std::less<>>;

/// Replaces "$NAME", "${NAME}" or "${NAME:-default}" at the end of a word if its value is known.
void replace_variable(std::string& word, const ShellVariables& variables) {
  const auto dollar = word.find('$');
  if (dollar == std::string::npos || word.find('$', dollar + 1) != std::string::npos) return;
  std::string name = word.substr(dollar + 1);
  if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
  const auto separator = name.find(":-");
  const auto known = variables.find(name.substr(0, separator));
  if (known != variables.end()) {
    word.replace(dollar, std::string::npos, known->second);
  } else if (separator != std::string::npos) {
    word.replace(dollar, std::string::npos, name.substr(separator + 2));
  }
}

}  // namespace

std::vector<TrainingArgument> split_arguments(std::span<const std::string> command) {
  std::vector<TrainingArgument> arguments;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (!word.starts_with("--") || word.size() < 3) continue;
    const auto equals = word.find('=');
    TrainingArgument& argument = arguments.emplace_back();
    argument.name = normalised(word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
    if (equals != std::string_view::npos) {
      argument.value = word.substr(equals + 1);
    } else if (!is_in(switch_arguments, argument.name) && i + 1 < command.size() && !command[i + 1].starts_with("--")) {
      argument.value = command[++i];
    }
  }
  return arguments;
}

std::vector<TrainingArgument> read_script_arguments(std::string_view text) {
  ShellVariables variables;
  std::vector<std::string> words;
  std::vector<std::uint64_t> lines;
  for (ShellWord& word : shell_words(text)) {
    replace_variable(word.text, variables);
    const auto equals = word.text.find('=');
    if (equals != std::string::npos && is_variable_name(std::string_view(word.text).substr(0, equals))) {
      std::string value = word.text.substr(equals + 1);
      if (value.starts_with("--")) {
        word.text =
            std::move(value);  // ARGS="--num-layers 12 ..": its words are arguments here, and not where it is used
      } else {
        variables[word.text.substr(0, equals)] = std::move(value);
      }
    }
    words.push_back(std::move(word.text));
    lines.push_back(word.line);
  }
  std::vector<TrainingArgument> arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) continue;
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("--");
    auto one = split_arguments(std::span(words).subspan(i, has_value ? 2 : 1));
    for (TrainingArgument& argument : one) {
      argument.line = lines[i];
      arguments.push_back(std::move(argument));
    }
  }
  return arguments;
}

Result<UsedArguments> apply_arguments(std::span<const TrainingArgument> arguments, const std::string& source,
                                      TrainingJob& job) {
  return ArgumentReader(source, job).read(arguments);
}

}  // namespace rankloom
