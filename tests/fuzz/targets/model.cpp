// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: profiles with correct checksums, mappings, JSON.
#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "rankloom/model/files/chunk_file.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "tests/fuzz/check_profile.hpp"

namespace rankloom::fuzz {

namespace {

/// The header of a chunk, as docs/formats.md describes it.
struct ChunkHeader {
  char tag[4];
  std::uint32_t flags;
  std::uint64_t stored_size, size;
  std::uint32_t checksum, header_checksum;
};
static_assert(sizeof(ChunkHeader) == 32);

/// Makes all checksums match, and sizes where the rest of the file would be lost. Otherwise almost every mutated file
/// is rejected before its content is read.
std::string repair_chunks(std::string_view bytes) {
  std::string file(bytes);
  const std::size_t line_end = file.find('\n');
  std::size_t at = line_end == std::string::npos ? file.size() : line_end + 1;
  while (file.size() - at >= sizeof(ChunkHeader)) {
    ChunkHeader header;
    std::memcpy(&header, file.data() + at, sizeof header);
    const std::size_t left = file.size() - at - sizeof header;
    if (header.stored_size > left) header.stored_size = left;
    if ((header.flags & 1) == 0) header.size = header.stored_size;
    header.checksum = checksum(std::string_view(file).substr(at + sizeof header, header.stored_size));
    header.header_checksum = checksum({reinterpret_cast<const char*>(&header), offsetof(ChunkHeader, header_checksum)});
    std::memcpy(file.data() + at, &header, sizeof header);
    at += sizeof header + header.stored_size;
    if (std::string_view(header.tag, 4) == "END ") file.resize(at);
  }
  if (!file.ends_with(pack("END ", {}))) {
    file.resize(at);
    file += pack("END ", {});
  }
  return file;
}

void read_repaired_profile(std::string_view bytes) {
  const auto profile = read_profile(file_of(repair_chunks(bytes)));
  if (has_value(profile)) check_profile(*profile);
}

void read_any_mapping(std::string_view bytes) {
  const auto mapping = read_mapping(file_of(bytes));
  if (!has_value(mapping)) return;
  const std::string text = written([&](Sink& sink) { write_plain_mapping(mapping->core_of, sink, mapping->shapes); });
  const auto again = read_mapping(file_of(text));
  expect(again && again->core_of == mapping->core_of && again->shapes == mapping->shapes,
         "a mapping reads back to the same cores and shape");
}

void read_any_json(std::string_view bytes) {
  const auto json = parse_json(file_of(bytes));
  if (!has_value(json)) return;
  const std::string text = dump_json(*json);
  expect(dump_json(parse_json(std::string_view(text))) == text, "JSON reads back to the same text");
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  return {{"profile", read_repaired_profile}, {"mapping", read_any_mapping}, {"json", read_any_json}};
}

}  // namespace rankloom::fuzz
