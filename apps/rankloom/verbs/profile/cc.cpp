// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom cc` and `rankloom c++`: the compiler, with what makes a program record its threads.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"

namespace rankloom::app {

namespace {

using Argv = std::vector<std::string>;

struct Language {
  const char* verb;
  const char* own_variable;  ///< Asked first, for builds in which the usual one says "rankloom cc".
  const char* usual_variable;
  const char* compiler;
};
constexpr Language c{"cc", "RANKLOOM_CC", "CC", "gcc"};
constexpr Language c_plus_plus{"c++", "RANKLOOM_CXX", "CXX", "g++"};

Argv split(std::string_view text) {
  Argv words;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// A build with CC="rankloom cc" hands that on to us, too.
bool is_ourselves(const Argv& words) {
  return !words.empty() && std::filesystem::path(words[0]).filename() == "rankloom";
}

/// May be more than one word: "ccache gcc".
Argv choose_compiler(const Language& language) {
  for (const char* const variable : {language.own_variable, language.usual_variable}) {
    const char* const value = std::getenv(variable);
    if (Argv words = split(value != nullptr ? value : ""); !words.empty() && !is_ourselves(words)) return words;
  }
  return {language.compiler};
}

/// What the compiler defines tells what it is, under whatever name it goes.
struct Compiler {
  bool is_clang = false;
  int gcc_version = 0;
};

Compiler examine(const Argv& compiler) {
  std::string command;
  for (const std::string& word : compiler) command += shell_word(word) + " ";
  std::FILE* const pipe = ::popen((command + "-E -dM -x c /dev/null 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  Compiler found;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
    if (std::strncmp(line.data(), "#define __clang__ ", 18) == 0) found.is_clang = true;
    if (std::strncmp(line.data(), "#define __GNUC__ ", 17) == 0) found.gcc_version = std::atoi(line.data() + 17);
  }
  ::pclose(pipe);
  return found;
}

/// Entries and exits of functions are nothing to us; older compilers cannot leave them out. Without the detour by the
/// procedure linkage table, a call of the recorder is an eighth faster.
Argv compile_flags(const Compiler& compiler, const std::filesystem::path& folder) {
  if (compiler.is_clang)
    return {"-fsanitize=thread", "-fno-sanitize-link-runtime", "-mllvm", "-tsan-instrument-func-entry-exit=0",
            "-fno-plt"};
  // -fsanitize=thread itself would bring libtsan into the program when it is linked.
  Argv words{fmt::format("-specs={}", (folder / "rankloom-threads.specs").string()), "-fno-plt"};
  if (compiler.gcc_version >= 11) words.emplace_back("--param=tsan-instrument-func-entry-exit=0");
  return words;
}

Argv link_flags(const std::filesystem::path& folder) {
  return {fmt::format("-L{}", folder.string()), "-lrankloom_threads", fmt::format("-Wl,-rpath,{}", folder.string())};
}

/// Whether the compiler will call the linker for these words.
bool links(const Argv& words) {
  constexpr std::string_view stops[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"};
  constexpr std::string_view takes_a_word[] = {"-o",       "-I",  "-L",  "-D",  "-U",       "-x",
                                               "-include", "-MF", "-MT", "-MQ", "-isystem", "-Xlinker",
                                               "-iquote",  "-T",  "-u",  "-z",  "-imacros", "-idirafter"};
  bool has_input = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (std::find(std::begin(stops), std::end(stops), words[at]) != std::end(stops)) return false;
    if (std::find(std::begin(takes_a_word), std::end(takes_a_word), words[at]) != std::end(takes_a_word)) {
      ++at;
    } else if (!words[at].starts_with('-') || words[at] == "-") {
      has_input = true;
    }
  }
  return has_input;
}

bool is_static(const Argv& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "-static" || word == "-static-pie" || word == "--static";
  });
}

/// The word without what is there already: libtsan and the recorder cannot both be in a program. Empty: nothing is
/// left.
std::string without_thread_sanitizer(const std::string& word) {
  constexpr std::string_view flag = "-fsanitize=";
  if (!word.starts_with(flag)) return word;
  std::string kept;
  for (std::string_view rest = std::string_view(word).substr(flag.size()); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (one != "thread") kept += fmt::format("{}{}", kept.empty() ? flag : ",", one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return kept;
}

class CompilerVerb : public Verb {
 public:
  explicit CompilerVerb(const Language& language) : language_(language) {}

  void describe(CLI::App& app) override {
    add_repeated(
        app, {"WORD", "FILE", "what the compiler gets, as it is; none: show the flags that would be added", "input"},
        words_);
  }

  bool take_all(const std::vector<std::string>& words) override {
    words_ = words;
    return true;
  }

  Result<int> run(const Session& session) override {
    const auto recorder = find_beside("librankloom_threads.so");
    if (!recorder) {
      return fail(Code::environment, at(language_.verb), "the thread recorder is not beside this program",
                  "build or install all of rankloom: the folder lib/rankloom belongs to it");
    }
    const auto folder = std::filesystem::path(*recorder).parent_path();
    const Argv compiler = choose_compiler(language_);
    const Compiler kind = examine(compiler);
    if (words_.empty()) return show(session, compile_flags(kind, folder), link_flags(folder));
    const bool linking = links(words_);
    if (linking && is_static(words_)) {
      return fail(Code::usage, at(language_.verb), "a program that records its threads cannot be linked statically",
                  "leave out -static for the recording");
    }
    return become(compiler, kind, folder, linking);
  }

 private:
  static Result<int> show(const Session& session, const Argv& compile, const Argv& link) {
    if (session.json) {
      print_json(Json{{"compile", compile}, {"link", link}});
    } else {
      print(fmt::format("compile: {}\nlink:    {}\n", fmt::join(compile, " "), fmt::join(link, " ")));
    }
    return success;
  }

  /// Does not come back, so that status, signals and output are the compiler's own.
  Result<int> become(const Argv& compiler, const Compiler& kind, const std::filesystem::path& folder, bool linking) {
    Argv all = compiler;
    const auto append = [&](const Argv& words) { all.insert(all.end(), words.begin(), words.end()); };
    append(compile_flags(kind, folder));
    for (const std::string& word : words_) {
      if (std::string kept = without_thread_sanitizer(word); !kept.empty() || word.empty())
        all.push_back(std::move(kept));
    }
    if (linking) append(link_flags(folder));
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail(
        Code::environment, at(language_.verb), fmt::format("{} cannot be started: {}", all[0], std::strerror(errno)),
        fmt::format("apt install {}, or name another compiler in {}", language_.compiler, language_.usual_variable));
  }

  const Language& language_;
  Argv words_;
};

}  // namespace

std::unique_ptr<Verb> make_cc() {
  return std::make_unique<CompilerVerb>(c);
}

std::unique_ptr<Verb> make_cxx() {
  return std::make_unique<CompilerVerb>(c_plus_plus);
}

}  // namespace rankloom::app
