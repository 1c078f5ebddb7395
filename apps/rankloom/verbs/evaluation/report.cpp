// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: `rankloom report`: everything about a result in one file, or in the terminal.
#include "apps/rankloom/verbs/evaluation/report.hpp"

#include <filesystem>
#include <iterator>

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
#include "rankloom/report/terminal/progress_display.hpp"
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
    ProgressDisplay progress(stderr, session.progress);
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
      print_json(to_json_line(*loaded, files));
    } else if (files.empty()) {
      print_drawing(terminal_text(*loaded, session.out_is_terminal));
    } else {
      print(fmt::format("{}{}\n", sentences(*loaded),
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
    const auto add = [&](const ReportDocument& document, const std::string& prefix) {
      for (const Drawing& drawing : draw(document, nullptr, file_drawings)) {
        drawings.push_back({file_name(prefix + drawing.name), to_svg(drawing)});
        files.push_back(directory->file(drawings.back().name));
      }
    };
    add(loaded.document, "");
    for (std::size_t other = 0; other < loaded.others.size(); ++other)
      add(loaded.others[other], fmt::format("{}-", other + 2));
    return directory->write(drawings);
  }

  /// One line for each problem.
  static std::string sentences(const LoadedReport& loaded) {
    if (loaded.others.empty()) return loaded.document.verdict.sentence + "\n";
    std::string text = fmt::format("{}: {}\n", loaded.document.title, loaded.document.verdict.sentence);
    for (const ReportDocument& other : loaded.others)
      text += fmt::format("{}: {}\n", other.title, other.verdict.sentence);
    return text;
  }

  static Json to_json_line(const LoadedReport& loaded, const std::vector<std::string>& files) {
    const ReportDocument& document = loaded.document;
    Json json{{"title", document.title},
              {"verdict", document.verdict.kind},
              {"sentence", document.verdict.sentence},
              {"files", files},
              {"sections", Json::array()}};
    const Json sections = to_json(document);
    for (const auto& [name, section] : sections.items()) {
      if (section.is_structured()) json["sections"].push_back(name);
    }
    for (const ReportDocument& other : loaded.others)
      json["others"].push_back(
          {{"title", other.title}, {"verdict", other.verdict.kind}, {"sentence", other.verdict.sentence}});
    return json;
  }

  static std::string terminal_text(const LoadedReport& loaded, bool colours) {
    std::string text = text_of(loaded.document, loaded.topology ? &*loaded.topology : nullptr, colours);
    for (const ReportDocument& other : loaded.others) text += "\n" + text_of(other, nullptr, colours);
    return text;
  }

  static std::string text_of(const ReportDocument& document, const Topology* topology, bool colours) {
    std::string text = without_controls(document.title) + "\n" + without_controls(document.verdict.sentence) + "\n";
    for (const std::string& note : document.verdict.notes) {
      for (const std::string& line : wrap(without_controls(note), 96)) text += "  " + line + "\n";
    }
    for (const Drawing& drawing : draw(document, topology, terminal_drawings))
      text += "\n" + to_text(drawing, {.colours = colours, .max_columns = 120, .max_rows = 60});
    for (const std::string& command : document.verdict.commands) text += "next: " + without_controls(command) + "\n";
    return text;
  }

  ReportArguments arguments_;
  std::string output_, svg_;
  bool force_ = false;
};

}  // namespace

Result<void> check_page_output(const std::string& path, const std::string& data_hint) {
  const std::string suffix = fs::path(path).extension().string();
  if (!path.empty() && suffix != ".html" && suffix != ".htm" && suffix != ".svg") {
    return fail(Code::usage, at(path), "the suffix of this file name does not select a format",
                fmt::format("use .html for a page or .svg for a picture; {}", data_hint));
  }
  return check_output(path);
}

Result<void> write_report(const LoadedReport& report, const std::string& path) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".svg") {
    std::vector<Drawing> drawings = draw(report.document, nullptr, file_drawings);
    for (const ReportDocument& other : report.others) {
      std::vector<Drawing> more = draw(other, nullptr, file_drawings);
      drawings.insert(drawings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return write_file(path, to_svg(std::span(drawings)));
  }
  Json json = to_json(report.document);
  for (const ReportDocument& other : report.others) json["others"].push_back(to_json(other));
  const std::string data = dump_json(json);
  if (suffix == ".json") return write_file(path, data + "\n");
  return write_file(path, fill_page(report_page(), data, report.document.title));
}

std::unique_ptr<Verb> make_report() {
  return std::make_unique<ReportVerb>();
}

}  // namespace rankloom::app
