// SPDX-License-Identifier: Apache-2.0
// model: files made of tagged chunks.
#include "rankloom/model/files/chunk_file.hpp"

#include <array>
#include <bit>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <zstd.h>

namespace rankloom {

static_assert(std::endian::native == std::endian::little,
              "chunk files are little-endian, and so far is every machine we run on");

namespace {

/// The head of a chunk as it lies in the file.
struct Head {
  char tag[4];
  std::uint32_t flags;
  std::uint64_t stored_size;
  std::uint64_t size;
  std::uint32_t checksum;       // of the content as stored
  std::uint32_t head_checksum;  // of the 28 bytes before
};
static_assert(sizeof(Head) == 32);

constexpr std::uint32_t flag_compressed = 1;
constexpr std::size_t worth_compressing = 1024;
constexpr int compression_level = 1;  // on edge lists, higher levels take several times longer for a few percent
/// zstd cannot write 128 KiB in less than 4 bytes, so a chunk that claims to hold more than this is lying.
constexpr std::uint64_t highest_ratio = 32768;
constexpr std::string_view end_tag = "END ";

/// Eight tables, so that eight bytes are taken at a time (Kounavis, Berry 2008).
constexpr auto make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][byte] = value;
  }
  for (std::size_t table = 1; table < 8; ++table) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr auto crc_tables = make_crc_tables();

Head read_head(std::string_view bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

std::string_view bytes_of(const Head& head) {
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

std::uint32_t head_checksum(const Head& head) {
  return crc32(bytes_of(head).substr(0, offsetof(Head, head_checksum)));
}

std::string printable(std::string_view tag) {
  std::string text;
  for (const char c : tag) text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return text;
}

Result<Chunk> next_chunk(const FileContents& file, std::size_t place) {
  const std::string_view left = file.view().substr(place);
  if (left.size() < sizeof(Head)) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("the file ends at byte {} without its END chunk", file.view().size()),
                "it was cut short: copy or record it again");
  }
  const Head head = read_head(left);
  Chunk chunk{.tag = left.substr(0, 4),
              .place = place,
              .size = head.size,
              .compressed = (head.flags & flag_compressed) != 0,
              .checksum = head.checksum,
              .stored = {}};
  if (head.head_checksum != head_checksum(head)) return damaged(file, chunk, "its head is damaged");
  if (head.stored_size > left.size() - sizeof(Head)) return damaged(file, chunk, "the file ends inside it");
  const bool plausible =
      chunk.compressed ? head.size / highest_ratio <= head.stored_size : head.size == head.stored_size;
  if (!plausible) return damaged(file, chunk, fmt::format("{} bytes cannot hold {}", head.stored_size, head.size));
  chunk.stored = left.substr(sizeof(Head), head.stored_size);
  return chunk;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  const auto& t = crc_tables;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = t[7][word & 0xff] ^ t[6][word >> 8 & 0xff] ^ t[5][word >> 16 & 0xff] ^ t[4][word >> 24 & 0xff] ^
          t[3][word >> 32 & 0xff] ^ t[2][word >> 40 & 0xff] ^ t[1][word >> 48 & 0xff] ^ t[0][word >> 56];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

Failure damaged(const FileContents& file, const Chunk& chunk, std::string what) {
  return fail(Code::bad_input, at(file.name()),
              fmt::format("chunk {} at byte {}: {}", printable(chunk.tag), chunk.place, what),
              "the file is damaged or cut short: copy or record it again");
}

Result<std::vector<Chunk>> list_chunks(const FileContents& file, std::size_t start) {
  std::vector<Chunk> chunks;
  std::size_t place = start;
  while (true) {
    auto chunk = next_chunk(file, place);
    if (!chunk) return propagate(chunk);
    place += sizeof(Head) + chunk->stored.size();
    if (chunk->tag == end_tag) break;
    chunks.push_back(*chunk);
  }
  if (place != file.view().size()) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("{} bytes follow the END chunk", file.view().size() - place),
                "something was appended to the file: copy or record it again");
  }
  return chunks;
}

Result<void> unpack(const FileContents& file, const Chunk& chunk, std::span<char> out) {
  if (crc32(chunk.stored) != chunk.checksum) return damaged(file, chunk, "its content is damaged");
  if (!chunk.compressed) {
    if (!out.empty()) std::memcpy(out.data(), chunk.stored.data(), out.size());
    return {};
  }
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0)
    return damaged(file, chunk, fmt::format("it cannot be unpacked: {}", ZSTD_getErrorName(size)));
  if (size != out.size()) return damaged(file, chunk, fmt::format("it holds {} bytes instead of {}", size, out.size()));
  return {};
}

Result<std::string> unpack(const FileContents& file, const Chunk& chunk) {
  std::string content(chunk.size, '\0');
  if (auto done = unpack(file, chunk, std::span(content)); !done) return propagate(done);
  return content;
}

std::string pack(std::string_view tag, std::string_view content) {
  std::string packed(sizeof(Head), '\0');
  Head head{};
  std::memcpy(head.tag, tag.data(), sizeof head.tag);
  head.size = content.size();
  if (content.size() >= worth_compressing) {
    packed.resize(sizeof(Head) + ZSTD_compressBound(content.size()));
    const std::size_t size = ZSTD_compress(packed.data() + sizeof(Head), packed.size() - sizeof(Head), content.data(),
                                           content.size(), compression_level);
    if (ZSTD_isError(size) == 0 && size < content.size()) {
      head.flags = flag_compressed;
      packed.resize(sizeof(Head) + size);
    }
  }
  if (head.flags == 0) packed.replace(sizeof(Head), std::string::npos, content);
  const std::string_view stored = std::string_view(packed).substr(sizeof(Head));
  head.stored_size = stored.size();
  head.checksum = crc32(stored);
  head.head_checksum = head_checksum(head);
  std::memcpy(packed.data(), &head, sizeof head);
  return packed;
}

}  // namespace rankloom
