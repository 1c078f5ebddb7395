// SPDX-License-Identifier: Apache-2.0
// tests: writes an OTF2 archive with libotf2, as Score-P lays it out: three ranks, of which rank 0 has a second thread,
// with locations in another order than the ranks.
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <otf2/otf2.h>
#include <unistd.h>

namespace rankloom::testing {

class Otf2Archive {
 public:
  Otf2Archive() : directory_(std::filesystem::temp_directory_path() / fmt::format("rankloom-otf2-{}", ::getpid())) {
    std::filesystem::remove_all(directory_);
    archive_ = OTF2_Archive_Open(directory_.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    static const OTF2_FlushCallbacks flush = {
        [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType { return OTF2_FLUSH; }, nullptr};
    OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    OTF2_Archive_SetCreator(archive_, "Score-P 8.0");
    write_events();
    write_local_definitions();
    write_definitions();
    OTF2_Archive_Close(archive_);
  }
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;
  ~Otf2Archive() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string path() const { return directory_.string(); }

 private:
  static constexpr OTF2_LocationRef rank_locations[] = {1 << 16, 5, 77};  // of ranks 0, 1, 2
  static constexpr OTF2_LocationRef thread = 3;                           // of rank 0
  static constexpr OTF2_CommRef world = 4, self = 9;
  static constexpr OTF2_RmaWinRef window = 2;
  static constexpr std::uint32_t proc_null = UINT32_MAX - 1;  // MPI_PROC_NULL

  void write_events() {
    OTF2_Archive_OpenEvtFiles(archive_);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      OTF2_EvtWriter* const out = OTF2_Archive_GetEvtWriter(archive_, rank_locations[rank]);
      const auto collective = [&](OTF2_CollectiveOp op, std::uint32_t root, std::uint64_t sent,
                                  std::uint64_t received) {
        OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, 5);
        OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, 5, op, world, root, sent, received);
      };
      OTF2_EvtWriter_MpiSend(out, nullptr, 1, (rank + 1) % 3, world, 0, 64);
      OTF2_EvtWriter_MpiSend(out, nullptr, 2, proc_null, world, 0, 64);
      collective(OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_UNDEFINED_UINT32, 0, 0);
      collective(OTF2_COLLECTIVE_OP_BCAST, 1, rank == 1 ? 300 : 0, 100);
      collective(OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_UNDEFINED_UINT32, 24, 24);
      collective(OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_UNDEFINED_UINT32, 30, 30);
      if (rank == 0) OTF2_EvtWriter_RmaPut(out, nullptr, 7, window, 2, 500, 0);
      if (rank == 1) OTF2_EvtWriter_RmaGet(out, nullptr, 7, window, 2, 300, 0);
      if (rank == 1) OTF2_EvtWriter_MpiIsend(out, nullptr, 8, 0, self, 0, 9, 1);
      OTF2_Archive_CloseEvtWriter(archive_, out);
    }
    OTF2_EvtWriter* const out = OTF2_Archive_GetEvtWriter(archive_, thread);
    OTF2_EvtWriter_MpiSend(out, nullptr, 1, 1, world, 0, 7);
    OTF2_Archive_CloseEvtWriter(archive_, out);
    OTF2_Archive_CloseEvtFiles(archive_);
  }

  void write_local_definitions() {
    OTF2_Archive_OpenDefFiles(archive_);
    for (const OTF2_LocationRef location : {rank_locations[0], rank_locations[1], rank_locations[2], thread})
      OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, location));
    OTF2_Archive_CloseDefFiles(archive_);
  }

  void write_definitions() {
    OTF2_GlobalDefWriter* const out = OTF2_Archive_GetGlobalDefWriter(archive_);
    OTF2_GlobalDefWriter_WriteClockProperties(out, 1000, 0, 10, 0);
    OTF2_GlobalDefWriter_WriteString(out, 0, "");
    OTF2_GlobalDefWriter_WriteString(out, 1, "MPI_COMM_WORLD");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      OTF2_GlobalDefWriter_WriteLocationGroup(out, 10 + rank, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                              OTF2_UNDEFINED_LOCATION_GROUP);
      OTF2_GlobalDefWriter_WriteLocation(out, rank_locations[rank], 0, OTF2_LOCATION_TYPE_CPU_THREAD, 10, 10 + rank);
    }
    OTF2_GlobalDefWriter_WriteLocation(out, thread, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 1, 10);
    const std::uint64_t members[] = {0, 1, 2};
    OTF2_GlobalDefWriter_WriteGroup(out, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    3, rank_locations);
    OTF2_GlobalDefWriter_WriteGroup(out, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 3,
                                    members);
    OTF2_GlobalDefWriter_WriteGroup(out, 2, 0, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0,
                                    nullptr);
    OTF2_GlobalDefWriter_WriteComm(out, world, 1, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteComm(out, self, 0, 2, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteRmaWin(out, window, 0, world, OTF2_RMA_WIN_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive_, out);
  }

  std::filesystem::path directory_;
  OTF2_Archive* archive_ = nullptr;
};

}  // namespace rankloom::testing
