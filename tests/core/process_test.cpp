// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankloom {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    std::string name = testing::TempDir() + "process-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    // Commands in the background of a script ignore SIGINT, and a shell cannot trap a signal that it ignored from its
    // start.
    std::signal(SIGINT, SIG_DFL);
  }
  ~ProcessTest() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::filesystem::path directory_;
};

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  return spec;
}

ProcessResult capture(const ProcessSpec& spec, ProcessOptions options = {}) {
  options.capture_output = options.capture_errors = true;
  return run_process(spec, options);
}

bool has_no_children() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

TEST_F(ProcessTest, ReportsTheExitStatusAsAShellDoes) {
  EXPECT_EQ(run_process(shell("exit 0")).status, 0);
  EXPECT_EQ(run_process(shell("exit 3")).status, 3);
  EXPECT_EQ(run_process(shell("kill -TERM $$")).status, 128 + SIGTERM);
  EXPECT_TRUE(has_no_children());
}

TEST_F(ProcessTest, PassesArgumentsWithoutAShell) {
  ProcessSpec spec;
  spec.argv = {"printf", "%s|", "a b", "$HOME", "*", ""};
  EXPECT_EQ(capture(spec).output, "a b|$HOME|*||");
}

TEST_F(ProcessTest, SaysWhyAProgramCannotBeStarted) {
  ProcessSpec spec;
  spec.argv = {"no-such-program-anywhere"};
  const auto missing = run_process(spec);
  EXPECT_FALSE(missing.started());
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.error, ENOENT);
  EXPECT_EQ(missing.message, "no-such-program-anywhere cannot be started: No such file or directory");
  spec.argv = {directory_.string()};
  const auto not_executable = run_process(spec);
  EXPECT_EQ(not_executable.status, 126);
  spec.argv.clear();
  EXPECT_FALSE(run_process(spec).started());
  EXPECT_TRUE(has_no_children());
}

TEST_F(ProcessTest, NamesTheFileThatCannotBeOpened) {
  ProcessSpec spec = shell("echo text");
  spec.output = Redirection::to_file(path("missing/file"));
  EXPECT_THAT(run_process(spec).message, HasSubstr("missing/file cannot be opened"));
}

TEST_F(ProcessTest, RunsAScriptWithoutAnInterpreterLineByTheShell) {
  std::ofstream(path("script")) << "echo \"ran with $1\"\n";
  std::filesystem::permissions(path("script"), std::filesystem::perms::owner_all);
  ProcessSpec spec;
  spec.argv = {path("script"), "one argument"};
  EXPECT_EQ(capture(spec).output, "ran with one argument\n");
}

TEST_F(ProcessTest, ChangesTheEnvironment) {
  ::setenv("RANKLOOM_TEST_KEPT", "kept", 1);
  ::setenv("RANKLOOM_TEST_REMOVED", "removed", 1);
  ProcessSpec spec = shell("echo \"$RANKLOOM_TEST_KEPT,$RANKLOOM_TEST_REMOVED,$RANKLOOM_TEST_NEW\"");
  spec.environment = {"RANKLOOM_TEST_NEW=first", "RANKLOOM_TEST_REMOVED", "RANKLOOM_TEST_NEW=a=b"};
  EXPECT_EQ(capture(spec).output, "kept,,a=b\n");
  ::unsetenv("RANKLOOM_TEST_KEPT");
  ::unsetenv("RANKLOOM_TEST_REMOVED");
}

TEST_F(ProcessTest, SearchesTheProgramInThePathOfTheChild) {
  std::ofstream(path("own-program")) << "#!/bin/sh\necho found\n";
  std::filesystem::permissions(path("own-program"), std::filesystem::perms::owner_all);
  ProcessSpec spec;
  spec.argv = {"own-program"};
  EXPECT_EQ(run_process(spec).status, 127);
  spec.environment = {"PATH=" + directory_.string() + ":/usr/bin:/bin"};
  EXPECT_EQ(capture(spec).output, "found\n");
  EXPECT_EQ(find_program("own-program", "/nowhere:" + directory_.string()), path("own-program"));
  EXPECT_EQ(find_program("own-program"), "");
  EXPECT_EQ(find_program("a/b"), "a/b");
}

TEST_F(ProcessTest, ChangesTheWorkingDirectory) {
  ProcessSpec spec = shell("pwd -P");
  spec.working_directory = directory_.string();
  EXPECT_EQ(capture(spec).output, std::filesystem::canonical(directory_).string() + "\n");
  spec.before_exec = [] { return true; };
  EXPECT_EQ(capture(spec).output, std::filesystem::canonical(directory_).string() + "\n");
}

TEST_F(ProcessTest, CapturesBothOutputsSeparatelyAndTogether) {
  ProcessSpec spec = shell("echo out; echo err >&2");
  const auto separate = capture(spec);
  EXPECT_EQ(separate.output, "out\n");
  EXPECT_EQ(separate.errors, "err\n");
  EXPECT_EQ(output_of(spec.argv), "out\nerr\n");
  EXPECT_EQ(output_of({"no-such-program-anywhere"}), "");
}

TEST_F(ProcessTest, DropsOutputAboveTheLimit) {
  ProcessOptions options;
  options.max_captured = 10;
  const auto result = capture(shell("head -c 1000000 /dev/zero | tr '\\0' x"), options);
  EXPECT_EQ(result.output, "xxxxxxxxxx");
  EXPECT_EQ(result.status, 0);
}

TEST_F(ProcessTest, RedirectsToFiles) {
  ProcessSpec spec = shell("cat; echo err >&2");
  std::ofstream(path("in")) << "text\n";
  spec.input = Redirection::to_file(path("in"));
  spec.output = Redirection::to_file(path("out"));
  spec.errors = Redirection::to_file(path("err"));
  EXPECT_TRUE(run_process(spec).succeeded());
  EXPECT_EQ(content_of(path("out")), "text\n");
  EXPECT_EQ(content_of(path("err")), "err\n");
  spec.errors = Redirection::to_stdout();
  EXPECT_TRUE(run_process(spec).succeeded());
  EXPECT_EQ(content_of(path("out")), "text\nerr\n");
}

TEST_F(ProcessTest, StandardInputIsEmptyUnlessGiven) {
  EXPECT_EQ(capture(shell("cat; echo end")).output, "end\n");
}

TEST_F(ProcessTest, SendsLongInputToAChildThatWritesAtTheSameTime) {
  ProcessOptions options;
  options.input = std::string(3'000'000, 'x');
  EXPECT_EQ(capture(shell("cat"), options).output, *options.input);
}

TEST_F(ProcessTest, AChildMayEndBeforeItReadItsInput) {
  ProcessOptions options;
  options.input = std::string(3'000'000, 'x');
  EXPECT_EQ(capture(shell("exit 4"), options).status, 4);
}

TEST_F(ProcessTest, CallsBackForEveryLine) {
  std::vector<std::string> lines;
  ProcessOptions options;
  options.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  EXPECT_EQ(run_process(shell("printf 'one\\n\\nthree'"), options).status, 0);
  EXPECT_THAT(lines, ElementsAre("one", "", "three"));
}

TEST_F(ProcessTest, KillsTheWholeProcessGroupAfterTheTimeLimit) {
  ProcessSpec spec = shell("sleep 100 & echo $!; wait");
  spec.new_process_group = true;
  ProcessOptions options;
  options.time_limit = 250ms;
  auto result = capture(spec, options);
  while (result.output.empty()) {  // on a busy machine the shell has not printed anything yet
    options.time_limit = *options.time_limit * 2;
    result = capture(spec, options);
  }
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_THAT(result.message, MatchesRegex("sh did not end within .* s"));
  const pid_t grandchild = std::stoi(result.output);
  // Its new parent may need a moment to reap it; a zombie has no command line.
  const auto command_line = "/proc/" + std::to_string(grandchild) + "/cmdline";
  for (int i = 0; i < 6000 && !content_of(command_line).empty(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(content_of(command_line), "");
}

TEST_F(ProcessTest, TheTimeLimitAlsoHoldsForAChildThatClosedItsOutput) {
  ProcessOptions options;
  options.time_limit = 200ms;
  EXPECT_TRUE(capture(shell("exec >/dev/null 2>&1; exec sleep 100"), options).timed_out);
  options.time_limit = 60s;
  EXPECT_EQ(capture(shell("exec >/dev/null 2>&1; exit 5"), options).status, 5);
}

TEST_F(ProcessTest, ForwardsSignalsToTheChildAndRestoresHandlers) {
  ProcessOptions options;
  options.forward_signals = true;
  options.on_line = [](std::string_view line) { ::kill(::getpid(), line == "first" ? SIGTERM : SIGINT); };
  // SIGINT comes from a terminal to both processes; forwarding it would deliver it twice.
  const auto result = run_process(
      shell("trap 'echo second; exit 7' TERM; trap 'exit 8' INT; echo first; while :; do sleep 0.01; done"), options);
  EXPECT_EQ(result.status, 7);
  struct sigaction action {};
  ::sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST_F(ProcessTest, AChildThatLeadsAGroupGetsTheSignalsOfTheTerminalToo) {
  ProcessSpec spec = shell("trap 'exit 8' INT; echo ready; while :; do sleep 0.01; done");
  spec.new_process_group = true;
  ProcessOptions options;
  options.forward_signals = true;
  options.on_line = [](std::string_view) { ::kill(::getpid(), SIGINT); };
  EXPECT_EQ(run_process(spec, options).status, 8);
}

TEST_F(ProcessTest, ResetsIgnoredAndBlockedSignals) {
  ProcessSpec spec = shell("kill -USR1 $$; echo survived");
  std::signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(capture(spec).output, "survived\n");
  spec.reset_signals = true;
  EXPECT_EQ(capture(spec).status, 128 + SIGUSR1);
  spec.before_exec = [] { return true; };
  EXPECT_EQ(capture(spec).status, 128 + SIGUSR1);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_F(ProcessTest, ClosesOtherFilesOnRequest) {
  const int file = ::open("/dev/null", O_RDONLY);
  ProcessSpec spec = shell("test -e /proc/self/fd/" + std::to_string(file));
  EXPECT_EQ(run_process(spec).status, 0);
  spec.close_other_files = true;
  EXPECT_EQ(run_process(spec).status, 1);
  spec.before_exec = [] { return true; };
  EXPECT_EQ(run_process(spec).status, 1);
  ::close(file);
}

TEST_F(ProcessTest, RunsAFunctionInTheChildBeforeExec) {
  ProcessSpec spec = shell("umask");
  spec.before_exec = [] {
    ::umask(0123);
    return true;
  };
  EXPECT_EQ(capture(spec).output, "0123\n");
  spec.before_exec = [] {
    errno = EPERM;
    return false;
  };
  const auto cancelled = capture(spec);
  EXPECT_EQ(cancelled.error, EPERM);
  EXPECT_EQ(cancelled.status, 126);
  spec.before_exec = [] { return true; };
  spec.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(run_process(spec).status, 127);
  EXPECT_TRUE(has_no_children());
}

TEST_F(ProcessTest, RunsAFunctionInAForkedChild) {
  EXPECT_EQ(ChildProcess::fork([] { return 6; }).wait(), 6);
}

TEST_F(ProcessTest, ADaemonIsNotAChildOfThisProcess) {
  std::filesystem::create_directory(path("d"));
  const std::string file = path("pid");
  ASSERT_TRUE(start_daemon([&] {
    std::ofstream(file + ".new") << ::getpid() << ' ' << ::getsid(0);
    std::filesystem::rename(file + ".new", file);
    return 0;
  }));
  EXPECT_TRUE(has_no_children());
  for (int i = 0; i < 6000 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(10ms);
  const std::string text = content_of(file);
  EXPECT_EQ(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1));
}

TEST_F(ProcessTest, ADestroyedChildIsKilledAndReaped) {
  {
    const ChildProcess child = ChildProcess::start(shell("exec sleep 100"));
    ASSERT_TRUE(child.started());
  }
  EXPECT_TRUE(has_no_children());
}

TEST_F(ProcessTest, PollsWithoutWaiting) {
  ChildProcess child = ChildProcess::start(shell("exec sleep 100"));
  EXPECT_FALSE(child.poll().has_value());
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait(), 128 + SIGTERM);
  EXPECT_EQ(child.poll(), 128 + SIGTERM);
}

TEST_F(ProcessTest, SaysWhenTheStatusIsLost) {
  std::signal(SIGCHLD, SIG_IGN);
  const auto result = capture(shell("echo text"));
  std::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(result.output, "text\n");
  EXPECT_FALSE(result.status_known);
}

TEST_F(ProcessTest, MeasuresWhatAChildAndItsChildrenUse) {
  // `times` prints the user and system time of the shell, then those of its children.
  const auto busy = capture(shell("(i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done); times"));
  double minutes = 0, seconds = 0;
  const std::size_t line = busy.output.find('\n') + 1;
  ASSERT_EQ(std::sscanf(busy.output.c_str() + line, "%lfm%lfs", &minutes, &seconds), 2) << busy.output;
  EXPECT_GE(busy.usage.cpu_seconds, 60 * minutes + seconds - 0.02);
  EXPECT_GT(busy.usage.cpu_seconds, 0);
  EXPECT_GT(busy.usage.seconds, 0);
  EXPECT_GT(busy.usage.peak_bytes, std::uint64_t{1} << 19);
  const auto idle = capture(shell("sleep 0.3"));
  EXPECT_LT(idle.usage.cpu_seconds, 0.3);
  EXPECT_GE(idle.usage.seconds, 0.3);
}

TEST(ShellQuoteTest, AShellReadsBackWhatIsQuoted) {
  const std::vector<std::string> arguments{"app.prof", "node:4=10 core:8", "it's", "", "$HOME"};
  std::vector<std::string> argv{"printf", "%s|"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  EXPECT_EQ(shell_command(argv), "printf '%s|' app.prof 'node:4=10 core:8' 'it'\\''s' '' '$HOME'");
  EXPECT_EQ(capture(shell(shell_command(argv))).output, "app.prof|node:4=10 core:8|it's||$HOME|");
}

}  // namespace
}  // namespace rankloom
