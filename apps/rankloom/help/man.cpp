// SPDX-License-Identifier: Apache-2.0
// apps/help: `rankloom man`: generates manual pages in roff from the pages of the help.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/help/page.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom::app {

namespace {

/// One code point of UTF-8 and its number of bytes.
std::pair<char32_t, std::size_t> decode(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<char32_t>(static_cast<unsigned char>(text[at])); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 1 || text.size() < length) return {first, 1};
  char32_t code = first & (0xffU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) code = (code << 6U) | (byte(at) & 0x3fU);
  return {code, length};
}

/// Escapes text so that roff shows it unchanged and that dashes can be copied into a shell.
std::string escape(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped += "\\&";
  while (!text.empty()) {
    const auto [code, length] = decode(text);
    if (code == U'\\') {
      escaped += "\\e";
    } else if (code == U'-') {
      escaped += "\\-";
    } else if (code == U'\'') {
      escaped += "\\(aq";
    } else if (code == U'`') {
      escaped += "\\(ga";
    } else if (code == U'"') {
      escaped += "\\(dq";
    } else if (code == U'~') {
      escaped += "\\(ti";
    } else if (code >= 0x80) {
      escaped += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(code));
    } else {
      escaped += static_cast<char>(code);
    }
    text.remove_prefix(length);
  }
  return escaped;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string heading(const OptionPage& option) {
  if (option.is_argument()) return fmt::format("\\fI{}\\fR{}", escape(option.name), option.repeated ? " ..." : "");
  std::string text;
  for (const std::string& flag : option.flags)
    text += fmt::format("{}\\fB{}\\fR", text.empty() ? "" : ", ", escape(flag));
  return option.value.empty() ? text : fmt::format("{} \\fI{}\\fR", text, escape(option.value));
}

void append_entry(std::string& text, const std::string& heading, const std::string& help) {
  text += fmt::format(".TP\n{}\n{}\n", heading, help);
}

void append_option(std::string& text, const OptionPage& option) {
  std::string help = escape(option.help);
  if (!option.default_text.empty()) help += fmt::format(" [{}]", escape(option.default_text));
  append_entry(text, heading(option), help);
}

void append_options(std::string& text, const CommandPage& page) {
  if (!page.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionPage& argument : page.arguments) append_option(text, argument);
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : page.groups) {
    text += fmt::format(".SS {}\n", escape(group.name));
    for (const OptionPage& option : group.options) append_option(text, option);
  }
}

constexpr std::string_view exit_status =
    ".SH EXIT STATUS\n"
    ".TP\n0\nsuccess\n"
    ".TP\n2\nthe command line is wrong\n"
    ".TP\n3\nan input is malformed or inconsistent\n"
    ".TP\n4\nthe problem has no solution, for example more ranks than slots\n"
    ".TP\n5\nthe environment lacks something: a permission, memory, a program\n";

/// A subcommand and its options, as one section of the page of the verb.
void append_command(std::string& text, const CommandPage& page) {
  text += fmt::format(".SH {}\n{}\n.PP\n\\fB{}\\fR\n", upper(escape(page.name())), escape(page.summary),
                      escape(page.usage()));
  for (const OptionPage& argument : page.arguments) append_option(text, argument);
  for (const OptionGroup& group : page.groups) {
    for (const OptionPage& option : group.options) append_option(text, option);
  }
}

/// The manual page of rankloom or of a verb.
std::string roff(const CommandPage& page) {
  const bool is_verb = page.path.size() > 1;
  std::string text =
      fmt::format(".TH {} 1 \"\" \"rankloom {}\" \"User Commands\"\n", upper(page.name("-")), RANKLOOM_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escape(page.name("-")), escape(page.summary));
  text +=
      fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}\n", escape(page.name()), escape(page.usage().substr(page.name().size())));
  if (!page.about.empty()) text += fmt::format(".SH DESCRIPTION\n{}\n", escape(page.about));
  if (!page.commands.empty()) text += is_verb ? ".SH SUBCOMMANDS\n" : ".SH VERBS\n";
  for (const CommandPage& command : page.commands) {
    append_entry(text, fmt::format("\\fB{}\\fR", escape(command.path.back())), escape(command.summary));
  }
  append_options(text, page);
  if (is_verb) {
    for (const CommandPage& command : with_subcommands(page)) {
      if (command.path.size() > page.path.size()) append_command(text, command);
    }
  }
  if (!page.examples.empty()) text += ".SH EXAMPLES\n";
  for (const auto& [what, command] : page.examples) {
    append_entry(text, escape(what), fmt::format(".nf\n\\fB{}\\fR\n.fi", escape(command)));
  }
  text += exit_status;
  return text;
}

class ManVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"VERB", "VERB", "print the page of this verb; by default the page of rankloom", "input"}, verb_);
    add_text(app, {"-o,--output", "DIRECTORY", "write all pages into this directory", "output"}, directory_);
  }

  Result<int> run(const Session& session) override {
    const CommandPage root = read_page(*session.commands);
    if (!directory_.empty()) return write_all(session, root);
    const CommandPage* chosen = verb_.empty() ? &root : nullptr;
    std::vector<std::string_view> known;
    for (const CommandPage& command : root.commands) {
      known.push_back(command.path.back());
      if (command.path.back() == verb_) chosen = &command;
    }
    if (chosen == nullptr) {
      return fail(Code::usage, at("man"), fmt::format("unknown verb '{}'", verb_), suggest(verb_, known));
    }
    if (session.json) {
      print_json(Json{{"name", chosen->name("-")}, {"page", roff(*chosen)}});
    } else {
      print(roff(*chosen));
    }
    return success;
  }

 private:
  Result<int> write_all(const Session& session, const CommandPage& root) const {
    if (!std::filesystem::is_directory(directory_))
      return fail(Code::usage, at(directory_), "the directory does not exist",
                  fmt::format("mkdir -p {}", shell_quote(directory_)));
    std::vector<const CommandPage*> pages{&root};
    for (const CommandPage& command : root.commands) pages.push_back(&command);
    Json written = Json::array();
    for (const CommandPage* page : pages) {
      const std::string path = (std::filesystem::path(directory_) / (page->name("-") + ".1")).string();
      if (auto done = write_file(or_standard_output(path), roff(*page)); !done) return propagate(done);
      written.push_back(path);
    }
    if (session.json) print_json(Json{{"pages", written}});
    return success;
  }

  std::string verb_;
  std::string directory_;
};

}  // namespace

std::unique_ptr<Verb> make_man() {
  return std::make_unique<ManVerb>();
}

}  // namespace rankloom::app
