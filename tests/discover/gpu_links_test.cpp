// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/gpu_links.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "0 1 2 at 0.04", "all at 0.02": the links of a table, with their time per byte.
std::vector<std::string> links_of(const Result<GpuLinkTable>& table) {
  EXPECT_TRUE(table) << (table ? "" : to_string(table.error()));
  std::vector<std::string> links;
  if (!table) return links;
  for (const GpuLinkSpec& link : group_links(*table, 40)) {
    EXPECT_EQ(link.cost.latency, 40);
    const std::string gpus = link.gpus.empty() ? "all" : fmt::format("{}", fmt::join(link.gpus, " "));
    links.push_back(fmt::format("{} at {:.4g}", gpus, link.cost.inverse_bandwidth));
  }
  return links;
}

std::string problem_of_table(const Result<GpuLinkTable>& table) {
  return table ? "none" : to_string(table.error());
}

/// Written by hand in the format of `nvidia-smi topo -m`: the header is underlined, columns are separated by tabs.
constexpr const char* four_a100 =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV4\tNV4\tNV4\tSYS\t24-31\t3\t\tN/A\n"
    "GPU1\tNV4\t X \tNV4\tNV4\tSYS\t16-23\t2\t\tN/A\n"
    "GPU2\tNV4\tNV4\t X \tNV4\tPHB\t8-15\t1\t\tN/A\n"
    "GPU3\tNV4\tNV4\tNV4\t X \tSYS\t0-7\t0\t\tN/A\n"
    "NIC0\tSYS\tSYS\tPHB\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n\n"
    "  X    = Self\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n  NIC0: mlx5_0\n";

constexpr const char* dgx_1 = R"(
        GPU0    GPU1    GPU2    GPU3    GPU4    GPU5    GPU6    GPU7    mlx5_0  CPU Affinity
GPU0     X      NV1     NV1     NV2     NV2     SYS     SYS     SYS     PIX     0-19,40-59
GPU1    NV1      X      NV2     NV1     SYS     NV2     SYS     SYS     PIX     0-19,40-59
GPU2    NV1     NV2      X      NV2     SYS     SYS     NV1     SYS     PHB     0-19,40-59
GPU3    NV2     NV1     NV2      X      SYS     SYS     SYS     NV1     PHB     0-19,40-59
GPU4    NV2     SYS     SYS     SYS      X      NV1     NV1     NV2     SYS     20-39,60-79
GPU5    SYS     NV2     SYS     SYS     NV1      X      NV2     NV1     SYS     20-39,60-79
GPU6    SYS     SYS     NV1     SYS     NV1     NV2      X      NV2     SYS     20-39,60-79
GPU7    SYS     SYS     SYS     NV1     NV2     NV1     NV2      X      SYS     20-39,60-79
mlx5_0  PIX     PIX     PHB     PHB     SYS     SYS     SYS     SYS      X
)";

/// A table of this many GPUs with one entry for all pairs.
std::string uniform_table(int gpus, const char* entry) {
  std::string text = "\t";
  for (int gpu = 0; gpu < gpus; ++gpu) text += fmt::format("GPU{}\t", gpu);
  text += "CPU Affinity\n";
  for (int row = 0; row < gpus; ++row) {
    text += fmt::format("GPU{}\t", row);
    for (int column = 0; column < gpus; ++column) text += fmt::format("{}\t", row == column ? " X " : entry);
    text += "0-63\n";
  }
  return text;
}

TEST(NvidiaTopology, GpusThatAreAllLinkedShareALink) {
  EXPECT_THAT(links_of(parse_nvidia_topology(four_a100)), ElementsAre("all at 0.01"));
  EXPECT_THAT(links_of(parse_nvidia_topology(uniform_table(8, "NV18"))), ElementsAre("all at 0.002222"));
  EXPECT_THAT(links_of(parse_nvidia_topology(uniform_table(16, "NV6"))), ElementsAre("all at 0.006667"));
}

TEST(NvidiaTopology, APathOverPciExpressIsNotALink) {
  for (const char* const entry : {"PIX", "PXB", "PHB", "NODE", "SYS"}) {
    const auto table = parse_nvidia_topology(uniform_table(4, entry));
    EXPECT_THAT(links_of(table), IsEmpty()) << entry;
    ASSERT_TRUE(table);
    EXPECT_EQ(table->gpus.size(), 4U);
  }
  EXPECT_THAT(links_of(parse_nvidia_topology(uniform_table(1, ""))), IsEmpty());
}

TEST(NvidiaTopology, AHybridCubeMeshConsistsOfPairsAndGroups) {
  EXPECT_THAT(links_of(parse_nvidia_topology(dgx_1)),
              ElementsAre("0 3 at 0.02", "0 4 at 0.02", "1 2 at 0.02", "1 5 at 0.02", "2 3 at 0.02", "4 7 at 0.02",
                          "5 6 at 0.02", "6 7 at 0.02", "0 1 at 0.04", "0 2 at 0.04", "1 3 at 0.04", "2 6 at 0.04",
                          "3 7 at 0.04", "4 5 at 0.04", "4 6 at 0.04", "5 7 at 0.04"));
  // With P100, all links of a half have one bandwidth.
  std::string with_p100 = dgx_1;
  for (std::size_t at = with_p100.find("NV2"); at != std::string::npos; at = with_p100.find("NV2"))
    with_p100.replace(at, 3, "NV1");
  EXPECT_THAT(links_of(parse_nvidia_topology(with_p100)), ElementsAre("0 1 2 3 at 0.04", "0 4 at 0.04", "1 5 at 0.04",
                                                                      "2 6 at 0.04", "3 7 at 0.04", "4 5 6 7 at 0.04"));
}

TEST(NvidiaTopology, MalformedOutputIsAnError) {
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("")),
              HasSubstr("nvidia-smi topo -m: the output has no table of GPUs"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("\tGPU0\tGPU1\n")), HasSubstr("there are rows for 0 of 2 GPUs"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("\tGPU0\tGPU1\nGPU0\tX\n")),
              HasSubstr("the row of GPU 0 has 1 of 2 columns"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU0\tX\tNV1\n")),
              HasSubstr("an unexpected row of GPU 0"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("\tGPU1\tGPU0\n")), HasSubstr("not in ascending order"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology("\tGPU0\tGPU1\nGPU0\tX\tNVx\nGPU1\tNVx\tX\n")),
              HasSubstr("\"NVx\" is not a number of NVLinks"));
  EXPECT_THAT(problem_of_table(parse_nvidia_topology(uniform_table(257, "NV1"))), HasSubstr("257 GPUs, more than 256"));
}

/// A section of the output of rocm-smi; the entries of a row are separated by blanks.
std::string rocm_section(const std::string& title, const std::vector<std::string>& rows) {
  std::string text = fmt::format("{:=^80}\n      ", fmt::format(" {} ", title));
  for (std::size_t gpu = 0; gpu < rows.size(); ++gpu) text += fmt::format(" GPU{:<9}", gpu);
  text += "\n";
  for (std::size_t gpu = 0; gpu < rows.size(); ++gpu) text += fmt::format("GPU{:<3} {}\n", gpu, rows[gpu]);
  return text + "\n";
}

/// Four GPUs on two packages, as of MI250X: 0 and 1, 2 and 3 share a package; 0 and 2, 1 and 3 are linked; the others
/// are two links apart, although the tool says one hop.
std::string four_mi250x_gpus() {
  return "\n\n" +
         rocm_section("Weight between two GPUs", {"0  15  15  30", "15  0  30  15", "15  30  0  15", "30  15  15  0"}) +
         rocm_section("Hops between two GPUs", {"0  1  1  1", "1  0  1  1", "1  1  0  1", "1  1  1  0"}) +
         rocm_section("Link Type between two GPUs",
                      {"0  XGMI  XGMI  XGMI", "XGMI  0  XGMI  XGMI", "XGMI  XGMI  0  XGMI", "XGMI  XGMI  XGMI  0"}) +
         "================================== Numa Nodes ==================================\n"
         "GPU[0]\t\t: (Topology) Numa Node: 3\nGPU[0]\t\t: (Topology) Numa Affinity: 3\n"
         "============================= End of ROCm SMI Log ==============================\n";
}

TEST(RocmTopology, LinksAreThePathsOfTheLowestWeight) {
  EXPECT_THAT(links_of(parse_rocm_topology(four_mi250x_gpus())),
              ElementsAre("0 1 at 0.02", "0 2 at 0.02", "1 3 at 0.02", "2 3 at 0.02"));
}

TEST(RocmTopology, BandwidthsAreUsedWhereTheToolPrintsThem) {
  const std::string bandwidths =
      rocm_section("Bandwidth", {"N/A 50000-200000 50000-100000 0-0", "50000-200000 N/A 0-0 50000-50000",
                                 "50000-100000 0-0 N/A 50000-200000", "0-0 50000-50000 50000-200000 N/A"}) +
      "Format: min-max; Units: mps\n\"0-0\" min-max bandwidth indicates devices are not connected directly\n";
  EXPECT_THAT(links_of(parse_rocm_topology(four_mi250x_gpus() + bandwidths)),
              ElementsAre("0 1 at 0.005", "2 3 at 0.005", "0 2 at 0.01", "1 3 at 0.02"));
}

TEST(RocmTopology, APathOverPciExpressIsNotALink) {
  const std::string text = rocm_section("Weight between two GPUs", {"0  40", "40  0"}) +
                           rocm_section("Link Type between two GPUs", {"0  PCIE", "PCIE  0"});
  EXPECT_THAT(links_of(parse_rocm_topology(text)), IsEmpty());
  EXPECT_THAT(problem_of_table(parse_rocm_topology("")),
              HasSubstr("rocm-smi --showtopo: the output has no table of GPUs"));
}

TEST(GpuLinks, CoverEveryPairOfARandomTableAtItsBandwidth) {
  Random random(7);
  for (int instance = 0; instance < 300; ++instance) {
    GpuLinkTable table;
    for (std::uint32_t gpu = 0; gpu < 2 + random.below(8); ++gpu) table.gpus.push_back(3 * gpu);
    for (const std::uint32_t a : table.gpus) {
      for (const std::uint32_t b : table.gpus) table.add(a, b, 1000.0 * static_cast<double>(random.below(3)));
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> covered;
    for (const GpuLinkSpec& link : group_links(table, 0)) {
      const std::vector<std::uint32_t>& gpus = link.gpus.empty() ? table.gpus : link.gpus;
      ASSERT_GE(gpus.size(), 2U);
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        for (std::size_t j = i + 1; j < gpus.size(); ++j) {
          const double bandwidth = 1000 / link.cost.inverse_bandwidth;
          const auto [known, is_new] = covered.try_emplace(std::pair(gpus[i], gpus[j]), bandwidth);
          ASSERT_EQ(known->second, bandwidth) << "a pair has one bandwidth";
        }
      }
    }
    ASSERT_EQ(covered, table.bandwidth);
  }
}

/// Programs with these names and outputs, on a PATH of their own.
class FakeTools {
 public:
  FakeTools() {
    const char* const path = std::getenv("PATH");
    if (path != nullptr) path_ = path;
    ::setenv("PATH", directory_->path().c_str(), 1);
  }
  ~FakeTools() {
    if (path_) ::setenv("PATH", path_->c_str(), 1);
  }
  FakeTools(const FakeTools&) = delete;
  FakeTools& operator=(const FakeTools&) = delete;

  void add(const std::string& name, const std::string& output, int status = 0) const {
    const std::string program = directory_->file(name), text = directory_->file(name + ".txt");
    EXPECT_TRUE(write_file(text, output));
    EXPECT_TRUE(write_file(program, fmt::format("#!/bin/sh\n/bin/cat '{}'\nexit {}\n", text, status)));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

 private:
  Result<TemporaryDirectory> directory_ = TemporaryDirectory::make();
  std::optional<std::string> path_;
};

TEST(GpuLinks, OfAHostComeFromTheToolThatKnowsItsGpus) {
  const std::array<std::uint32_t, 4> gpus{0, 1, 2, 3};
  const FakeTools tools;
  EXPECT_TRUE(query_gpu_links(gpus).table.bandwidth.empty()) << "no tool is installed";
  tools.add("nvidia-smi", "NVIDIA-SMI has failed", 9);
  HostGpuLinks links = query_gpu_links(gpus);
  EXPECT_TRUE(links.table.bandwidth.empty());
  EXPECT_TRUE(links.remarks.empty()) << "a tool that fails is ignored";
  tools.add("rocm-smi", four_mi250x_gpus());
  EXPECT_EQ(query_gpu_links(gpus).table.bandwidth.size(), 4U);
  tools.add("nvidia-smi", four_a100);
  EXPECT_EQ(query_gpu_links(gpus).table.bandwidth.size(), 6U);
  EXPECT_TRUE(query_gpu_links(std::span(gpus).first(1)).table.bandwidth.empty());
  tools.add("rocm-smi", "", 1);
  links = query_gpu_links(std::span(gpus).first(3));
  EXPECT_TRUE(links.table.bandwidth.empty()) << "the numbers of the tool are not those of the host";
  ASSERT_EQ(links.remarks.size(), 1U);
  EXPECT_THAT(links.remarks[0].what, HasSubstr("nvidia-smi lists 4 GPUs, and the PCI bus 3"));
  tools.add("nvidia-smi", "hello");
  links = query_gpu_links(gpus);
  ASSERT_EQ(links.remarks.size(), 1U);
  EXPECT_THAT(links.remarks[0].what, HasSubstr("nvidia-smi topo -m: the output has no table of GPUs"));
}

}  // namespace
}  // namespace rankloom
