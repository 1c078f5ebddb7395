// SPDX-License-Identifier: Apache-2.0
// model/files: the container format of profiles: tagged chunks with length and checksums, compressed if that saves
// space. docs/formats.md describes every byte.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

/// CRC-32 as in zlib, PNG and Ethernet.
std::uint32_t checksum(std::string_view bytes);

/// A chunk in a file. Its header is validated, its content is not.
struct Chunk {
  std::string_view tag;      ///< Four characters.
  std::uint64_t offset = 0;  ///< Of the header in the file.
  std::uint64_t size = 0;    ///< Of the uncompressed content.
  bool compressed = false;
  std::uint32_t checksum = 0;
  std::string_view stored;  ///< The content in the file.
};

/// An error that names the chunk.
Failure damaged(const FileContents& file, const Chunk& chunk, std::string what);

/// All chunks from `start` to the chunk "END ", which is not part of the result. Nothing may follow that chunk.
Result<std::vector<Chunk>> list_chunks(const FileContents& file, std::size_t start);

/// Verifies the checksum and decompresses; `out` has the size of the chunk.
Result<void> unpack(const FileContents& file, const Chunk& chunk, std::span<char> out);
Result<std::string> unpack(const FileContents& file, const Chunk& chunk);

/// Header and content for writing. Thread-safe.
std::string pack(std::string_view tag, std::string_view content);

}  // namespace rankloom
