// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom llm plan`: layouts of a training job that fit into memory, each mapped onto the machine
// and compared by the predicted communication time of a step.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/training_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/capture/generate/training/layouts.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/progress_part.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// How much of the memory of a GPU a layout may use by the simple model.
constexpr double usable_memory = 0.9;

struct PlannedLayout {
  TrainingJob job;
  double memory = 0;
  double seconds_default = 0;             ///< Predicted, in the usual order.
  std::optional<double> seconds = {};     ///< Predicted, as mapped; empty: not mapped.
  std::vector<LevelTraffic> levels = {};  ///< As mapped.
};

std::string layout_text(const TrainingJob& job) {
  std::string text = fmt::format("tp {} cp {} pp {} dp {}", job.tensor, job.context, job.pipeline, job.data);
  if (job.experts > 0) text += fmt::format(" ep {}", job.expert);
  return text;
}

class LlmVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    CLI::App& plan = add_command(app, "plan", "layouts that fit into memory, by predicted communication time");
    training_.describe(plan);
    topology_.describe(plan);
    limits_.bytes("memory", memory_, "memory of a GPU");
    limits_.count("layouts", max_layouts_,
                  "how many layouts are mapped: those with the shortest time in the usual order", 1, 1'000'000);
    limits_.count("max-tp", max_tensor_, "the largest tensor parallel degree; 0: the GPUs of a node", 0, 1'000'000);
    for (const Option& option : limits_.all()) add_listed(plan, option, "run", option.set);
  }

  Result<int> run(const Session& session) override {
    if (auto loaded = training_.load(session); !loaded) return propagate(loaded);
    if (training_.job().global_batch_size == 0)
      return fail(Code::usage, at("--global-batch-size"), "layouts are compared for one step of the same size",
                  "add --global-batch-size N");
    if (!topology_.given()) return fail(Code::usage, at("--topology"), "the machine is missing", "add -t TOPOLOGY");
    auto machine = topology_.load();
    if (!machine) return propagate(machine);
    auto platform = Platform::of(*machine);
    if (!platform) return propagate(platform);
    ProgressDisplay progress(stderr, session.progress);
    auto planned = find_layouts(*machine);
    if (!planned) return propagate(planned);
    if (auto predicted = predict_layouts(*planned, *machine, *platform, progress); !predicted)
      return propagate(predicted);
    if (auto mapped = map_layouts(*planned, *machine, progress); !mapped) return propagate(mapped);
    progress.finish();
    if (session.json) {
      print_json(to_json(*planned));
    } else {
      print(to_text(*planned, session.width));
    }
    return success;
  }

 private:
  /// Errors that every layout would have.
  static Result<void> check_model(TrainingJob job) {
    job.tensor = job.pipeline = job.context = job.data = job.expert = job.virtual_stages = 1;
    job.expert_tensor = job.gpus = job.global_batch_size = 0;
    auto complete = resolve(std::move(job));
    if (!complete) return propagate(complete);
    return {};
  }

  Result<std::vector<PlannedLayout>> find_layouts(const Topology& machine) {
    LayoutChoice choice;
    choice.gpus = training_.job().gpus > 0 ? training_.job().gpus : machine.core_count();
    choice.max_tensor = max_tensor_ > 0 ? max_tensor_ : std::max(1U, machine.core_count() / machine.node_count());
    choice.fixed_tensor = training_.is_given("tp");
    choice.fixed_pipeline = training_.is_given("pp");
    choice.fixed_context = training_.is_given("cp");
    choice.fixed_expert = training_.is_given("ep");
    gpus_ = choice.gpus;
    if (auto valid = check_model(training_.job()); !valid) return propagate(valid);
    std::vector<PlannedLayout> planned;
    for (TrainingJob& job : layouts(training_.job(), choice)) {
      ++possible_;
      const double memory = memory_per_gpu(job).total();
      if (memory <= usable_memory * memory_) planned.push_back({.job = std::move(job), .memory = memory});
    }
    fitting_ = planned.size();
    if (planned.empty())
      return fail(Code::infeasible, at("llm plan"),
                  fmt::format("none of {} of {} GPUs fits into {} per GPU", counted(possible_, "layout"), choice.gpus,
                              format_bytes(memory_)),
                  "add GPUs, --memory, --recompute, --sequence-parallel or --zero 3, or leave out fixed degrees");
    return planned;
  }

  static Result<CommGraph> graph_of(const TrainingJob& job) {
    auto step = make_training_step(job);
    if (!step) return propagate(step);
    return traffic(std::move(step->profile), CollectiveModel::automatic);
  }

  /// In the usual order: the order of the ranks, and nodes in the order of the machine.
  Result<void> predict_layouts(std::vector<PlannedLayout>& planned, const Topology& machine, const Platform& platform,
                               Progress& progress) const {
    const auto ranks = static_cast<std::uint32_t>(gpus_);
    auto capacities = Capacities::of(machine, ranks, {});
    if (!capacities) return propagate(capacities);
    std::vector<Core> in_order;
    for (const Core core : machine.cores()) {
      for (std::uint32_t i = 0; i < (*capacities)[core] && in_order.size() < ranks; ++i) in_order.push_back(core);
    }
    for (std::size_t i = 0; i < planned.size(); ++i) {
      progress.report("predicting layouts", static_cast<double>(i) / static_cast<double>(planned.size()));
      auto graph = graph_of(planned[i].job);
      if (!graph) return propagate(graph);
      planned[i].seconds_default = predict(*graph, platform, in_order).seconds;
    }
    std::stable_sort(planned.begin(), planned.end(), [](const PlannedLayout& a, const PlannedLayout& b) {
      return a.seconds_default < b.seconds_default;
    });
    planned.resize(std::min<std::size_t>(planned.size(), max_layouts_));
    return {};
  }

  static Result<void> map_layouts(std::vector<PlannedLayout>& planned, const Topology& machine, Progress& progress) {
    auto mapper = make_mapper("auto");
    if (!mapper) return propagate(mapper);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      PlannedLayout& layout = planned[i];
      ProgressPart part(progress, i, planned.size());
      part.report(fmt::format("mapping {}", layout_text(layout.job)), -1);
      auto graph = graph_of(layout.job);
      if (!graph) return propagate(graph);
      auto capacities = Capacities::of(machine, graph->rank_count(), {});
      if (!capacities) return propagate(capacities);
      const MapProblem problem{*graph, machine, *capacities, CostModel::predicted, {}};
      auto result = run_mapper(*mapper, problem, {.seed = 0, .deadline = {}, .progress = part});
      if (!result) return propagate(result);
      layout.seconds = result->cost;
      layout.levels = level_traffic(*graph, machine, result->mapping.cores());
    }
    std::stable_sort(planned.begin(), planned.end(), [](const PlannedLayout& a, const PlannedLayout& b) {
      return a.seconds.value_or(a.seconds_default) < b.seconds.value_or(b.seconds_default);
    });
    return {};
  }

  Json to_json(const std::vector<PlannedLayout>& planned) const {
    Json json{{"gpus", gpus_},
              {"parameters", total_parameters(planned.front().job)},
              {"possible", possible_},
              {"fitting", fitting_},
              {"layouts", Json::array()}};
    for (const PlannedLayout& layout : planned) {
      const TrainingJob& job = layout.job;
      Json levels = Json::array();
      for (const LevelTraffic& level : layout.levels)
        levels.push_back({{"level", level.level}, {"bytes", level.bytes}});
      json["layouts"].push_back({{"tp", job.tensor},
                                 {"cp", job.context},
                                 {"pp", job.pipeline},
                                 {"dp", job.data},
                                 {"ep", job.expert},
                                 {"order", job.order},
                                 {"micro_batches", job.micro_batches},
                                 {"memory_bytes", layout.memory},
                                 {"predicted_seconds", layout.seconds ? Json(*layout.seconds) : Json()},
                                 {"predicted_seconds_default", layout.seconds_default},
                                 {"levels", std::move(levels)}});
    }
    return json;
  }

  std::string to_text(const std::vector<PlannedLayout>& planned, std::size_t width) const {
    std::string text = fmt::format("{:.1f} billion parameters on {}; {} of {} fit into {} per GPU, {} mapped\n\n",
                                   total_parameters(planned.front().job) / 1e9, counted(gpus_, "GPU"), fitting_,
                                   counted(possible_, "layout"), format_bytes(memory_), planned.size());
    using Align = Table::Align;
    std::vector<Table::Column> columns{
        {"layout"}, {"memory", Align::right}, {"usual order", Align::right}, {"mapped", Align::right}, {""}};
    const auto has_traffic = [&](std::size_t level) {
      return std::any_of(planned.begin(), planned.end(), [&](const PlannedLayout& layout) {
        return level < layout.levels.size() && layout.levels[level].bytes > 0;
      });
    };
    const std::vector<LevelTraffic>& levels = planned.front().levels;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      if (has_traffic(level)) columns.push_back({fmt::format("between {}", plural(levels[level].level)), Align::right});
    }
    Table table(std::move(columns));
    for (const PlannedLayout& layout : planned) {
      std::vector<std::string> cells{layout_text(layout.job), format_bytes(layout.memory),
                                     format_seconds(layout.seconds_default),
                                     format_seconds(layout.seconds.value_or(layout.seconds_default)),
                                     change(layout.seconds_default, layout.seconds.value_or(layout.seconds_default))};
      for (std::size_t level = 0; level < layout.levels.size(); ++level) {
        if (has_traffic(level)) cells.push_back(format_bytes(layout.levels[level].bytes));
      }
      table.row(std::move(cells));
    }
    text += table.text(width);
    text +=
        "\n  predicted times of the communication of one step, if none of it overlaps with computation; not measured\n"
        "  usual order: ranks in the order " +
        planned.front().job.order + " on the nodes in the order of the machine\n";
    text += fmt::format("\nnext: {}\n", next_command(planned.front().job));
    return text;
  }

  /// The profile of the best layout, with the options of the user.
  static std::string next_command(const TrainingJob& job) {
    std::string text = fmt::format("rankloom gen llm --tp {} --cp {} --pp {} --dp {}", job.tensor, job.context,
                                   job.pipeline, job.data);
    if (job.experts > 0) text += fmt::format(" --ep {}", job.expert);
    return text + " -o step.prof, with the same model and batch";
  }

  TrainingArguments training_;
  TopologyArguments topology_;
  OptionList limits_;
  double memory_ = 80e9;
  std::uint64_t max_layouts_ = 8;
  std::uint64_t max_tensor_ = 0;
  std::uint64_t gpus_ = 0, possible_ = 0, fitting_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_llm_verb() {
  return std::make_unique<LlmVerb>();
}

}  // namespace rankloom::app
