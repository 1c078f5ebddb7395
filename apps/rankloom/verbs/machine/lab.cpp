// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: `rankloom lab`: a virtual cluster on one machine.
#include <cstdlib>
#include <cstring>

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
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"

namespace rankloom::app {

namespace {

/// Stops a virtual cluster at the end of its scope, also after an interrupted command.
class TemporaryLab {
 public:
  explicit TemporaryLab(std::string name) : name_(std::move(name)) {}
  ~TemporaryLab() { (void)stop_virtual_cluster(name_); }
  TemporaryLab(const TemporaryLab&) = delete;
  TemporaryLab& operator=(const TemporaryLab&) = delete;

 private:
  std::string name_;
};

class LabVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    up_ = &add_command(app, "up", "start a virtual cluster");
    describe_name(*up_);
    describe_size(*up_);
    exec_ = &add_command(app, "exec", "run a command on a host of a virtual cluster");
    describe_name(*exec_);
    describe_size(*exec_);
    add_text(*exec_, {"--on", "HOST", "the host; by default the first one", "lab"}, host_);
    add_repeated(*exec_, {"COMMAND", "ARG", "after --: the program and its arguments", "input", "", true}, command_);
    topo_ = &add_command(app, "topo", "write the virtual cluster as a machine, for -t");
    describe_name(*topo_);
    add_text(*topo_, {"-o,--output", "FILE", "the file to write; by default standard output", "output"}, output_);
    list_ = &add_command(app, "list", "list running virtual clusters");
    down_ = &add_command(app, "down", "stop all processes of a virtual cluster and remove it");
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
    add_text(app, {"--name", "NAME", "name of the virtual cluster; its hosts are NAME1, NAME2, ...", "lab", "lab"},
             name_);
    if (const char* const inside = std::getenv("RANKLOOM_LAB"); inside != nullptr) name_ = inside;
  }

  void describe_size(CLI::App& app) {
    const auto count = [&](const char* name, const char* help, std::uint32_t& field, const char* text) {
      add_value(app, {name, "N", help, "lab", text}, [this, name, &field](std::string_view value) -> Result<void> {
        const auto number = parse_number(value);
        if (!number || *number < 1 || *number > 4096 || *number != static_cast<std::uint32_t>(*number))
          return bad_value(name, value, "a whole number from 1 to 4096");
        field = static_cast<std::uint32_t>(*number);
        has_size_ = true;
        return {};
      });
    };
    count("--hosts", "number of hosts", options_.hosts, "4");
    count("--slots", "slots per host", options_.slots, "4");
    count("--switches", "number of switches below a root switch, over which the hosts are distributed evenly",
          options_.switches, "1");
    const auto rate = [&](const char* name, const char* help, std::string& field, const char* text) {
      add_value(app, {name, "RATE", help, "lab", text}, [this, name, &field](std::string_view value) -> Result<void> {
        field = std::string(value);
        has_size_ = true;
        auto valid = parse_rate(field, name);
        if (!valid) return propagate(valid);
        return {};
      });
    };
    rate("--rate", "bandwidth of every link: 400mbit, 10gbit, or none for no limit", options_.rate, "400mbit");
    rate("--uplink", "bandwidth between a switch and the root switch; by default as --rate", options_.uplink, "");
  }

  Result<int> up(const Session& session) {
    options_.name = name_;
    options_.os_release = os_release();
    auto lab = start_virtual_cluster(options_, program_path());
    if (!lab) return propagate(lab);
    if (session.json) {
      print_json(to_json(*lab));
    } else {
      print(fmt::format("{} is up: {} hosts with {} slots, {} to {}, {} per link{}\n", name_, lab->hosts.size(),
                        lab->options.slots, lab->hosts.front().name, lab->hosts.back().name, lab->options.rate,
                        describe_switches(*lab)));
    }
    return success;
  }

  /// Runs in a running virtual cluster, or, if a size is given, in a temporary one for this command.
  Result<int> exec(const Session& session) {
    if (!has_size_) {
      auto lab = find_virtual_cluster(name_);
      if (!lab) return propagate(lab);
      return exec_on_host(*lab);
    }
    options_.name = fmt::format("{}-{}", name_, ::getpid());
    options_.prefix = name_;
    options_.os_release = os_release();
    auto lab = start_virtual_cluster(options_, program_path(), true);
    if (!lab) return propagate(lab);
    const TemporaryLab temporary(options_.name);
    Argv argv{program_path(), "lab", "exec", "--name", options_.name};
    if (!host_.empty()) argv.insert(argv.end(), {"--on", host_});
    argv.emplace_back("--");
    argv.insert(argv.end(), command_.begin(), command_.end());
    return run_program(argv, {}, ProgramStreams::ours(session.json));
  }

  Result<int> exec_on_host(const VirtualCluster& lab) {
    if (auto entered = enter_virtual_host(lab, host_.empty() ? lab.hosts.front().name : host_); !entered)
      return propagate(entered);
    const int error = exec_program(command_);
    return fail(Code::environment, at("lab exec"),
                fmt::format("{} cannot be started: {}", command_[0], std::strerror(error)),
                "check that the program exists; hosts of a virtual cluster see the files of this machine");
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
        print(fmt::format("{}: {} hosts with {} slots, {} per link{}\n", name, lab->hosts.size(), lab->options.slots,
                          lab->options.rate, describe_switches(*lab)));
    }
    if (session.json) print_json(Json{{"labs", labs}});
    return success;
  }

  Result<int> down(const Session& session) {
    auto stopped = stop_virtual_cluster(name_);
    if (!stopped) return propagate(stopped);
    if (session.json) {
      print_json(Json{{"name", name_}, {"down", true}});
    } else {
      print(fmt::format("{} is down\n", name_));
    }
    return success;
  }

  static std::string describe_switches(const VirtualCluster& lab) {
    if (lab.options.switches == 1) return {};
    return fmt::format(", {} switches with uplinks of {}", lab.options.switches, uplink_rate(lab.options));
  }

  static Json to_json(const VirtualCluster& lab) {
    Json hosts = Json::array();
    for (const VirtualHost& host : lab.hosts) hosts.push_back(host.name);
    return {{"name", lab.options.name},         {"hosts", hosts},
            {"slots", lab.options.slots},       {"rate", lab.options.rate},
            {"switches", lab.options.switches}, {"uplink", uplink_rate(lab.options)}};
  }

  CLI::App *up_ = nullptr, *exec_ = nullptr, *topo_ = nullptr, *list_ = nullptr, *down_ = nullptr;
  VirtualClusterOptions options_;
  std::string name_ = "lab";
  std::string host_;
  std::string output_;
  Argv command_;
  bool has_size_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lab() {
  return std::make_unique<LabVerb>();
}

}  // namespace rankloom::app
