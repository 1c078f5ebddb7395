// SPDX-License-Identifier: Apache-2.0
// model: files made of tagged chunks, each with its length and checksums, compressed when that pays. Profiles are
// stored so. docs/formats.md describes every byte.
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

/// CRC-32 as zlib, PNG and Ethernet compute it.
std::uint32_t crc32(std::string_view bytes);

/// A chunk as it lies in the file: its head is checked, its content not yet.
struct Chunk {
  std::string_view tag;     ///< Four characters.
  std::uint64_t place = 0;  ///< Where its head starts in the file.
  std::uint64_t size = 0;   ///< Of the content, unpacked.
  bool compressed = false;
  std::uint32_t checksum = 0;
  std::string_view stored;  ///< The content as it is stored.
};

/// The error that names a chunk.
Failure damaged(const FileContents& file, const Chunk& chunk, std::string what);

/// All chunks from this place up to the one called "END ", which is not part of the result. Nothing may follow that.
Result<std::vector<Chunk>> list_chunks(const FileContents& file, std::size_t start);

/// Checks and unpacks into memory of exactly the chunk's size.
Result<void> unpack(const FileContents& file, const Chunk& chunk, std::span<char> out);
Result<std::string> unpack(const FileContents& file, const Chunk& chunk);

/// Head and content, ready to be written. Safe to call from several threads.
std::string pack(std::string_view tag, std::string_view content);

}  // namespace rankloom
