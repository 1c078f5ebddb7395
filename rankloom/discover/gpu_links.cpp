// SPDX-License-Identifier: Apache-2.0
// discover: reads what nvidia-smi and rocm-smi print about the links between GPUs.
#include "rankloom/discover/gpu_links.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "rankloom/core/system/process.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

using GpuPair = std::pair<std::uint32_t, std::uint32_t>;

/// One direction of one NVLink: 25 GB/s from V100 to H200; 20 GB/s with P100 and 50 GB/s with B200, which the tool does
/// not tell apart.
constexpr double nvlink_bandwidth = 25'000;
/// One direction of one xGMI link of MI200. A pair may have several, of which only --shownodesbw knows the number.
constexpr double xgmi_bandwidth = 50'000;

/// "GPU12" → 12
std::optional<std::uint32_t> gpu_number(std::string_view token) {
  constexpr std::string_view prefix = "GPU";
  if (!token.starts_with(prefix)) return std::nullopt;
  return parse_index(token.substr(prefix.size()));
}

/// The text without sequences such as "\x1b[4m", with which nvidia-smi underlines its header.
std::string without_escape_sequences(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      plain += text[at];
      continue;
    }
    while (at < text.size() && (text[at] < 'A' || text[at] > 'z' || text[at] == '[')) ++at;
  }
  return plain;
}

/// A table with a row and a column for every GPU: a header with the GPUs, then a row for each of them. Other columns
/// may follow those of the GPUs.
struct PairTable {
  std::vector<std::uint32_t> gpus;
  std::map<GpuPair, std::string> entries;  // by row and column
};

/// `source` names the command in errors.
Result<PairTable> parse_pair_table(std::string_view text, const std::string& source) {
  const auto bad_table = [&](std::string what) {
    return fail(Code::bad_input, at(source), std::move(what),
                fmt::format("run `{}`, and describe the links in the topology JSON: gpu_links", source));
  };
  PairTable table;
  std::set<std::uint32_t> rows;
  for (const std::string_view line : split(text, '\n')) {
    const auto tokens = split_at_blanks(line);
    const auto first = tokens.empty() ? std::nullopt : gpu_number(tokens[0]);
    if (!first) continue;
    if (table.gpus.empty()) {
      for (const std::string_view token : tokens) {
        const auto gpu = gpu_number(token);
        if (!gpu) break;
        table.gpus.push_back(*gpu);
      }
      if (table.gpus.size() > max_linked_gpus)
        return bad_table(fmt::format("there are {} GPUs, more than {}", table.gpus.size(), max_linked_gpus));
      if (std::adjacent_find(table.gpus.begin(), table.gpus.end(), std::greater_equal<>()) != table.gpus.end())
        return bad_table("the GPUs are not in ascending order");
      continue;
    }
    if (!std::binary_search(table.gpus.begin(), table.gpus.end(), *first) || !rows.insert(*first).second)
      return bad_table(fmt::format("there is an unexpected row of GPU {}", *first));
    if (tokens.size() <= table.gpus.size())
      return bad_table(
          fmt::format("the row of GPU {} has {} of {} columns", *first, tokens.size() - 1, table.gpus.size()));
    for (std::size_t i = 0; i < table.gpus.size(); ++i)
      table.entries.emplace(GpuPair{*first, table.gpus[i]}, std::string(tokens[i + 1]));
  }
  if (table.gpus.empty()) return bad_table("the output has no table of GPUs");
  if (rows.size() < table.gpus.size())
    return bad_table(fmt::format("there are rows for {} of {} GPUs", rows.size(), table.gpus.size()));
  return table;
}

/// The part of the output of rocm-smi below "=== TITLE ===", up to the next such line; empty: there is none.
std::string section(std::string_view text, std::string_view title) {
  std::string lines;
  bool inside = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("==")) {
      if (inside) break;
      inside = line.find(title) != std::string_view::npos;
    } else if (inside) {
      lines += line;
      lines += '\n';
    }
  }
  return lines;
}

/// "50000-200000", the bandwidth of one link and of all links between two GPUs in MB/s, → 200000; "0-0" and "N/A": 0.
double largest_bandwidth(std::string_view text) {
  const auto hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return 0;
  return parse_index(text.substr(hyphen + 1)).value_or(0);
}

/// The standard output of a command; nothing if it cannot be started, fails or takes too long.
std::optional<std::string> output_in_time(const std::vector<std::string>& argv) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.errors = Redirection::null();
  spec.new_process_group = true;
  ProcessOptions options;
  options.capture_output = true;
  options.max_captured = std::size_t{1} << 20;
  options.time_limit = std::chrono::seconds(20);  // the driver starts the GPUs for it
  ProcessResult result = run_process(spec, options);
  if (!result.succeeded()) return std::nullopt;
  return std::move(result.output);
}

std::optional<std::string> nvidia_output() {
  return output_in_time({"nvidia-smi", "topo", "-m"});
}

std::optional<std::string> rocm_output() {
  auto output = output_in_time({"rocm-smi", "--showtopo"});
  if (!output) return output;
  return *output + output_in_time({"rocm-smi", "--shownodesbw"}).value_or("");
}

struct VendorTool {
  std::string_view name;
  std::optional<std::string> (*run)();
  Result<GpuLinkTable> (*parse)(std::string_view text);
};
constexpr auto vendor_tools = std::to_array<VendorTool>({
    {"nvidia-smi", nvidia_output, parse_nvidia_topology},
    {"rocm-smi", rocm_output, parse_rocm_topology},
});

}  // namespace

void GpuLinkTable::add(std::uint32_t a, std::uint32_t b, double mb_per_second) {
  if (a == b || !(mb_per_second > 0)) return;
  double& known = bandwidth[GpuPair{std::min(a, b), std::max(a, b)}];
  known = std::max(known, mb_per_second);
}

Result<GpuLinkTable> parse_nvidia_topology(std::string_view text) {
  const std::string source = "nvidia-smi topo -m";
  auto pairs = parse_pair_table(without_escape_sequences(text), source);
  if (!pairs) return propagate(pairs);
  GpuLinkTable table{.gpus = pairs->gpus};
  for (const auto& [pair, entry] : pairs->entries) {
    if (!entry.starts_with("NV")) continue;  // X, PIX, PXB, PHB, NODE, SYS: over PCI Express
    const auto links = parse_index(std::string_view(entry).substr(2));
    if (!links) {
      return fail(Code::bad_input, at(source), fmt::format("\"{}\" is not a number of NVLinks", printable(entry)),
                  "describe the links in the topology JSON: gpu_links");
    }
    table.add(pair.first, pair.second, nvlink_bandwidth * *links);
  }
  return table;
}

Result<GpuLinkTable> parse_rocm_topology(std::string_view text) {
  const std::string source = "rocm-smi --showtopo";
  auto types = parse_pair_table(section(text, "Link Type between two GPUs"), source);
  if (!types) return propagate(types);
  GpuLinkTable table{.gpus = types->gpus};
  if (const std::string bandwidths = section(text, " Bandwidth "); !bandwidths.empty()) {
    auto pairs = parse_pair_table(bandwidths, "rocm-smi --shownodesbw");
    if (!pairs) return propagate(pairs);
    if (pairs->gpus == types->gpus) {
      for (const auto& [pair, entry] : pairs->entries) {
        if (types->entries[pair] == "XGMI") table.add(pair.first, pair.second, largest_bandwidth(entry));
      }
      return table;
    }
  }
  // The number of hops is 1 also for paths through other GPUs; the weight grows with their length.
  auto weights = parse_pair_table(section(text, "Weight between two GPUs"), source);
  if (!weights) return propagate(weights);
  std::map<GpuPair, std::uint32_t> weight;
  for (const auto& [pair, entry] : weights->entries) {
    const auto value = parse_size(entry);
    if (value && types->entries[pair] == "XGMI") weight[pair] = *value;
  }
  const auto shortest =
      std::min_element(weight.begin(), weight.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [pair, value] : weight) {
    if (value == shortest->second) table.add(pair.first, pair.second, xgmi_bandwidth);
  }
  return table;
}

std::vector<GpuLinkSpec> group_links(const GpuLinkTable& table, double latency) {
  std::map<double, std::set<GpuPair>, std::greater<>> by_bandwidth;
  for (const auto& [pair, bandwidth] : table.bandwidth) by_bandwidth[bandwidth].insert(pair);
  std::vector<GpuLinkSpec> links;
  for (const auto& [bandwidth, pairs] : by_bandwidth) {
    std::set<GpuPair> left = pairs;
    while (!left.empty()) {
      const auto [a, b] = *left.begin();
      std::vector<std::uint32_t> clique{a, b};
      const auto is_linked = [&linked = pairs](std::uint32_t gpu, std::uint32_t other) {
        return linked.contains(GpuPair{std::min(gpu, other), std::max(gpu, other)});
      };
      for (const std::uint32_t gpu : table.gpus) {
        if (std::all_of(clique.begin(), clique.end(), [&](std::uint32_t member) { return is_linked(gpu, member); }))
          clique.push_back(gpu);
      }
      std::sort(clique.begin(), clique.end());
      for (std::size_t i = 0; i < clique.size(); ++i)
        for (std::size_t j = i + 1; j < clique.size(); ++j) left.erase(GpuPair{clique[i], clique[j]});
      if (clique == table.gpus) clique.clear();
      links.push_back({.gpus = std::move(clique), .cost = {1000 / bandwidth, latency}});  // MB/s → ns/B
    }
  }
  return links;
}

HostGpuLinks query_gpu_links(std::span<const std::uint32_t> gpus) {
  HostGpuLinks result;
  if (gpus.size() < 2) return result;
  for (const VendorTool& tool : vendor_tools) {
    const auto output = tool.run();
    if (!output) continue;
    auto table = tool.parse(*output);
    if (!table) {
      result.remarks.push_back(
          {fmt::format("{}: {}", table.error().where.source, table.error().what), table.error().hint});
    } else if (!std::equal(table->gpus.begin(), table->gpus.end(), gpus.begin(), gpus.end())) {
      result.remarks.push_back({fmt::format("{} lists {} GPUs, and the PCI bus {}: the links between them are left out",
                                            tool.name, table->gpus.size(), gpus.size()),
                                "discover the node outside of a job, which may use some of its GPUs only"});
    } else {
      result.table = std::move(*table);
      return result;
    }
  }
  return result;
}

}  // namespace rankloom
