// SPDX-License-Identifier: Apache-2.0
// capture/record: the images of all ranks become one file.
#include "rankloom/capture/record/gather.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

namespace {

constexpr std::uint64_t largest_message = std::uint64_t{256} << 10;
constexpr int tag = 1;

bool write_all(int file, const char* from, std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return true;
}

void send_image(const RankImage& image, std::uint64_t bytes, MPI_Comm comm) {
  const auto* const from = reinterpret_cast<const char*>(&image);
  for (std::uint64_t at = 0; at < bytes; at += largest_message) {
    const std::uint64_t part = bytes - at < largest_message ? bytes - at : largest_message;
    pmpi::Send(from + at, static_cast<int>(part), type_byte(), 0, tag, comm);
  }
}

/// Rank 0 writes in the order of ranks what comes; what cannot be written is received all the same.
bool receive_images(const std::uint64_t* sizes, int file, MPI_Comm comm) {
  constinit static char room[largest_message];
  bool good = file >= 0;
  for (int rank = 1; rank < recorder.ranks; ++rank) {
    for (std::uint64_t at = 0; at < sizes[rank]; at += largest_message) {
      const std::uint64_t part = sizes[rank] - at < largest_message ? sizes[rank] - at : largest_message;
      pmpi::Recv(room, static_cast<int>(part), type_byte(), rank, tag, comm, MPI_STATUS_IGNORE);
      good = good && write_all(file, room, part);
    }
  }
  return good;
}

bool write_recording(const RankImage& own, const std::uint64_t* sizes, const char* path, MPI_Comm comm) {
  char temporary[PATH_MAX];
  std::snprintf(temporary, sizeof temporary, "%s.tmp", path);
  const int file = ::open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0 && write_all(file, reinterpret_cast<const char*>(&own), own.used);
  good = receive_images(sizes, good ? file : -1, comm) && good;
  if (file >= 0) good = ::close(file) == 0 && good;
  good = good && std::rename(temporary, path) == 0;
  if (!good && file >= 0) ::unlink(temporary);
  return good;
}

}  // namespace

bool gather(const RankImage& image, const char* path) {
  MPI_Comm comm{};
  if (pmpi::Comm_dup(recorder.world, &comm) != MPI_SUCCESS) return false;
  std::uint64_t* sizes = nullptr;
  if (recorder.rank == 0) sizes = static_cast<std::uint64_t*>(std::calloc(recorder.ranks, sizeof *sizes));
  constexpr int size_of_good = sizeof(int), size_of_size = sizeof *sizes;
  // Rank 0 without memory for the sizes asks nobody for anything.
  int good = recorder.rank != 0 || sizes != nullptr ? 1 : 0;
  pmpi::Bcast(&good, size_of_good, type_byte(), 0, comm);
  if (good != 0) {
    std::uint64_t bytes = image.used;
    pmpi::Gather(&bytes, size_of_size, type_byte(), sizes, size_of_size, type_byte(), 0, comm);
    if (recorder.rank == 0) {
      good = write_recording(image, sizes, path, comm) ? 1 : 0;
    } else {
      send_image(image, bytes, comm);
    }
    pmpi::Bcast(&good, size_of_good, type_byte(), 0, comm);
  }
  std::free(sizes);
  pmpi::Comm_free(&comm);
  return good != 0;
}

}  // namespace rankloom::record
