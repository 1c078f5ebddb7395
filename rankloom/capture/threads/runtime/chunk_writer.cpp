// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: writes the chunks of a profile.
#include "rankloom/capture/threads/runtime/chunk_writer.hpp"

#include <array>
#include <bit>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

static_assert(std::endian::native == std::endian::little, "profiles are little-endian");

namespace rankloom::threads {

namespace {

/// The head of a chunk in the file.
struct Head {
  char tag[4];
  std::uint32_t flags;
  std::uint64_t stored_size;
  std::uint64_t size;
  std::uint32_t checksum;       // of the content
  std::uint32_t head_checksum;  // of the 28 bytes before
};
static_assert(sizeof(Head) == 32);

/// CRC-32 as in zlib. The runtime has its own, because it must not link zlib into the user's program; the readers in
/// rankloom/model use zlib's crc32().
constexpr auto make_crc_table() {
  std::array<std::uint32_t, 256> values{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
    values[byte] = value;
  }
  return values;
}
constexpr auto crc_table = make_crc_table();

std::uint32_t crc32(const void* bytes, std::size_t size) {
  std::uint32_t value = 0xffffffffU;
  for (std::size_t at = 0; at < size; ++at)
    value = (value >> 8) ^ crc_table[(value ^ static_cast<const unsigned char*>(bytes)[at]) & 0xff];
  return ~value;
}

}  // namespace

void ChunkWriter::open(const char* path) {
  file_ = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  error_ = file_ < 0 ? errno : 0;
  size_ = 0;
}

void ChunkWriter::put_text(const char* text) {
  const auto length = static_cast<std::uint32_t>(std::strlen(text));
  put(length);
  for (const char* at = text; *at != '\0'; ++at) put(*at);
}

void ChunkWriter::end(bool even_if_empty) {
  if (size_ == 0 && !even_if_empty) return;
  Head head{};
  std::memcpy(head.tag, tag_, sizeof head.tag);
  head.stored_size = head.size = size_;
  head.checksum = crc32(content_, size_);
  head.head_checksum = crc32(&head, sizeof head - sizeof head.head_checksum);
  write(&head, sizeof head);
  write(content_, size_);
  size_ = 0;
}

bool ChunkWriter::close() {
  if (file_ >= 0 && ::close(file_) != 0 && error_ == 0) error_ = errno;
  file_ = -1;
  return error_ == 0;
}

void ChunkWriter::write(const void* bytes, std::size_t size) {
  for (const char* at = static_cast<const char*>(bytes); size > 0 && error_ == 0;) {
    const ssize_t written = ::write(file_, at, size);
    if (written < 0 && errno != EINTR) error_ = errno;
    if (written <= 0) continue;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace rankloom::threads
