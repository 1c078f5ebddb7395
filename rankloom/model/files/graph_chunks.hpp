// SPDX-License-Identifier: Apache-2.0
// model: a graph as chunks of a file: a head, then its columns in blocks. docs/formats.md describes every byte.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/chunk_file.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Which of a profile's graphs a section holds.
enum class GraphRole : std::uint32_t { point_to_point = 0, expanded_collectives = 1, phase = 2, phase_collectives = 3 };

inline constexpr std::string_view graph_head_tag = "GRPH";

void write_graph(const CommGraph& graph, GraphRole role, Sink& sink);

/// The role that a graph's head names; it may be one that only newer programs know.
Result<std::uint32_t> graph_role(const FileContents& file, const Chunk& head);
/// Reads the graph whose head is chunks[0]; its columns are the chunks that follow, up to the next head. Checks
/// everything that CommGraph promises.
Result<CommGraph> read_graph(const FileContents& file, std::span<const Chunk> chunks);

}  // namespace rankloom
