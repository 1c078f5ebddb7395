// SPDX-License-Identifier: Apache-2.0
// model/files: a communication graph as chunks: a header, then its columns in blocks. docs/formats.md describes every
// byte.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/chunk_file.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Which graph of a profile this is.
enum class GraphRole : std::uint32_t { point_to_point = 0, expanded_collectives = 1, phase = 2, phase_collectives = 3 };

inline constexpr std::string_view graph_header_tag = "GRPH";

void write_graph(const CommGraph& graph, GraphRole role, Sink& sink);

/// How many bytes of memory a byte of a chunk with this tag needs; 0 if the tag is not that of a graph.
double graph_expansion(std::string_view tag);

/// The role in the header of a graph; newer programs may write roles that this program does not know.
Result<std::uint32_t> graph_role(const FileContents& file, const Chunk& header);
/// Reads the graph whose header is chunks[0]; its columns are the following chunks up to the next header. Validates
/// everything that CommGraph requires.
Result<CommGraph> read_graph(const FileContents& file, std::span<const Chunk> chunks);

}  // namespace rankloom
