// SPDX-License-Identifier: Apache-2.0
// tests: traces of PyTorch and logs of NCCL. The texts are written by hand after the sources and the documentation of
// PyTorch, Kineto and NCCL. The files in tests/data/torch were written by PyTorch 2.11 with NCCL 2.28 on one GPU, and
// with gloo on four ranks; they are shortened to the records of communication.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "rankloom/capture/import/torch/group_calls.hpp"
#include "rankloom/capture/import/torch/json_records.hpp"
#include "tests/capture/import_support.hpp"
#include "tests/capture/trace_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using testing::find_call;
using testing::read_as;

namespace fs = std::filesystem;

/// A directory that is removed at the end of the test.
class Directory {
 public:
  Directory() : path_(fs::temp_directory_path() / fmt::format("rankloom-torch-{}", ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string kineto_event(const std::string& call, int elements, const std::string& more) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 5.5, "dur": 2,
 "args": {{"Collective name": "{}", "dtype": "BFloat16", "In msg nelems": {}, "Out msg nelems": {}, {}}}}})",
      call, elements, elements, more);
}

std::string kineto_file(int rank, const std::string& events) {
  return fmt::format(
      R"({{"schemaVersion": 1,
"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": 4, "pg_count": 2, "pg_config": [
  {{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 4, "ranks": [0, 1, 2, 3]}},
  {{"pg_name": "1", "pg_desc": "tp", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": [{}, {}]}}]}},
"traceEvents": [
{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {{"x": "]}}\"["}}}},
{}
]}})",
      rank, rank / 2 * 2, rank / 2 * 2 + 1, events);
}

const std::string tp = R"("Process Group Name": "1", "Process Group Description": "tp", "Group size": 2, "Rank": 0)";
const std::string world =
    R"("Process Group Name": "0", "Process Group Ranks": "[0, 1, ...]", "Group size": 4, "Rank": 0)";

TEST(Kineto, EveryMemberReportsACallOfItsGroup) {
  const Directory directory;
  for (int rank = 0; rank < 4; ++rank) {
    directory.write(fmt::format("host_{}.17000{}.pt.trace.json", 100 + rank, 9 - rank),
                    kineto_file(rank, kineto_event("allreduce", 8, world) + "," + kineto_event("allreduce", 100, tp) +
                                          "," + kineto_event("allreduce", 100, tp)));
  }
  const auto imported = import_path(directory.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->format, "kineto");
  const Profile& profile = imported->profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  ASSERT_EQ(profile.communicators.size(), 3u) << "all, and two groups";
  double world_calls = 0, group_calls = 0;
  for (const Collective& call : profile.collectives) {
    EXPECT_EQ(call.op, CollectiveOp::allreduce);
    (call.bytes == 16 ? world_calls : group_calls) += call.count;
    EXPECT_TRUE(call.bytes == 16 || call.bytes == 200);
  }
  EXPECT_EQ(world_calls, 1);
  EXPECT_EQ(group_calls, 4) << "two calls of each of two groups";
  EXPECT_FALSE(profile.origin.contains("ranks without a file"));
}

TEST(Kineto, AFileOfOneRankCountsForItsGroups) {
  const Profile profile = read_as("kineto", kineto_file(2, kineto_event("allreduce", 100, tp))).profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 200).count, 1);
  EXPECT_TRUE(profile.origin.contains("ranks without a file"));
}

TEST(Kineto, MessagesAreCountedOnceIfBothSidesHaveAFile) {
  const Directory directory;
  directory.write("a.json", kineto_file(0, kineto_event("send", 50, tp + R"(, "Dst Rank": 1)")));
  directory.write("b.json", kineto_file(1, kineto_event("recv", 50, tp + R"(, "Src Rank": 0)") + "," +
                                               kineto_event("recv", 7, tp + R"(, "Src Rank": 3)")));
  const auto imported = import_path(directory.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(edges_of(imported->profile.point_to_point), (Edges{{{0, 1}, 100}, {{3, 1}, 14}}));
}

TEST(Kineto, SplitSizesOfAnAllToAllAreExact) {
  const Profile profile =
      read_as("kineto", kineto_file(1, kineto_event("all_to_allv", 30, tp + R"(, "In split size": "[20, 10]")")))
          .profile;
  EXPECT_EQ(edges_of(profile.expanded_collectives), (Edges{{{1, 0}, 40}}));
  EXPECT_TRUE(profile.collectives.empty());
}

TEST(Kineto, BlocksAreThoseOfTheOperation) {
  const auto event = [](const std::string& call, int in, int out) {
    return fmt::format(
        R"({{"cat": "cpu_op", "name": "record_param_comms", "args": {{"Collective name": "{}", "dtype": "Float", "In msg nelems": {}, "Out msg nelems": {}, {}}}}})",
        call, in, out, world);
  };
  const Profile profile =
      read_as("kineto", kineto_file(0, event("_allgather_base", 10, 40) + "," + event("_reduce_scatter_base", 80, 20) +
                                           "," + event("all_to_all", 12, 12) + "," + event("wait", 1, 1)))
          .profile;
  EXPECT_EQ(find_call(profile, CollectiveOp::allgather, 0, 40).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::reduce_scatter, 0, 80).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 12).count, 1);
  EXPECT_EQ(profile.origin.at("records left out"), "1 wait");
}

TEST(Kineto, ErrorsNameTheRecordAndTheLine) {
  testing::expect_errors("kineto",
                         {
                             {"{\"traceEvents\": [\n{\"a\": 1},\n{\"b\": ", 3, "malformed or ends here"},
                             {"{\"a\": 1}", 1, "no \"traceEvents\""},
                             {"{\"traceEvents\": [\n{},\n{\"name\": \"record_param_comms\", \"args\": {\"Collective "
                              "name\": \"allreduce\", "
                              "\"In msg nelems\": 1, \"dtype\": \"Odd\"}}]}",
                              3, "record 1: allreduce has no number of elements, or an unknown type \"Odd\""},
                             {"{\"traceEvents\": [\n{\"name\": \"record_param_comms\", \"args\": {\"Collective name\": "
                              "\"allreduce\", \"In msg "
                              "nelems\": 1, \"dtype\": \"Float\", \"Process Group Name\": \"7\"}}]}",
                              2, "record 0: the ranks of the process group \"7\" are not in the file"},
                             {"{\"traceEvents\": [\n{\"Collective name\": tru}]}", 2, "record 0 is not an object"},
                         });
  EXPECT_THAT(testing::error_as("kineto", "{\"traceEvents\": []}").what, ::testing::HasSubstr("no communication"));
}

std::string chakra_node(const std::string& call, int elements, int size, int first, int stride, int rank) {
  return fmt::format(
      R"({{"id": 9, "name": "record_param_comms", "ctrl_deps": 2,
 "inputs": {{"values": [[5,6,0,1,4,"cuda:0"], 3, ["0", "default_pg"], {}, "{}", [], [], {}, {}, {}], "shapes": [], "types": []}},
 "outputs": {{"values": [], "shapes": [], "types": []}},
 "attrs": [{{"name": "rf_id", "type": "uint64", "value": 1}},
  {{"name": "collective_name", "type": "string", "value": "{}"}}, {{"name": "dtype", "type": "string", "value": "Float"}},
  {{"name": "in_msg_nelems", "type": "uint64", "value": {}}}, {{"name": "out_msg_nelems", "type": "uint64", "value": {}}},
  {{"name": "global_rank_start", "type": "uint64", "value": {}}}, {{"name": "global_rank_stride", "type": "uint64", "value": {}}},
  {{"name": "pg_name", "type": "string", "value": "g{}-{}"}}, {{"name": "pg_size", "type": "uint64", "value": {}}}]}})",
      rank, call, first, stride, size, call, elements, elements, first, stride, first, size, size);
}

std::string chakra_file(const std::string& nodes) {
  return "{\n\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"time\": \"2026-01-01 00:00:00\", \"start_ts\": "
         "1,\n\"nodes\": [" +
         nodes + "], \"finish_ts\": 2}";
}

TEST(Chakra, GroupsHaveAFirstRankAndAStride) {
  const Directory directory;
  for (const int rank : {0, 1, 2, 3}) {
    directory.write(fmt::format("et_{}.json", rank),
                    chakra_file(chakra_node("allreduce", 25, 2, rank % 2, 2, rank / 2) + "," +
                                chakra_node(rank == 0 ? "send" : "recv", 5, 4, 0, 1, rank == 0 ? 3 : 0)));
  }
  const auto imported = import_path(directory.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  const Profile& profile = imported->profile;
  EXPECT_EQ(imported->format, "chakra");
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 3}, 20}}));
  ASSERT_EQ(profile.collectives.size(), 2u);
  for (const Collective& call : profile.collectives) {
    EXPECT_EQ(call.bytes, 100);
    EXPECT_EQ(call.count, 1);
    const auto& members = profile.communicators[call.communicator].members;
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(index(members[1]), index(members[0]) + 2);
  }
}

TEST(Chakra, GroupsOfTheTraceHaveTheirNames) {
  const std::string groups =
      R"({"id": 3, "name": "## process_group:init ##", "inputs": {"values": ["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"ranks\": [], \"group_size\": 8, \"group_count\": 2}]"]}, "attrs": []},)";
  std::string node = chakra_node("allreduce", 2, 1, 0, 0, 0);
  node.replace(node.find("g0-1"), 4, "0");
  const Profile profile = read_as("chakra", chakra_file(groups + node)).profile;
  EXPECT_EQ(profile.rank_count(), 8u);
  ASSERT_EQ(profile.communicators.size(), 1u);
  EXPECT_EQ(profile.communicators[0].name, "default_pg");
  EXPECT_TRUE(profile.communicators[0].members.empty()) << "all ranks";
}

TEST(Chakra, ErrorsNameTheRecordAndTheLine) {
  testing::expect_errors("chakra",
                         {
                             {"{\"schema\": \"1\",\n\"nodes\": [{}, {]}", 2, "malformed or ends here"},
                             {"{\"schema\": \"1\"}", 1, "no \"nodes\""},
                             {chakra_file("\n" + chakra_node("broadcast", 2, 2, 0, 0, 0)), 4, "record 0: the ranks"},
                         });
}

Result<Imported> import_data(const std::string& name) {
  return import_path(RANKLOOM_TEST_DATA "/torch/" + name);
}

/// Calls and bytes of one rank with NCCL: two allreduces, in the default group and in the group "tp"; in the default
/// group an allgather, a reduce-scatter, an all-to-all, a broadcast and a barrier. Each has 1,000 elements of 2 bytes.
void expect_calls_of_nccl(const Profile& profile) {
  EXPECT_EQ(profile.rank_count(), 1u);
  std::map<CollectiveOp, std::pair<double, double>> found;  // calls, bytes
  for (const Collective& call : profile.collectives) {
    found[call.op].first += call.count;
    found[call.op].second += call.count * call.bytes;
  }
  const std::map<CollectiveOp, std::pair<double, double>> expected{
      {CollectiveOp::allreduce, {2, 4000}},      {CollectiveOp::allgather, {1, 2000}},
      {CollectiveOp::reduce_scatter, {1, 2000}}, {CollectiveOp::alltoall, {1, 2000}},
      {CollectiveOp::bcast, {1, 2000}},          {CollectiveOp::barrier, {1, 0}}};
  EXPECT_EQ(found, expected);
}

TEST(FilesOfNccl, HaveTheCallsOfTheProgram) {
  for (const char* const name :
       {"nccl_kineto_rank_0.json", "nccl_execution_rank_0.json", "nccl_flight_recorder_rank_0.json"}) {
    SCOPED_TRACE(name);
    const auto imported = import_data(name);
    ASSERT_TRUE(imported) << to_string(imported.error());
    expect_calls_of_nccl(imported->profile);
  }
}

/// The log of NCCL has the barrier as an allreduce of one number of four bytes, and no reduce-scatter of a single rank.
TEST(FilesOfNccl, LogsHaveTheCallsOfTheLibrary) {
  const auto imported = import_data("nccl.log");
  ASSERT_TRUE(imported) << to_string(imported.error());
  const Profile& profile = imported->profile;
  EXPECT_EQ(profile.communicators.size(), 2u);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 4).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allgather, 0, 2000).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 2000).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::bcast, 0, 2000).count, 1);
}

TEST(FilesOfGloo, AreRefusedBecauseTheyHaveNoGroups) {
  for (const char* const name : {"gloo_kineto_rank_0.json", "gloo_execution_rank_0.json"}) {
    const auto imported = import_data(name);
    ASSERT_FALSE(imported) << name;
    EXPECT_THAT(imported.error().what,
                ::testing::HasSubstr("calls of torch.distributed, but not their groups and bytes"));
    EXPECT_THAT(imported.error().hint, ::testing::HasSubstr("rankloom record"));
  }
  const auto dump = import_data("gloo_flight_recorder_rank_0.json");
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error().what, ::testing::HasSubstr("process group"));
}

std::string flight_entry(const std::string& name, const std::string& group, int in, int out) {
  return fmt::format(
      R"({{"collective_seq_id": 1, "input_dtypes": ["Half"], "input_sizes": [[{}, 2]], "is_p2p": false, "op_id": 1,
 "output_dtypes": ["Half"], "output_sizes": [[{}, 2]], "p2p_seq_id": 0, "pg_id": 0, "process_group": ["{}", "x"],
 "profiling_name": "{}", "record_id": 0, "retired": true, "state": "completed"}})",
      in, out, group, name);
}

std::string flight_file(const std::string& entries) {
  return R"({"comm_lib_version": "2.27.5", "entries": [)" + entries +
         R"(], "pg_config": {"0": {"desc": "default_pg", "name": "0", "ranks": "[0, 1, 2]"},
 "5": {"desc": "pp", "name": "5", "ranks": "[1, 2]"}}, "pg_status": {}, "version": "2.10"})";
}

TEST(FlightRecorder, ReadsCollectivesAndMessages) {
  const Directory directory;
  const std::string all =
      flight_entry("nccl:all_reduce", "0", 10, 10) + "," + flight_entry("nccl:_all_gather_base", "0", 1, 3);
  directory.write("nccl_trace_rank_0.json", flight_file(all));
  directory.write("nccl_trace_rank_1.json", flight_file(all + "," + flight_entry("nccl:send 0->1", "5", 6, 6)));
  directory.write("nccl_trace_rank_2.json", flight_file(all + "," + flight_entry("nccl:recv 1<-0", "5", 6, 6)));
  const auto imported = import_path(directory.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  const Profile& profile = imported->profile;
  EXPECT_EQ(imported->format, "flight-recorder");
  EXPECT_EQ(profile.rank_count(), 3u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{1, 2}, 24}}));
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 40).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allgather, 0, 4).count, 1);
}

TEST(FlightRecorder, SaysThatRootsAreUnknown) {
  const Profile profile = read_as("flight-recorder", flight_file(flight_entry("nccl:broadcast", "0", 3, 3))).profile;
  EXPECT_THAT(profile.origin.at("unknown roots"), ::testing::HasSubstr("1 call"));
}

TEST(FlightRecorder, RefusesPickleByName) {
  const std::string pickle("\x80\x02}q\x00.", 6);
  EXPECT_EQ(testing::recognised(pickle), "pickle");
  const Error error = testing::error_as("", pickle);
  EXPECT_THAT(error.what, ::testing::HasSubstr("pickle"));
  EXPECT_THAT(error.hint, ::testing::HasSubstr("convert it to JSON"));
}

TEST(FlightRecorder, ErrorsNameTheRecord) {
  testing::expect_errors("flight-recorder",
                         {
                             {"{\"entries\": []}", 1, "no \"pg_config\""},
                             {flight_file("\n{}"), 2, "record 0 has no \"profiling_name\""},
                             {flight_file("\n" + flight_entry("nccl:all_reduce", "9", 1, 1)), 2, "record 0"},
                         });
}

/// Two processes on each of two hosts: the communicator of all, and one on each host.
std::string nccl_lines(int rank, const std::string& more) {
  const std::string line = fmt::format("host{}:{}:{} [{}] NCCL INFO ", rank / 2, 100 + rank, 200 + rank, rank % 2);
  std::string text = fmt::format(
      "{0}ncclCommInitRankConfig comm 0xaa{1} rank {1} nranks 4 cudaDev {2} nvmlDev {2} busId 1000 commId 0xabc - Init "
      "START\n"
      "{0}Channel 00/02 : 0 1 2 3\n"
      "{0}Channel 00/0 : {1}[{2}] -> {3}[0] [send] via NET/IB/0/GDRDMA\n"
      "{0}ncclCommInitRankConfig comm 0xaa{1} rank {1} nranks 4 cudaDev {2} nvmlDev {2} busId 1000 commId 0xabc - Init "
      "COMPLETE\n"
      "{0}ncclCommSplit comm 0xbb{1} rank {2} nranks 2 cudaDev {2} nvmlDev {2} busId 1000 parent 0xaa{1} splitCount 1 "
      "color {4} key 0 - Init START\n",
      line, rank, rank % 2, (rank + 1) % 4, rank / 2);
  for (std::size_t at = 0; at < more.size();) {
    const std::size_t end = more.find('\n', at);
    text += line + more.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

std::string nccl_call(const std::string& name, int count, int root, const std::string& comm) {
  return fmt::format(
      "{}: opCount 2a sendbuff 0x7f recvbuff 0x7f count {} datatype 7 op 0 root {} comm {} [nranks=4] stream 0x1\n",
      name, count, root, comm);
}

TEST(NcclLog, CallsBelongToTheirCommunicators) {
  std::string text = "unrelated line\n";
  for (int rank = 0; rank < 4; ++rank) {
    text += nccl_lines(rank, nccl_call("AllReduce", 10, 0, fmt::format("0xaa{}", rank)) +
                                 nccl_call("AllGather", 5, 0, fmt::format("0xbb{}", rank)) +
                                 (rank == 3 ? nccl_call("Send", 4, 1, "0xaa3") : "") +
                                 (rank == 1 ? nccl_call("Recv", 4, 3, "0xaa1") : ""));
  }
  EXPECT_EQ(testing::recognised(text), "nccl-log");
  const Profile profile = read_as("nccl-log", text).profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{3, 1}, 16}}));
  EXPECT_EQ(profile.communicators.size(), 3u);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 40).count, 1);
  double gathers = 0;
  for (const Collective& call : profile.collectives)
    if (call.op == CollectiveOp::allgather) gathers += call.count;
  EXPECT_EQ(gathers, 2);
}

TEST(NcclLog, WithoutCallsChannelsAreCounted) {
  const Directory directory;
  for (int rank = 0; rank < 4; ++rank) directory.write(fmt::format("nccl.host.{}.log", rank), nccl_lines(rank, ""));
  const auto imported = import_path(directory.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(edges_of(imported->profile.point_to_point), (Edges{{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 1}, {{3, 0}, 1}}));
  EXPECT_THAT(imported->profile.origin.at("bytes"), ::testing::HasSubstr("numbers of channels"));
}

TEST(NcclLog, ErrorsSayWhatIsMissing) {
  EXPECT_THAT(testing::error_as("nccl-log", nccl_lines(0, "")).what, ::testing::HasSubstr("rank 1 of the largest"));
  testing::expect_errors(
      "nccl-log",
      {
          {"a:1:2 [0] NCCL INFO AllReduce: opCount 0 count 1 datatype 7 op 0 root 0 comm 0x1\n", 1,
           "the communicator of AllReduce is not known"},
          {"\na:1:2 [0] NCCL INFO AllReduce: opCount 0 count x datatype 7 op 0 root 0 comm 0x1\n", 2, "no valid count"},
          {"a:1:2 [0] NCCL INFO comm 0x1 rank 3 nranks 2 cudaDev 0 commId 0x2 - Init START\n", 1, "invalid"},
      });
}

TEST(RankFiles, AListNamesTheFiles) {
  const Directory directory;
  for (int rank = 0; rank < 2; ++rank)
    directory.write(fmt::format("r{}.json", rank), kineto_file(rank, kineto_event("allreduce", 100, tp)));
  const std::string names = directory.write("files.txt", "r0.json\nr1.json\n");
  const auto imported = import_path(names);
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(find_call(imported->profile, CollectiveOp::allreduce, 0, 200).count, 1);
  const auto missing = import_path(directory.write("files.txt", "r0.json\nr7.json\n"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where.line, 2u);
  const auto twice = import_path(directory.write("files.txt", "r0.json\nr0.json\n"));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().what, ::testing::HasSubstr("another file is also of rank 0"));
}

TEST(JsonRecords, SplitsWithoutReadingValues) {
  JsonRecords members(R"( {"a": [1, "]", {"b": "}\""}], "c" : true,"d":"x,y"} )");
  std::vector<std::pair<std::string, std::string>> found;
  while (const auto member = members.next()) found.emplace_back(member->key, member->value);
  EXPECT_EQ(members.error(), nullptr);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, std::string>>{
                       {"a", R"([1, "]", {"b": "}\""}])"}, {"c", "true"}, {"d", "\"x,y\""}}));
  for (const std::string text : {"", "x", "{", "[", "[1", "[1 2]", "{\"a\" 1}", "{\"a\":}", "[\"a]", "{a: 1}", "[,]"}) {
    JsonRecords broken(text);
    while (broken.next()) {
    }
    EXPECT_NE(broken.error(), nullptr) << text;
  }
}

TEST(TorchCalls, AreRecognisedByTheirNames) {
  EXPECT_EQ(find_torch_call("nccl:_all_gather_base")->op, CollectiveOp::allgather);
  EXPECT_EQ(find_torch_call("reduce_scatter_tensor_coalesced")->op, CollectiveOp::reduce_scatter);
  EXPECT_EQ(find_torch_call("AllReduce")->op, CollectiveOp::allreduce);
  EXPECT_EQ(find_torch_call("nccl:send 0->1")->kind, TorchCall::Kind::send);
  EXPECT_EQ(find_torch_call("recvAnySource")->kind, TorchCall::Kind::receive);
  EXPECT_EQ(find_torch_call("nccl:all_reduce_barrier")->op, CollectiveOp::barrier);
  EXPECT_FALSE(find_torch_call("broadcastUniqueNCCLID")) << "sent over the store";
  EXPECT_FALSE(find_torch_call("wait"));
  EXPECT_FALSE(find_torch_call("nccl:coalesced"));
  EXPECT_EQ(torch_element_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(torch_element_bytes("BFloat16"), 2);
  EXPECT_EQ(torch_element_bytes("Float"), 4);
  EXPECT_FALSE(torch_element_bytes("Odd"));
  EXPECT_EQ(number_in_name("/x7/rank_3.json"), 3u);
  EXPECT_FALSE(number_in_name("/x7/rank.json"));
}

}  // namespace
}  // namespace rankloom
