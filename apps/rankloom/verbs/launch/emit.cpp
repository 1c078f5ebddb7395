// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom emit`: writes a mapping as the files and the command of a launcher.
#include <algorithm>

#include <fmt/format.h>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view numbered_hosts =
    "the topology numbers its nodes but does not name them; give their names with --hosts a,b,.. before you launch";

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
    add_text(app,
             {"-o,--output", "DIRECTORY", "the directory to write the files to; without it they are printed", "output"},
             output_);
    add_force(app, force_);
    add_text(app, {"--program", "PROGRAM", "the program of the command, with its arguments", "placement", "./app"},
             program_);
    add_text(app,
             {"--statistics", "FILE", "intelmpi: also write the configuration that collects statistics into FILE",
              "placement"},
             options_.statistics);
  }

  Result<int> run(const Session& session) override {
    auto deployment = input_.load();
    if (!deployment) return propagate(deployment);
    options_.bind = input_.binding();
    options_.directory = output_;
    if (!program_.empty()) options_.program = split_at_blanks(program_);
    auto made = launcher_->write(*deployment, options_);
    if (!made) return propagate(made);
    if (!output_.empty()) {
      auto directory = OutputDirectory::open(output_, existing(force_));
      if (!directory) return propagate(directory);
      if (auto written = write_launcher_files(made->files, *directory); !written) return propagate(written);
    }
    const bool numbered = !input_.names_hosts(*deployment) && launcher_->names_hosts;
    if (session.json) {
      print_json(to_json(*made, *deployment, numbered));
    } else {
      print(to_text(*made));
      if (numbered) print_note(numbered_hosts);
    }
    return success;
  }

 private:
  static Argv split_at_blanks(std::string_view text) {
    Argv arguments;
    for (std::size_t begin = text.find_first_not_of(' '); begin < text.size();
         begin = text.find_first_not_of(' ', begin)) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      arguments.emplace_back(text.substr(begin, end - begin));
      begin = end;
    }
    return arguments;
  }

  Json to_json(const EmittedLaunch& made, const Deployment& deployment, bool numbered) const {
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
    for (const EmittedCommand& command : made.commands)
      json["commands"].push_back(
          {{"environment", command.environment}, {"arguments", command.argv()}, {"text", command.text()}});
    if (numbered) json["warning"] = numbered_hosts;
    return json;
  }

  /// The files, then the command to type. A single file without a command, such as the plain mapping, is printed as it
  /// is.
  std::string to_text(const EmittedLaunch& made) const {
    if (output_.empty() && made.commands.empty() && made.files.size() == 1) return made.files[0].content;
    std::string text;
    for (const LauncherFile& file : made.files) {
      if (!output_.empty()) {
        text += fmt::format("wrote {}\n", options_.path(file.name));
      } else {
        text += fmt::format("# {}\n{}\n", file.name, file.content);
      }
    }
    for (const EmittedCommand& command : made.commands) text += command.text() + "\n";
    return text;
  }

  DeploymentArguments input_;
  EmitOptions options_;
  std::string output_;
  std::string program_;
  bool force_ = false;
  const Launcher* launcher_ = nullptr;
};

}  // namespace

std::unique_ptr<Verb> make_emit() {
  return std::make_unique<EmitVerb>();
}

}  // namespace rankloom::app
