// SPDX-License-Identifier: Apache-2.0
// tests: workloads from Slurm's accounting.
#include <gtest/gtest.h>

#include "rankloom/allocate/workload/workload.hpp"

namespace rankloom {
namespace {

Result<Workload> workload_of(const std::string& text) {
  return read_sacct(FileContents("jobs.txt", text));
}

constexpr const char* listing =
    "JobID|Submit|Start|End|NNodes|Timelimit|State\n"
    "12|2026-02-28T23:59:00|2026-03-01T00:00:10|2026-03-01T00:01:10|4|01:00:00|COMPLETED\n"
    "12.batch|2026-03-01T00:00:10|2026-03-01T00:00:10|2026-03-01T00:01:10|1||COMPLETED\n"
    "13_2|2026-02-28T23:58:00|2026-02-28T23:58:01|2026-03-01T23:58:01|2|2-00:00:00|TIMEOUT\n"
    "14|2026-03-01T00:00:00|Unknown|Unknown|3|UNLIMITED|PENDING\n"
    "15|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T00:00:00|3|30:00|CANCELLED by 0\n";

TEST(Sacct, IsRecognisedByItsHeader) {
  EXPECT_TRUE(is_sacct(listing));
  EXPECT_FALSE(is_sacct("; Version: 2.2\n1 0 -1\n"));
  EXPECT_FALSE(is_sacct(""));
}

TEST(Sacct, GivesTheJobsThatRanInOrderOfSubmission) {
  const auto workload = workload_of(listing);
  ASSERT_TRUE(workload) << to_string(workload.error());
  ASSERT_EQ(workload->jobs.size(), 2U);
  const WorkloadJob &first = workload->jobs[0], &second = workload->jobs[1];
  EXPECT_DOUBLE_EQ(first.submit, 0);
  EXPECT_DOUBLE_EQ(first.run, 86'400);
  EXPECT_DOUBLE_EQ(first.estimate, 2 * 86'400);
  EXPECT_EQ(first.tasks, 2U);
  EXPECT_DOUBLE_EQ(second.submit, 60);
  EXPECT_DOUBLE_EQ(second.run, 60);
  EXPECT_DOUBLE_EQ(second.estimate, 3'600);
  EXPECT_EQ(second.tasks, 4U);
  EXPECT_EQ(workload->without_work, 2U);
  EXPECT_EQ(workload->machine_size, 4U);
}

TEST(Sacct, AcceptsRawColumnsAndCountsProcessorsWithoutNodes) {
  const auto workload = workload_of(
      "JobIDRaw|Submit|Start|ElapsedRaw|AllocCPUS|TimelimitRaw\n7|1000|1100|30|64|2\n8|1010|1100|300|32|Partition_"
      "Limit\n");
  ASSERT_TRUE(workload) << to_string(workload.error());
  ASSERT_EQ(workload->jobs.size(), 2U);
  EXPECT_EQ(workload->jobs[0].tasks, 64U);
  EXPECT_DOUBLE_EQ(workload->jobs[0].estimate, 120);
  EXPECT_DOUBLE_EQ(workload->jobs[1].submit, 10);
  EXPECT_DOUBLE_EQ(workload->jobs[1].estimate, 300);
}

TEST(Sacct, GoesThroughTheWorkloadFormat) {
  const auto workload = workload_of(listing);
  const auto again = read_swf(FileContents("jobs.swf", write_swf(*workload)));
  ASSERT_TRUE(again);
  ASSERT_EQ(again->jobs.size(), 2U);
  EXPECT_DOUBLE_EQ(again->jobs[1].estimate, 3'600);
}

TEST(Sacct, NamesAMissingColumn) {
  const auto workload = workload_of("JobID|JobName|State\n1|a|COMPLETED\n");
  ASSERT_FALSE(workload);
  EXPECT_NE(workload.error().what.find("Submit"), std::string::npos);
  EXPECT_NE(workload.error().hint.find("sacct"), std::string::npos);
  EXPECT_FALSE(workload_of("JobID|Submit|Start|End|NNodes\n"));
}

}  // namespace
}  // namespace rankloom
