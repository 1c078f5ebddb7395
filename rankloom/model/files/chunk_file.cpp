// SPDX-License-Identifier: Apache-2.0
// model/files: the container format of profiles.
#include "rankloom/model/files/chunk_file.hpp"

#include <bit>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace rankloom {

static_assert(std::endian::native == std::endian::little, "chunk files are little-endian, like all supported machines");

namespace {

/// The header of a chunk in the file.
struct Header {
  char tag[4];
  std::uint32_t flags;
  std::uint64_t stored_size;
  std::uint64_t size;
  std::uint32_t checksum;         // of the content as stored
  std::uint32_t header_checksum;  // of the preceding 28 bytes
};
static_assert(sizeof(Header) == 32);

constexpr std::uint32_t flag_compressed = 1;
constexpr std::size_t min_compressed_size = 1024;
constexpr int compression_level = 1;  // for edge lists, higher levels take several times longer and save a few percent
/// zstd cannot encode 128 KiB in less than 4 bytes, so a larger ratio in a header is an error.
constexpr std::uint64_t max_compression_ratio = 32768;
constexpr std::string_view end_tag = "END ";

Header read_header(std::string_view bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::uint32_t header_checksum(const Header& header) {
  return checksum(bytes_of(header).substr(0, offsetof(Header, header_checksum)));
}

std::string printable(std::string_view tag) {
  std::string text;
  for (const char c : tag) text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return text;
}

Result<Chunk> next_chunk(const FileContents& file, std::size_t offset) {
  const std::string_view left = file.view().substr(offset);
  if (left.size() < sizeof(Header)) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("the file ends at byte {} without its END chunk", file.view().size()),
                "the file is truncated: copy or record it again");
  }
  const Header header = read_header(left);
  Chunk chunk{.tag = left.substr(0, 4),
              .offset = offset,
              .size = header.size,
              .compressed = (header.flags & flag_compressed) != 0,
              .checksum = header.checksum,
              .stored = {}};
  if (header.header_checksum != header_checksum(header)) return damaged(file, chunk, "the header is damaged");
  if (header.stored_size > left.size() - sizeof(Header)) return damaged(file, chunk, "the file ends inside the chunk");
  const bool plausible =
      chunk.compressed ? header.size / max_compression_ratio <= header.stored_size : header.size == header.stored_size;
  if (!plausible)
    return damaged(file, chunk, fmt::format("{} stored bytes cannot contain {}", header.stored_size, header.size));
  chunk.stored = left.substr(sizeof(Header), header.stored_size);
  return chunk;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Failure damaged(const FileContents& file, const Chunk& chunk, std::string what) {
  return fail(Code::bad_input, at(file.name()),
              fmt::format("chunk {} at byte {}: {}", printable(chunk.tag), chunk.offset, what),
              "the file is damaged or truncated: copy or record it again");
}

Result<std::vector<Chunk>> list_chunks(const FileContents& file, std::size_t start) {
  std::vector<Chunk> chunks;
  std::size_t offset = start;
  while (true) {
    auto chunk = next_chunk(file, offset);
    if (!chunk) return propagate(chunk);
    offset += sizeof(Header) + chunk->stored.size();
    if (chunk->tag == end_tag) break;
    chunks.push_back(*chunk);
  }
  if (offset != file.view().size()) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("{} bytes follow the END chunk", file.view().size() - offset),
                "something was appended to the file: copy or record it again");
  }
  return chunks;
}

Result<void> unpack(const FileContents& file, const Chunk& chunk, std::span<char> out) {
  if (checksum(chunk.stored) != chunk.checksum) return damaged(file, chunk, "the content is damaged");
  if (!chunk.compressed) {
    if (!out.empty()) std::memcpy(out.data(), chunk.stored.data(), out.size());
    return {};
  }
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0)
    return damaged(file, chunk, fmt::format("it cannot be decompressed: {}", ZSTD_getErrorName(size)));
  if (size != out.size())
    return damaged(file, chunk, fmt::format("it contains {} bytes instead of {}", size, out.size()));
  return {};
}

Result<std::string> unpack(const FileContents& file, const Chunk& chunk) {
  std::string content(chunk.size, '\0');
  if (auto done = unpack(file, chunk, std::span(content)); !done) return propagate(done);
  return content;
}

std::string pack(std::string_view tag, std::string_view content) {
  std::string packed(sizeof(Header), '\0');
  Header header{};
  std::memcpy(header.tag, tag.data(), sizeof header.tag);
  header.size = content.size();
  if (content.size() >= min_compressed_size) {
    packed.resize(sizeof(Header) + ZSTD_compressBound(content.size()));
    const std::size_t size = ZSTD_compress(packed.data() + sizeof(Header), packed.size() - sizeof(Header),
                                           content.data(), content.size(), compression_level);
    if (ZSTD_isError(size) == 0 && size < content.size()) {
      header.flags = flag_compressed;
      packed.resize(sizeof(Header) + size);
    }
  }
  if (header.flags == 0) packed.replace(sizeof(Header), std::string::npos, content);
  const std::string_view stored = std::string_view(packed).substr(sizeof(Header));
  header.stored_size = stored.size();
  header.checksum = checksum(stored);
  header.header_checksum = header_checksum(header);
  std::memcpy(packed.data(), &header, sizeof header);
  return packed;
}

}  // namespace rankloom
