// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom emit`: a mapping in a launcher's words.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/file.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view invented_names =
    "the topology only numbers its nodes; give their real names with --hosts a,b,.. before you launch";

class EmitVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    input_.describe(app);
    add_value(app, {"--to", "LAUNCHER", "a row of `rankloom list launchers`", "output", "", true},
              [this](std::string_view value) -> Result<void> {
                auto row = find_launcher(value);
                if (!row) return propagate(row);
                launcher_ = *row;
                return {};
              });
    add_text(app, {"-o,--output", "FOLDER", "where the files go; without it they are shown", "output"}, output_);
    add_text(app, {"--program", "WORDS", "the program and its arguments, for the command", "placement", "./app"},
             program_);
    add_text(app,
             {"--statistics", "FILE", "intelmpi: also write the configuration that collects statistics into FILE",
              "placement"},
             options_.statistics);
  }

  Result<int> run(const Session& session) override {
    auto deployment = input_.load();
    if (!deployment) return propagate(deployment);
    options_.bind = input_.bind;
    options_.folder = output_;
    if (!program_.empty()) options_.program = split(program_);
    auto made = launcher_->write(*deployment, options_);
    if (!made) return propagate(made);
    if (!output_.empty()) {
      if (auto written = write(made->files); !written) return propagate(written);
    }
    const bool invented = !input_.names_hosts(*deployment) && launcher_->name != "plain";
    if (session.json) {
      print_json(to_json(*made, *deployment, invented));
    } else {
      print(to_text(*made));
      if (invented) fmt::print(stderr, "rankloom: {}\n", invented_names);
    }
    return success;
  }

 private:
  static Argv split(std::string_view text) {
    Argv words;
    for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      words.emplace_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  }

  Result<void> write(const std::vector<LauncherFile>& files) const {
    std::error_code error;
    std::filesystem::create_directories(output_, error);
    if (error) {
      return fail(Code::environment, at(output_), fmt::format("this folder cannot be made: {}", error.message()),
                  "choose a folder that can be written");
    }
    for (const LauncherFile& file : files) {
      if (auto written = write_file(options_.path(file.name), file.content); !written) return written;
    }
    return {};
  }

  Json to_json(const LaunchFiles& made, const Deployment& deployment, bool invented) const {
    Json json{{"launcher", launcher_->name},
              {"ranks", deployment.rank_count()},
              {"files", Json::array()},
              {"commands", Json::array()}};
    for (const LauncherFile& file : made.files) {
      Json entry{{"name", file.name}};
      if (output_.empty()) {
        entry["content"] = file.content;
      } else {
        entry["path"] = options_.path(file.name);
      }
      json["files"].push_back(std::move(entry));
    }
    for (const LauncherCommand& command : made.commands)
      json["commands"].push_back(
          {{"environment", command.environment}, {"words", command.words}, {"text", command.text()}});
    if (invented) json["warning"] = invented_names;
    return json;
  }

  /// Files first, then what to type. A single file without a command, such as the plain mapping, comes as it is.
  std::string to_text(const LaunchFiles& made) const {
    if (output_.empty() && made.commands.empty() && made.files.size() == 1) return made.files[0].content;
    std::string text;
    for (const LauncherFile& file : made.files) {
      if (!output_.empty()) {
        text += fmt::format("wrote {}\n", options_.path(file.name));
      } else {
        text += fmt::format("# {}\n{}\n", file.name, file.content);
      }
    }
    for (const LauncherCommand& command : made.commands) text += command.text() + "\n";
    return text;
  }

  DeploymentArguments input_;
  EmitOptions options_;
  std::string output_;
  std::string program_;
  const LauncherInfo* launcher_ = nullptr;
};

}  // namespace

std::unique_ptr<Verb> make_emit() {
  return std::make_unique<EmitVerb>();
}

}  // namespace rankloom::app
