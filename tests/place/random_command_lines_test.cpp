// SPDX-License-Identifier: Apache-2.0
// tests of place: random command lines of all launchers, correct and broken ones, parsed, rewritten and placed. The
// generator knows where the words of each program are, so it can check that they arrive unchanged.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/launch_plan.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {
namespace {

/// What `LAUNCHER --version` prints, by the name of the row.
const std::map<std::string_view, std::string_view> version_texts{
    {"openmpi4", "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"},
    {"openmpi5", "mpirun (Open MPI) 5.0.7\n"},
    {"openmpi6", "mpirun (Open MPI) 6.0.0rc2\n"},
    {"mpich", "HYDRA build details:\n    Version:                                 4.0.2\n"},
    {"mpich5", "HYDRA build details:\n    Version:                                 5.0.2\n"},
    {"intelmpi", "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n"},
    {"slurm", ""},
};

Argv split(std::string_view text, char separator) {
  Argv parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

/// One command line and what it means.
struct Generated {
  const Launcher* launcher = nullptr;
  std::string version_text;
  Argv argv;
  std::size_t launcher_at = 0;
  std::vector<Argv> programs;  ///< The words of each program.
  std::string file;            ///< Of the programs; empty: they are on the command line.
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::string directory) : random_(seed), directory_(std::move(directory)) {}

  /// A correct command line, of which every launcher could be asked.
  Generated correct() {
    Generated made;
    made.launcher = launchers_.at(below(launchers_.size()));
    made.version_text = version_texts.at(made.launcher->name);
    made.argv = prefix();
    made.launcher_at = made.argv.size();
    made.argv.push_back(executable(*made.launcher));
    const LauncherSyntax& syntax = *made.launcher->command_line;
    const bool in_file = takes_program_file(syntax) && chance(6);
    const std::size_t count = 1 + (chance(3) ? below(3) : 0);
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
      Argv words = options(syntax, in_file);
      const Argv program = in_file ? words_for_file() : program_words(syntax, words);
      words.insert(words.end(), program.begin(), program.end());
      made.programs.push_back(program);
      if (in_file) {
        lines += fmt::format("{}{}{}\n", chance(4) ? "# a comment\n\n" : "", fmt::join(words, "  "),
                             chance(4) ? " # its end" : "");
      } else {
        if (i > 0) made.argv.emplace_back(":");
        made.argv.insert(made.argv.end(), words.begin(), words.end());
      }
    }
    if (in_file) {
      made.file = directory_ + "/programs";
      std::ofstream(made.file) << lines;
      made.argv.insert(made.argv.end(), {syntax.find_option("app") != nullptr ? "--app" : "-configfile", made.file});
    }
    return made;
  }

  /// The same with a few words removed, repeated, exchanged or replaced.
  Argv broken(const Argv& argv) {
    Argv words = argv;
    for (std::uint64_t changes = 1 + below(4); changes > 0; --changes) {
      if (words.empty()) words.emplace_back("mpirun");
      const std::size_t at = below(words.size());
      switch (below(6)) {
        case 0:
          words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[below(words.size())]);
          break;
        case 2:
          std::swap(words[at], words[below(words.size())]);
          break;
        case 3:
          words[at] = any(odd_words_);
          break;
        case 4:
          words.resize(at);
          break;
        default:
          words[at] = words[at].substr(0, below(words[at].size() + 1)) + any(odd_words_);
      }
    }
    return words;
  }

  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_.below(bound); }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

 private:
  const std::string& any(const Argv& words) { return words[below(words.size())]; }

  Argv prefix() {
    static const std::vector<Argv> prefixes{{},
                                            {},
                                            {},
                                            {"env", "A=b"},
                                            {"/usr/bin/env", "-u", "X", "A=b c", "B="},
                                            {"env", "-i", "--", "PATH=/bin"},
                                            {"timeout", "-k", "5", "-s", "INT", "60"},
                                            {"timeout", "--kill-after=5", "--foreground", "60s"},
                                            {"nice"},
                                            {"nice", "-n", "5"},
                                            {"nice", "-5"},
                                            {"stdbuf", "-o", "L", "-eL"},
                                            {"time", "-f", "%e", "-o", "times"},
                                            {"nohup"},
                                            {"setsid", "-w"}};
    Argv words;
    for (std::uint64_t i = chance(4) ? 2 : 1; i > 0; --i) {
      const Argv& one = prefixes[below(prefixes.size())];
      words.insert(words.end(), one.begin(), one.end());
    }
    return words;
  }

  std::string executable(const Launcher& launcher) {
    return (chance(3) ? "/opt/an mpi/bin/" : "") + any(split(launcher.command_line->programs, ' '));
  }

  static bool takes_program_file(const LauncherSyntax& syntax) {
    return syntax.find_option("app") != nullptr || syntax.find_option("configfile") != nullptr;
  }

  /// Options with their values, each written in one of the ways that the launcher accepts.
  Argv options(const LauncherSyntax& syntax, bool in_file) {
    Argv words;
    for (std::uint64_t i = below(5); i > 0; --i) {
      const OptionSpec& spec = syntax.options[below(syntax.options.size())];
      if (spec.role == OptionRole::program_file) continue;
      const Argv written = option(syntax, spec, in_file);
      words.insert(words.end(), written.begin(), written.end());
    }
    if (chance(2)) words.insert(words.end(), {"-n", fmt::format("{}", 1 + below(4))});
    return words;
  }

  Argv option(const LauncherSyntax& syntax, const OptionSpec& spec, bool in_file) {
    const std::string name = any(split(spec.names, '|'));
    const bool letter = name.size() == 1;
    const std::string dashes = syntax.getopt_letters ? (letter ? "-" : "--") : (chance(2) ? "-" : "--");
    const auto value = [&] {
      if (spec.role == OptionRole::rank_count) return fmt::format("{}", 1 + below(4));
      return in_file ? std::string("v") : any(values_);
    };
    if (spec.values == 0) {
      if (spec.attached && !letter && chance(2)) return {fmt::format("{}{}=1", dashes, name)};
      return {dashes + name};
    }
    if (spec.values == 1 && syntax.getopt_letters && letter && chance(2)) return {dashes + name + "7"};
    if (spec.values == 1 && syntax.value_after_equals && !(syntax.getopt_letters && letter) && chance(2))
      return {fmt::format("{}{}={}", dashes, name, value())};
    if (spec.assignment && chance(2)) return {dashes + name, "NAME=value"};
    Argv words{dashes + name};
    for (std::size_t i = 0; i < spec.values; ++i) {
      std::string next = value();
      if (spec.assignment) next.erase(std::remove(next.begin(), next.end(), '='), next.end());
      words.push_back(next.empty() ? "v" : next);
    }
    return words;
  }

  /// A program with odd words. Its name begins with a dash only after "--", which is added to `before`.
  Argv program_words(const LauncherSyntax& syntax, Argv& before) {
    Argv words{any(program_names_)};
    if (syntax.dashes_end_options && chance(4)) {
      before.emplace_back("--");
      if (chance(2)) words[0] = "-odd";
    }
    for (std::uint64_t i = below(5); i > 0; --i) {
      const std::string& word = any(odd_words_);
      if (word != ":") words.push_back(word);
    }
    return words;
  }

  Argv words_for_file() {
    static const Argv plain{"./app", "-n", "--", "\"quoted", "it's", "back\\slash", "a,b", "x=y", "*", "$HOME"};
    Argv words{"./app"};
    for (std::uint64_t i = below(4); i > 0; --i) words.push_back(plain[below(plain.size())]);
    return words;
  }

  Random random_;
  std::string directory_;
  std::vector<const Launcher*> launchers_ = [] {
    std::vector<const Launcher*> rows;
    for (const Launcher* const row : launchers()) {
      if (row->command_line != nullptr) rows.push_back(row);
    }
    return rows;
  }();
  const Argv values_{"1",        "a,b",      "-1", "x y", "a=b",  "",        "--mca",
                     "\xc3\xa4", "\x1b[31m", "'",  "\"",  "$(x)", "node:ppr"};
  const Argv program_names_{"./app", "/a b/c", "x.mpich", "x.openmpi", "mpirun_all.sh", "mpirun", "./mpirun",
                            "app:1", "a=b",    "",        "\"",        "'; rm",         "env",    "\xc3\xa4",
                            "-",     "\x1b[2J"};
  const Argv odd_words_{"",           "-n",   "--",  ":",        "-np",       "--app",  "-configfile", "--multi-prog",
                        "a b",        "'",    "\"",  "\\",       "-x",        "--mca",  "-genv",       "=",
                        "-=",         "--=",  "---", "--export", "--export=", "-",      "*",           "$(x)",
                        "\n",         "\xff", "-H",  "-env",     "--unknown", "-vvvnN", "99999999999", "-rmk",
                        "--rankloom", "srun"};
};

const Deployment& deployment_of(std::uint32_t ranks) {
  static std::map<std::uint32_t, Deployment> known;
  if (const auto found = known.find(ranks); found != known.end()) return found->second;
  const auto topology = load_topology("node:2=10 core:4=1");
  EXPECT_TRUE(topology);
  std::vector<Core> cores;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) cores.push_back(Core{rank % 8});
  const auto deployed = deploy(cores, *topology, std::vector<std::string>{"a", "b"});
  EXPECT_TRUE(deployed);
  return known.emplace(ranks, *deployed).first->second;
}

bool ends_with(const Argv& words, const Argv& end) {
  return words.size() >= end.size() && std::equal(end.rbegin(), end.rend(), words.rbegin());
}

/// A refusal names what is wrong and what to do.
void expect_named(const Error& error, const std::string& line) {
  EXPECT_FALSE(error.what.empty()) << line;
  EXPECT_FALSE(error.hint.empty()) << line;
}

/// What an unknown option means depends on the words after it.
bool has_unknown_option(const LaunchCommand& command) {
  return std::any_of(command.programs.begin(), command.programs.end(), [](const LaunchedProgram& program) {
    return std::any_of(program.options.begin(), program.options.end(),
                       [](const LaunchOption& option) { return option.spec == nullptr && option.name != "--"; });
  });
}

/// Every program still has its words, after whatever was added in front of them, and a launcher reads them so.
void expect_unchanged(const LaunchCommand& before, const LaunchCommand& after, std::string_view version_text,
                      const std::string& line) {
  EXPECT_EQ(after.prefix, before.prefix) << line;
  EXPECT_EQ(after.executable, before.executable) << line;
  ASSERT_EQ(after.programs.size(), before.programs.size()) << line;
  for (std::size_t i = 0; i < before.programs.size(); ++i)
    EXPECT_TRUE(ends_with(after.programs[i].arguments, before.programs[i].arguments)) << line;
  if (has_unknown_option(before)) return;
  const auto read_again = parse_launch_command(after.argv(), version_text);
  ASSERT_TRUE(read_again) << line << "\n" << shell_text({}, after.argv()) << to_string(read_again.error());
  ASSERT_EQ(read_again->programs.size(), before.programs.size()) << line;
  for (std::size_t i = 0; i < before.programs.size(); ++i)
    EXPECT_EQ(read_again->programs[i].arguments, after.programs[i].arguments) << line << "\n"
                                                                              << shell_text({}, after.argv());
}

const std::vector<LaunchChange> changes{
    {.environment = {{"LD_PRELOAD", "/lib/x.so"}, {"OUT", "/tmp/rec"}}},
    {.environment = {{"OUT", "/a b/c,d:e='\""}}},
    {.environment = {{"A", "1"}}, .wrapper = {"rankloom-agent", "--window", "1ns", "--"}},
    {.wrapper = {"rankloom-bind", "--report", "/r", "-"}},
};

/// All that the verbs do with a command line: record and reorder change the environment, online also wraps, run and
/// tune place.
void use_as_verbs_do(const Argv& argv, std::string_view version_text) {
  const std::string line = shell_text({}, argv);
  const std::size_t position = launcher_position(argv);
  ASSERT_LE(position, argv.size()) << line;
  const auto parsed = parse_launch_command(argv, version_text);
  if (!parsed) return expect_named(parsed.error(), line);
  ASSERT_LT(position, argv.size()) << line;
  EXPECT_TRUE(is_launcher_name(argv[position])) << line;
  for (const LaunchChange& change : changes) {
    const auto changed = rewrite(*parsed, change);
    if (!changed) {
      expect_named(changed.error(), line);
    } else {
      expect_unchanged(*parsed, *changed, version_text, line);
    }
  }
  const auto ranks = parsed->rank_count();
  for (const bool report : {true, false}) {
    const LaunchContext context{.directory = "/dir", .wrapper = "/bin/rankloom-bind", .report = report};
    const auto plan = plan_launch(*parsed, deployment_of(ranks && *ranks > 0 && *ranks <= 64 ? *ranks : 2), context);
    if (!plan) {
      expect_named(plan.error(), line);
    } else {
      expect_unchanged(*parsed, plan->command, version_text, line);
    }
  }
}

class RandomCommandLines : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::make();
    ASSERT_TRUE(made);
    directory_.emplace(*std::move(made));
  }
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(RandomCommandLines, KeepTheWordsOfEveryProgram) {
  Generator generator(18, directory_->path());
  for (int i = 0; i < 6000 && !HasFailure(); ++i) {
    const Generated made = generator.correct();
    const std::string line = shell_text({}, made.argv);
    EXPECT_EQ(launcher_position(made.argv), made.launcher_at) << line;
    const auto parsed = parse_launch_command(made.argv, made.version_text);
    ASSERT_TRUE(parsed) << line << "\n" << to_string(parsed.error());
    EXPECT_EQ(parsed->launcher, made.launcher) << line;
    if (made.file.empty()) {
      EXPECT_EQ(parsed->argv(), made.argv) << line;
    }
    ASSERT_EQ(parsed->programs.size(), made.programs.size()) << line;
    for (std::size_t p = 0; p < made.programs.size(); ++p)
      EXPECT_EQ(parsed->programs[p].arguments, made.programs[p]) << line;
    use_as_verbs_do(made.argv, made.version_text);
  }
}

TEST_F(RandomCommandLines, AreUsedOrRefusedByName) {
  Generator generator(19, directory_->path());
  for (int i = 0; i < 12000 && !HasFailure(); ++i) {
    const Generated made = generator.correct();
    if (!made.file.empty() && generator.chance(2)) {
      std::string text;
      for (const std::string& word : generator.broken(made.argv)) text += word + (generator.chance(3) ? "\n" : " ");
      std::ofstream(made.file) << text;
      use_as_verbs_do(made.argv, made.version_text);
    }
    use_as_verbs_do(generator.broken(made.argv), generator.chance(8) ? "" : made.version_text);
  }
}

}  // namespace
}  // namespace rankloom
