// SPDX-License-Identifier: Apache-2.0
// capture/record: rank 0 writes the records of all ranks into one file, which it receives through MPI. If the file
// cannot be written, every rank learns of it and keeps its own file.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

namespace {

constexpr std::uint64_t max_message_size = std::uint64_t{256} << 10;
constexpr int tag = 1;

/// Sets errno if it returns false.
bool write_all(int file, const char* from, std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return true;
}

void send_record(const RankRecord& record, std::uint64_t bytes, MPI_Comm comm) {
  const auto* const from = reinterpret_cast<const char*>(&record);
  for (std::uint64_t at = 0; at < bytes; at += max_message_size) {
    const std::uint64_t part = bytes - at < max_message_size ? bytes - at : max_message_size;
    pmpi::Send(from + at, static_cast<int>(part), type_byte(), 0, tag, comm);
  }
}

/// Rank 0 writes the records in the order of ranks, or nothing if `file` is negative. After a write error it still
/// receives the rest, because the other ranks block in their sends. Returns the errno of the first error, or 0.
int receive_records(const std::uint64_t* sizes, int file, MPI_Comm comm) {
  constinit static char buffer[max_message_size];
  int error = 0;
  for (int rank = 1; rank < recorder.ranks; ++rank) {
    for (std::uint64_t at = 0; at < sizes[rank]; at += max_message_size) {
      const std::uint64_t part = sizes[rank] - at < max_message_size ? sizes[rank] - at : max_message_size;
      pmpi::Recv(buffer, static_cast<int>(part), type_byte(), rank, tag, comm, MPI_STATUS_IGNORE);
      if (file >= 0 && error == 0 && !write_all(file, buffer, part)) error = errno;
    }
  }
  return error;
}

/// Writes to a temporary file and renames it, so that a file with the final name is always complete. Returns the errno
/// of the first error, or 0.
int write_recording(const RankRecord& own, const std::uint64_t* sizes, const char* path, MPI_Comm comm) {
  char temporary[PATH_MAX];
  std::snprintf(temporary, sizeof temporary, "%s.tmp", path);
  const int file = ::open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  int error = file >= 0 && write_all(file, reinterpret_cast<const char*>(&own), own.used) ? 0 : errno;
  const int error_of_others = receive_records(sizes, error == 0 ? file : -1, comm);
  if (error == 0) error = error_of_others;
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary, path) != 0) error = errno;
  if (error != 0 && file >= 0) ::unlink(temporary);
  return error;
}

}  // namespace

int gather(const RankRecord& record, const char* path) {
  MPI_Comm comm{};
  if (pmpi::Comm_dup(recorder.world, &comm) != MPI_SUCCESS) return ECOMM;
  std::uint64_t* sizes = nullptr;
  if (recorder.rank == 0) sizes = static_cast<std::uint64_t*>(std::calloc(recorder.ranks, sizeof *sizes));
  constexpr int size_of_error = sizeof(int), size_of_size = sizeof *sizes;
  // If rank 0 has no memory for the sizes, no rank sends its record.
  int error = recorder.rank != 0 || sizes != nullptr ? 0 : ENOMEM;
  pmpi::Bcast(&error, size_of_error, type_byte(), 0, comm);
  if (error == 0) {
    std::uint64_t bytes = record.used;
    pmpi::Gather(&bytes, size_of_size, type_byte(), sizes, size_of_size, type_byte(), 0, comm);
    if (recorder.rank == 0) {
      error = write_recording(record, sizes, path, comm);
    } else {
      send_record(record, bytes, comm);
    }
    pmpi::Bcast(&error, size_of_error, type_byte(), 0, comm);
  }
  std::free(sizes);
  pmpi::Comm_free(&comm);
  return error;
}

}  // namespace rankloom::record
