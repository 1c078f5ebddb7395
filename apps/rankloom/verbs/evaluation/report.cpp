// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: `rankloom report`: everything about a result in one file, or in the terminal.
#include "apps/rankloom/verbs/evaluation/report.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/text/control_characters.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/document/html.hpp"
#include "rankloom/report/drawing/backends.hpp"
#include "rankloom/report/drawing/drawings.hpp"
#include "rankloom/report/terminal/progress_bar.hpp"
#include "rankloom/report/terminal/table.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr DrawingOptions file_drawings{
    .heat_cells = 256, .heat_rows = 40, .columns = 130, .time_rows = 40, .whole_machine = true};
constexpr DrawingOptions terminal_drawings{
    .heat_cells = 32, .heat_rows = 32, .columns = 100, .time_rows = 24, .whole_machine = false};

/// Drawings are named after hosts and policies, whose names may contain characters that file names should not.
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
              "report.html: one self-contained page; report.json: its data; report.svg: its drawings; without this "
              "option or with -: drawings in the terminal",
              "output"},
             output_);
    add_text(app, {"--svg", "DIRECTORY", "write every drawing as an SVG file into this directory", "output"}, svg_);
    add_force(app, force_, "replace files in the directory of --svg that rankloom did not write");
    need(app, "--force", "--svg");
  }

  Result<int> run(const Session& session) override {
    if (output_ == "-") output_.clear();
    const std::string suffix = fs::path(output_).extension().string();
    if (!output_.empty() && suffix != ".html" && suffix != ".htm" && suffix != ".json" && suffix != ".svg") {
      return fail(Code::usage, at(output_), "the suffix of this file name does not select a format",
                  "use .html for a page, .json for its data, or .svg for its drawings");
    }
    if (auto possible = check_output(output_); !possible) return propagate(possible);
    const ThreadLimit limit(arguments_.run.threads);
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    auto loaded = arguments_.load(progress);
    if (!loaded) return propagate(loaded);
    progress.report("drawing", -1);
    std::vector<std::string> files;
    if (!output_.empty()) {
      if (auto written = write_report(*loaded, output_); !written) return propagate(written);
      files.push_back(output_);
    }
    if (!svg_.empty()) {
      if (auto written = write_drawings(*loaded, files); !written) return propagate(written);
    }
    progress.finish();
    if (session.json) {
      print_json(to_json_line(loaded->document, files));
    } else if (files.empty()) {
      print_drawing(terminal_text(*loaded, session.out_is_terminal));
    } else {
      print(fmt::format("{}\n{}\n", loaded->document.verdict.sentence,
                        output_.empty() ? fmt::format("{} in {}", counted(files.size(), "drawing"), svg_)
                                        : fmt::format("report written to {}", output_)));
    }
    return success;
  }

 private:
  Result<void> write_drawings(const LoadedReport& loaded, std::vector<std::string>& files) const {
    auto directory = OutputDirectory::open(svg_, existing(force_));
    if (!directory) return propagate(directory);
    std::vector<OutputFile> drawings;
    for (const Drawing& drawing : draw(loaded.document, nullptr, file_drawings)) {
      drawings.push_back({file_name(drawing.name), to_svg(drawing)});
      files.push_back(directory->file(drawings.back().name));
    }
    return directory->write(drawings);
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

  static std::string terminal_text(const LoadedReport& loaded, bool colours) {
    const ReportDocument& document = loaded.document;
    std::string text = without_controls(document.title) + "\n" + without_controls(document.verdict.sentence) + "\n";
    for (const std::string& note : document.verdict.notes) {
      for (const std::string& line : wrap(without_controls(note), 96)) text += "  " + line + "\n";
    }
    for (const Drawing& drawing : draw(document, loaded.topology ? &*loaded.topology : nullptr, terminal_drawings))
      text += "\n" + to_text(drawing, {.colours = colours, .max_columns = 120, .max_rows = 60});
    for (const std::string& command : document.verdict.commands) text += "next: " + without_controls(command) + "\n";
    return text;
  }

  ReportArguments arguments_;
  std::string output_, svg_;
  bool force_ = false;
};

}  // namespace

Result<void> write_report(const LoadedReport& report, const std::string& path) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".svg") {
    const std::vector<Drawing> drawings = draw(report.document, nullptr, file_drawings);
    return write_file(path, to_svg(std::span(drawings)));
  }
  const std::string data = dump_json(to_json(report.document));
  if (suffix == ".json") return write_file(path, data + "\n");
  return write_file(path, fill_page(report_page(), data, report.document.title));
}

std::unique_ptr<Verb> make_report() {
  return std::make_unique<ReportVerb>();
}

}  // namespace rankloom::app
