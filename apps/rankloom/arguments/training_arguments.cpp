// SPDX-License-Identifier: Apache-2.0
// apps/arguments: reads the description of a training job.
#include "apps/rankloom/arguments/training_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/capture/generate/training/job_arguments.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/yaml/yaml_document.hpp"

namespace rankloom::app {

namespace {

/// The scalars of a document, whatever sections they are in. A null value stands for a missing argument.
void append_scalars(const YamlValue& value, std::vector<TrainingArgument>& arguments) {
  for (const YamlValue::Entry& entry : value.entries()) {
    if (entry.value.is_mapping()) append_scalars(entry.value, arguments);
    if (!entry.value.is_scalar() || entry.value.is_null()) continue;
    std::string name = entry.key.text();
    std::replace(name.begin(), name.end(), '_', '-');
    arguments.push_back({std::move(name), entry.value.text(), entry.key.line()});
  }
}

Result<std::vector<TrainingArgument>> read_arguments(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  const bool is_yaml = path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json");
  if (!is_yaml) return read_script_arguments(file->view());
  auto document = YamlDocument::parse(*file, "the arguments of a training program as names and values");
  if (!document) return propagate(document);
  std::vector<TrainingArgument> arguments;
  append_scalars(document->root(), arguments);
  return arguments;
}

}  // namespace

TrainingArguments::TrainingArguments() : pattern_(*find_generator("llm"), make_training_generator(job_)) {}

void TrainingArguments::describe(CLI::App& app) {
  add_text(app,
           {"--arguments", "FILE",
            "read the arguments of Megatron-LM from FILE: .yaml or .json with names and values, or any launch script",
            "input"},
           file_);
  add_repeated(app,
               {"COMMAND", "ARG",
                "after --: the command that starts the training program, or only its arguments, as Megatron-LM has "
                "them; options of rankloom replace single values",
                "input"},
               command_);
  for (const Option& option : pattern_.options().all()) {
    add_listed(app, option, "pattern", [this, name = option.name, set = option.set](std::string_view value) {
      auto valid = set(value);
      if (valid) given_.emplace_back(name, value);
      return valid;
    });
  }
}

bool TrainingArguments::is_given(std::string_view option) const {
  return std::any_of(given_.begin(), given_.end(), [&](const auto& given) { return given.first == option; });
}

Result<void> TrainingArguments::load(const Session& session) {
  if (!has_arguments()) return {};
  std::vector<TrainingArgument> arguments;
  if (!file_.empty()) {
    auto of_file = read_arguments(file_);
    if (!of_file) return propagate(of_file);
    arguments = std::move(*of_file);
  }
  for (TrainingArgument& argument : split_arguments(command_)) arguments.push_back(std::move(argument));
  auto used = apply_arguments(arguments, file_.empty() ? "arguments" : file_, job_);
  if (!used) return propagate(used);
  if (is_given("dp")) job_.gpus = 0;
  for (const auto& [name, value] : given_) {
    if (auto set = pattern_.options().set(name, value, "llm"); !set) return propagate(set);
  }
  if (!session.json)
    print_note(fmt::format("{} used, {} ignored", counted(used->used.size(), "argument"), used->ignored));
  return {};
}

}  // namespace rankloom::app
