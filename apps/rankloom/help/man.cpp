// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom man`: manual pages in roff, made from the same pages as the help.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/help/page.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom::app {

namespace {

/// One code point of UTF-8, and how many bytes it took.
std::pair<char32_t, std::size_t> decode(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<char32_t>(static_cast<unsigned char>(text[at])); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 1 || text.size() < length) return {first, 1};
  char32_t code = first & (0xffU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) code = (code << 6U) | (byte(at) & 0x3fU);
  return {code, length};
}

/// Text that roff shows as it is: no character of it is a command, dashes can be copied into a shell.
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
    ".TP\n0\nall went well\n"
    ".TP\n2\nthe command itself is wrong\n"
    ".TP\n3\nan input does not say what its format asks for\n"
    ".TP\n4\nthe question has no answer, such as more ranks than places\n"
    ".TP\n5\nthe machine lacks something: a permission, memory, a program\n";

/// The options of a command below the verb, in one section of the verb's page.
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
  if (!page.commands.empty()) text += is_verb ? ".SH COMMANDS\n" : ".SH VERBS\n";
  for (const CommandPage& command : page.commands) {
    append_entry(text, fmt::format("\\fB{}\\fR", escape(command.path.back())), escape(command.summary));
  }
  append_options(text, page);
  if (is_verb) {
    for (const CommandPage& command : with_all_below(page)) {
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
    add_text(app, {"VERB", "VERB", "the page of this verb; without it, of rankloom", "input"}, verb_);
    add_text(app, {"-o,--output", "DIRECTORY", "write every page into this folder", "output"}, folder_);
  }

  Result<int> run(const Session& session) override {
    const CommandPage root = read_page(*session.commands);
    if (!folder_.empty()) return write_all(session, root);
    const CommandPage* chosen = verb_.empty() ? &root : nullptr;
    std::vector<std::string_view> known;
    for (const CommandPage& command : root.commands) {
      known.push_back(command.path.back());
      if (command.path.back() == verb_) chosen = &command;
    }
    if (chosen == nullptr) {
      return fail(Code::usage, at("man"), fmt::format("there is no verb '{}'", verb_), suggest(verb_, known));
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
    if (!std::filesystem::is_directory(folder_))
      return fail(Code::usage, at(folder_), "the folder does not exist",
                  fmt::format("mkdir -p {}", shell_quote(folder_)));
    std::vector<const CommandPage*> pages{&root};
    for (const CommandPage& command : root.commands) pages.push_back(&command);
    Json written = Json::array();
    for (const CommandPage* page : pages) {
      const std::string path = (std::filesystem::path(folder_) / (page->name("-") + ".1")).string();
      if (auto done = write_file(or_standard_output(path), roff(*page)); !done) return propagate(done);
      written.push_back(path);
    }
    if (session.json) print_json(Json{{"pages", written}});
    return success;
  }

  std::string verb_;
  std::string folder_;
};

}  // namespace

std::unique_ptr<Verb> make_man() {
  return std::make_unique<ManVerb>();
}

}  // namespace rankloom::app
