// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom cc` and `rankloom c++`: compiler wrappers that instrument a program for the thread
// recorder.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"

namespace rankloom::app {

namespace {

struct Language {
  const char* verb;
  const char* rankloom_variable;  ///< Read first, for builds that set the usual variable to "rankloom cc".
  const char* usual_variable;
  const char* default_compiler;
  Software software;  ///< Contains the default compiler.
};
constexpr Language c{"cc", "RANKLOOM_CC", "CC", "gcc", Software::gcc};
constexpr Language c_plus_plus{"c++", "RANKLOOM_CXX", "CXX", "g++", Software::gxx};

Argv split(std::string_view text) {
  Argv tokens;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// A build with CC="rankloom cc" exports CC to this program too, which must not call itself.
bool is_rankloom(const Argv& argv) {
  return !argv.empty() && std::filesystem::path(argv[0]).filename() == "rankloom";
}

/// May have several arguments: "ccache gcc".
Argv choose_compiler(const Language& language) {
  for (const char* const variable : {language.rankloom_variable, language.usual_variable}) {
    const char* const value = std::getenv(variable);
    if (Argv argv = split(value != nullptr ? value : ""); !argv.empty() && !is_rankloom(argv)) return argv;
  }
  return {language.default_compiler};
}

struct CompilerKind {
  bool is_clang = false;
  int gcc_version = 0;
};

/// The predefined macros identify a compiler whatever its name is.
CompilerKind identify(const Argv& compiler) {
  ProcessSpec spec;
  spec.argv = compiler;
  spec.argv.insert(spec.argv.end(), {"-E", "-dM", "-x", "c", "/dev/null"});
  spec.errors = Redirection::null();
  ProcessOptions options;
  CompilerKind kind;
  options.on_line = [&kind](std::string_view line) {
    constexpr std::string_view gnuc = "#define __GNUC__ ";
    if (line.starts_with("#define __clang__ ")) kind.is_clang = true;
    if (line.starts_with(gnuc)) kind.gcc_version = std::atoi(std::string(line.substr(gnuc.size())).c_str());
  };
  run_process(spec, options);
  return kind;
}

/// The recorder does not need function entries and exits, but GCC before version 11 cannot omit them. -fno-plt avoids
/// the procedure linkage table, which makes calls of the recorder one eighth faster.
Argv compile_flags(const CompilerKind& compiler, const std::filesystem::path& directory) {
  if (compiler.is_clang)
    return {"-fsanitize=thread", "-fno-sanitize-link-runtime", "-mllvm", "-tsan-instrument-func-entry-exit=0",
            "-fno-plt"};
  // With -fsanitize=thread, GCC would also link libtsan into the program.
  Argv flags{fmt::format("-specs={}", (directory / "rankloom-threads.specs").string()), "-fno-plt"};
  if (compiler.gcc_version >= 11) flags.emplace_back("--param=tsan-instrument-func-entry-exit=0");
  return flags;
}

Argv link_flags(const std::filesystem::path& directory) {
  return {fmt::format("-L{}", directory.string()), "-lrankloom_threads",
          fmt::format("-Wl,-rpath,{}", directory.string())};
}

/// Whether the compiler calls the linker for these arguments.
bool calls_linker(const Argv& arguments) {
  constexpr std::string_view no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"};
  constexpr std::string_view takes_value[] = {"-o",       "-I",  "-L",  "-D",  "-U",       "-x",
                                              "-include", "-MF", "-MT", "-MQ", "-isystem", "-Xlinker",
                                              "-iquote",  "-T",  "-u",  "-z",  "-imacros", "-idirafter"};
  bool has_input = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (std::find(std::begin(no_link), std::end(no_link), arguments[at]) != std::end(no_link)) return false;
    if (std::find(std::begin(takes_value), std::end(takes_value), arguments[at]) != std::end(takes_value)) {
      ++at;
    } else if (!arguments[at].starts_with('-') || arguments[at] == "-") {
      has_input = true;
    }
  }
  return has_input;
}

bool is_static(const Argv& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "-static" || argument == "-static-pie" || argument == "--static";
  });
}

/// The argument without "thread" in -fsanitize=…: a program cannot contain both libtsan and the recorder. Empty if
/// nothing remains.
std::string remove_thread_sanitizer(const std::string& argument) {
  constexpr std::string_view flag = "-fsanitize=";
  if (!argument.starts_with(flag)) return argument;
  std::string remaining;
  for (std::string_view rest = std::string_view(argument).substr(flag.size()); !rest.empty();) {
    const std::string_view sanitizer = rest.substr(0, rest.find(','));
    if (sanitizer != "thread") remaining += fmt::format("{}{}", remaining.empty() ? flag : ",", sanitizer);
    rest.remove_prefix(std::min(rest.size(), sanitizer.size() + 1));
  }
  return remaining;
}

class CompilerVerb : public Verb {
 public:
  explicit CompilerVerb(const Language& language) : language_(language) {}

  void describe(CLI::App& app) override {
    add_repeated(
        app,
        {"ARG", "FILE", "arguments for the compiler, passed on unchanged; without any, show the added flags", "input"},
        arguments_);
  }

  bool take_all(const Argv& arguments) override {
    arguments_ = arguments;
    return true;
  }

  Result<int> run(const Session& session) override {
    const auto recorder = find_installed("librankloom_threads.so");
    if (!recorder) {
      return fail(Code::environment, at(language_.verb), "librankloom_threads.so, the thread recorder, is missing",
                  "build or install all of rankloom, including its directory lib/rankloom");
    }
    const auto directory = std::filesystem::path(*recorder).parent_path();
    if (directory.string().find_first_of(":,") != std::string::npos) {
      return fail(
          Code::environment, at(directory.string()),
          "the path of the thread recorder contains a colon or a comma, so that no program can be linked with it",
          "install rankloom in a directory without colons and commas");
    }
    const Argv compiler = choose_compiler(language_);
    const CompilerKind kind = identify(compiler);
    if (arguments_.empty()) return show(session, compile_flags(kind, directory), link_flags(directory));
    const bool linking = calls_linker(arguments_);
    if (linking && is_static(arguments_)) {
      return fail(Code::usage, at(language_.verb), "a program that records its threads cannot be linked statically",
                  "remove -static for the recording");
    }
    return exec_compiler(compiler, kind, directory, linking);
  }

 private:
  static Result<int> show(const Session& session, const Argv& compile, const Argv& link) {
    if (session.json) {
      print_json(Json{{"compile", compile}, {"link", link}});
    } else {
      print(fmt::format("compile: {}\nlink:    {}\n", shell_command(compile), shell_command(link)));
    }
    return success;
  }

  /// Returns only on failure, so that exit status, signals and output are the compiler's.
  Result<int> exec_compiler(const Argv& compiler, const CompilerKind& kind, const std::filesystem::path& directory,
                            bool linking) {
    Argv argv = compiler;
    const auto append = [&](const Argv& flags) { argv.insert(argv.end(), flags.begin(), flags.end()); };
    append(compile_flags(kind, directory));
    for (const std::string& argument : arguments_) {
      if (std::string remaining = remove_thread_sanitizer(argument); !remaining.empty() || argument.empty())
        argv.push_back(std::move(remaining));
    }
    if (linking) append(link_flags(directory));
    const int error = exec_program(argv);
    return fail(Code::environment, at(language_.verb),
                fmt::format("{} cannot be started: {}", argv[0], std::strerror(error)),
                fmt::format("{}, or name another compiler in {}", how_to_install(language_.software),
                            language_.usual_variable));
  }

  const Language& language_;
  Argv arguments_;
};

}  // namespace

std::unique_ptr<Verb> make_cc() {
  return std::make_unique<CompilerVerb>(c);
}

std::unique_ptr<Verb> make_cxx() {
  return std::make_unique<CompilerVerb>(c_plus_plus);
}

}  // namespace rankloom::app
