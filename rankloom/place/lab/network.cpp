// SPDX-License-Identifier: Apache-2.0
// place: the network of a lab: a bridge in a namespace of its own, a cable of limited rate to each host.
#include <algorithm>
#include <array>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rankloom/place/lab/parts.hpp"

namespace rankloom {

namespace {

/// `ip` or `tc` with a list of commands, inside the network of a host.
Result<void> configure(const char* program, const LabHost& host, const std::string& commands) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return lab_failure("no pipe can be made");
  std::string said;
  // The lists are short: they fit into the pipe before anybody reads.
  ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  if (::write(ends[1], commands.data(), commands.size()) != static_cast<ssize_t>(commands.size()))
    return lab_failure("the network cannot be described");
  ::close(ends[1]);
  const int status = in_child(
      [&] {
        if (!join_namespace(host.keeper, "net")) return 1;
        ::dup2(ends[0], STDIN_FILENO);
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        ::execlp(program, program, "-batch", "-", nullptr);
        return 127;
      },
      &said);
  ::close(ends[0]);
  if (status == 0) return {};
  return fail(Code::environment, at("lab"),
              fmt::format("{} failed on {}: {}", program, host.name, said.substr(0, said.find('\n'))),
              "the kernel needs veth, bridge and sch_tbf; --rate none does without the last");
}

/// A token bucket needs room for what comes in one tick of the kernel's clock.
std::string shaping(double rate, const std::string& text, const std::string& device) {
  if (rate == 0) return {};
  const auto burst = static_cast<std::uint64_t>(std::max(65536.0, rate / 8 / 250));
  return fmt::format("qdisc add dev {} root tbf rate {} burst {} latency 50ms\n", device, text, burst);
}

}  // namespace

std::string lab_address(std::size_t host) {
  return fmt::format("10.213.{}.{}", host / 250, host % 250 + 1);
}

Result<void> wire(const Lab& lab) {
  auto rate = parse_rate(lab.options.rate);
  if (!rate) return propagate(rate);
  std::string middle = "link add br0 type bridge\nlink set br0 up\nlink set lo up\n";
  std::string shaped;
  for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
    middle += fmt::format("link add port{} type veth peer name eth0 netns {}\n", i, lab.hosts[i].keeper);
    middle += fmt::format("link set port{0} master br0\nlink set port{0} up\n", i);
    shaped += shaping(*rate, lab.options.rate, fmt::format("port{}", i));
  }
  if (auto done = configure("ip", lab.bridge, middle); !done) return done;
  if (!shaped.empty()) {
    if (auto done = configure("tc", lab.bridge, shaped); !done) return done;
  }
  for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
    const std::string own = fmt::format("addr add {}/16 dev eth0\nlink set lo up\nlink set eth0 up\n", lab_address(i));
    if (auto done = configure("ip", lab.hosts[i], own); !done) return done;
    const std::string limit = shaping(*rate, lab.options.rate, "eth0");
    if (limit.empty()) continue;
    if (auto done = configure("tc", lab.hosts[i], limit); !done) return done;
  }
  return {};
}

}  // namespace rankloom
