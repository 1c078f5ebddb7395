// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom lab`: a cluster on one machine.
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom::app {

namespace {

/// A lab that goes with one command, also when that is interrupted.
class FleetingLab {
 public:
  explicit FleetingLab(std::string name) : name_(std::move(name)) {}
  ~FleetingLab() { (void)stop_virtual_cluster(name_); }
  FleetingLab(const FleetingLab&) = delete;
  FleetingLab& operator=(const FleetingLab&) = delete;

 private:
  std::string name_;
};

class LabVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    up_ = &add_command(app, "up", "make a lab");
    describe_name(*up_);
    describe_size(*up_);
    exec_ = &add_command(app, "exec", "run a command on one of its hosts");
    describe_name(*exec_);
    describe_size(*exec_);
    add_text(*exec_, {"--on", "HOST", "the host; the first one when not given", "lab"}, host_);
    add_repeated(*exec_, {"COMMAND", "WORD", "after --: the program and its arguments", "input", "", true}, command_);
    topo_ = &add_command(app, "topo", "the lab as a machine, for -t");
    describe_name(*topo_);
    add_text(*topo_, {"-o,--output", "FILE", "where it goes; without it, to standard output", "output"}, output_);
    list_ = &add_command(app, "list", "labs that are up");
    down_ = &add_command(app, "down", "end everything in a lab, and remove it");
    describe_name(*down_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*up_)) return up(session);
    if (was_called(*exec_)) return exec(session);
    if (was_called(*topo_)) return topo();
    if (was_called(*list_)) return list(session);
    return down(session);
  }

 private:
  void describe_name(CLI::App& app) {
    add_text(app, {"--name", "NAME", "which lab; its hosts are NAME1, NAME2, ..", "lab", "lab"}, name_);
    if (const char* const inside = std::getenv("RANKLOOM_LAB"); inside != nullptr) name_ = inside;
  }

  void describe_size(CLI::App& app) {
    const auto count = [&](const char* name, const char* help, std::uint32_t& field, const char* text) {
      add_value(app, {name, "N", help, "lab", text}, [this, name, &field](std::string_view value) -> Result<void> {
        const auto number = parse_number(value);
        if (!number || *number < 1 || *number > 4096 || *number != static_cast<std::uint32_t>(*number))
          return bad_value(name, value, "a number from 1");
        field = static_cast<std::uint32_t>(*number);
        sized_ = true;
        return {};
      });
    };
    count("--hosts", "how many hosts", options_.hosts, "4");
    count("--slots", "ranks that fit on a host", options_.slots, "4");
    add_value(app, {"--rate", "RATE", "of every cable: 400mbit, 10gbit, none", "lab", "400mbit"},
              [this](std::string_view value) -> Result<void> {
                options_.rate = std::string(value);
                sized_ = true;
                auto rate = parse_rate(options_.rate);
                if (!rate) return propagate(rate);
                return {};
              });
  }

  Result<int> up(const Session& session) {
    options_.name = name_;
    auto lab = start_virtual_cluster(options_, program_path());
    if (!lab) return propagate(lab);
    if (session.json) {
      print_json(to_json(*lab));
    } else {
      print(fmt::format("{} is up: {} hosts of {} slots, {} to {}, {} a cable\n", name_, lab->hosts.size(),
                        lab->options.slots, lab->hosts.front().name, lab->hosts.back().name, lab->options.rate));
    }
    return success;
  }

  /// In a lab that is up; when a size is given, in one that is made for this command.
  Result<int> exec(const Session& session) {
    if (!sized_) {
      auto lab = find_virtual_cluster(name_);
      if (!lab) return propagate(lab);
      return become(*lab);
    }
    options_.name = fmt::format("{}-{}", name_, ::getpid());
    options_.prefix = name_;
    auto lab = start_virtual_cluster(options_, program_path(), true);
    if (!lab) return propagate(lab);
    const FleetingLab goes(options_.name);
    Argv words{program_path(), "lab", "exec", "--name", options_.name};
    if (!host_.empty()) words.insert(words.end(), {"--on", host_});
    words.emplace_back("--");
    words.insert(words.end(), command_.begin(), command_.end());
    return run_program(words, {}, session.json);
  }

  Result<int> become(const VirtualCluster& lab) {
    if (auto entered = enter_virtual_host(lab, host_.empty() ? lab.hosts.front().name : host_); !entered)
      return propagate(entered);
    std::vector<char*> arguments;
    arguments.reserve(command_.size() + 1);
    for (std::string& word : command_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail(Code::environment, at("lab exec"),
                fmt::format("{} cannot be started: {}", command_[0], std::strerror(errno)),
                "hosts of a lab see this machine's files: is the program there?");
  }

  Result<int> topo() {
    auto lab = find_virtual_cluster(name_);
    if (!lab) return propagate(lab);
    auto written = write_file(or_standard_output(output_), write_machine_json(virtual_cluster_machine(*lab)));
    if (!written) return propagate(written);
    return success;
  }

  Result<int> list(const Session& session) {
    Json labs = Json::array();
    for (const std::string& name : virtual_cluster_names()) {
      auto lab = find_virtual_cluster(name);
      if (!lab) continue;
      labs.push_back(to_json(*lab));
      if (!session.json)
        print(fmt::format("{}: {} hosts of {} slots, {}\n", name, lab->hosts.size(), lab->options.slots,
                          lab->options.rate));
    }
    if (session.json) print_json(Json{{"labs", labs}});
    return success;
  }

  Result<int> down(const Session& session) {
    auto gone = stop_virtual_cluster(name_);
    if (!gone) return propagate(gone);
    if (session.json) {
      print_json(Json{{"name", name_}, {"down", true}});
    } else {
      print(fmt::format("{} is down\n", name_));
    }
    return success;
  }

  static Json to_json(const VirtualCluster& lab) {
    Json hosts = Json::array();
    for (const VirtualHost& host : lab.hosts) hosts.push_back(host.name);
    return {{"name", lab.options.name}, {"hosts", hosts}, {"slots", lab.options.slots}, {"rate", lab.options.rate}};
  }

  using Argv = std::vector<std::string>;
  CLI::App *up_ = nullptr, *exec_ = nullptr, *topo_ = nullptr, *list_ = nullptr, *down_ = nullptr;
  VirtualClusterOptions options_;
  std::string name_ = "lab";
  std::string host_;
  std::string output_;
  Argv command_;
  bool sized_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lab() {
  return std::make_unique<LabVerb>();
}

}  // namespace rankloom::app
