// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom report`: everything about a result in one file that can be sent to somebody, or here in the terminal.
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verbs/evaluation/report_input.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/document/html.hpp"
#include "rankloom/report/drawing/backends.hpp"
#include "rankloom/report/drawing/drawings.hpp"
#include "rankloom/report/escape.hpp"
#include "rankloom/report/progress_bar.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr DrawingOptions fine{
    .heat_cells = 256, .heat_rows = 40, .columns = 130, .time_rows = 40, .all_of_the_machine = true};
constexpr DrawingOptions coarse{
    .heat_cells = 32, .heat_rows = 32, .columns = 100, .time_rows = 24, .all_of_the_machine = false};

/// Names of hosts and policies become names of files.
std::string file_name(std::string name) {
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!plain) c = '-';
  }
  return name + ".svg";
}

class ReportVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    arguments_.describe(app);
    add_text(app,
             {"-o,--output", "FILE",
              "report.html: one page that holds everything; .json: its data; .svg: its pictures; - or none: the "
              "pictures here",
              "output"},
             output_);
    add_text(app, {"--svg", "FOLDER", "each picture as an SVG file in this folder", "output"}, svg_);
  }

  Result<int> run(const Session& session) override {
    if (output_ == "-") output_.clear();
    const std::string suffix = fs::path(output_).extension().string();
    if (!output_.empty() && suffix != ".html" && suffix != ".htm" && suffix != ".json" && suffix != ".svg") {
      return fail(Code::usage, at(output_), "its name does not say what to write",
                  "end it with .html for a page, .json for the data, .svg for the pictures");
    }
    if (auto possible = check_output(output_); !possible) return propagate(possible);
    const ThreadLimit limit(arguments_.run.threads);
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    auto loaded = arguments_.load(progress);
    if (!loaded) return propagate(loaded);
    loaded->document.reproduce.version = "rankloom " RANKLOOM_VERSION;
    progress.report("drawing", -1);
    std::vector<std::string> files;
    if (!output_.empty()) {
      if (auto written = write_report(*loaded, suffix); !written) return propagate(written);
      files.push_back(output_);
    }
    if (!svg_.empty()) {
      if (auto written = write_pictures(*loaded, files); !written) return propagate(written);
    }
    progress.finish();
    if (session.json) {
      print_json(to_json_line(loaded->document, files));
    } else if (files.empty()) {
      print(here(*loaded, session.out_is_terminal));
    } else {
      print(fmt::format("{}\n{}\n", without_controls(loaded->document.verdict.sentence),
                        output_.empty() ? fmt::format("{} in {}", counted(files.size(), "picture"), svg_)
                                        : fmt::format("{}: the report", output_)));
    }
    return success;
  }

 private:
  Result<void> write_report(const LoadedReport& loaded, const std::string& suffix) const {
    if (suffix == ".svg") {
      const std::vector<Drawing> drawings = draw(loaded.document, nullptr, fine);
      return write_file(output_, to_svg(std::span(drawings)));
    }
    const std::string data =
        to_json(loaded.document).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (suffix == ".json") return write_file(output_, data + "\n");
    return write_file(output_, page_with(report_page(), data, loaded.document.title));
  }

  Result<void> write_pictures(const LoadedReport& loaded, std::vector<std::string>& files) const {
    std::error_code error;
    fs::create_directories(svg_, error);
    if (error) {
      return fail(Code::environment, at(svg_), fmt::format("this folder cannot be made: {}", error.message()),
                  "name another one with --svg");
    }
    for (const Drawing& drawing : draw(loaded.document, nullptr, fine)) {
      const std::string path = (fs::path(svg_) / file_name(drawing.name)).string();
      if (auto written = write_file(path, to_svg(drawing)); !written) return written;
      files.push_back(path);
    }
    return {};
  }

  static Json to_json_line(const ReportDocument& document, const std::vector<std::string>& files) {
    Json json{{"title", document.title},
              {"verdict", document.verdict.kind},
              {"sentence", document.verdict.sentence},
              {"files", files},
              {"sections", Json::array()}};
    const Json sections = to_json(document);
    for (const auto& [name, section] : sections.items()) {
      if (section.is_structured()) json["sections"].push_back(name);
    }
    return json;
  }

  static std::string here(const LoadedReport& loaded, bool colours) {
    const ReportDocument& document = loaded.document;
    std::string text = without_controls(document.title) + "\n" + without_controls(document.verdict.sentence) + "\n";
    for (const std::string& note : document.verdict.notes) {
      for (const std::string& line : wrap(without_controls(note), 96)) text += "  " + line + "\n";
    }
    for (const Drawing& drawing : draw(document, loaded.topology ? &*loaded.topology : nullptr, coarse))
      text += "\n" + to_text(drawing, {.colours = colours, .most_columns = 120, .most_rows = 60});
    for (const std::string& command : document.verdict.commands) text += "next: " + without_controls(command) + "\n";
    return text;
  }

  ReportArguments arguments_;
  std::string output_, svg_;
};

}  // namespace

std::unique_ptr<Verb> make_report() {
  return std::make_unique<ReportVerb>();
}

}  // namespace rankloom::app
