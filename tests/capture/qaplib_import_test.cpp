// SPDX-License-Identifier: Apache-2.0
// tests: QAPLIB instances.
#include <fstream>
#include <sstream>

#include "rankloom/model/cost/cost_model.hpp"
#include "tests/capture/import_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using testing::error_as;
using ::testing::HasSubstr;
using testing::read_as;

TEST(QaplibImport, ReadsTheFirstMatrixAsTrafficAndTheSecondAsDistances) {
  const Imported problem = read_as("qaplib", "2\n\n7 1\n2 0\n\n0 30\n40 5\n");
  EXPECT_EQ(edges_of(problem.profile.point_to_point), (Edges{{{0, 0}, 7}, {{0, 1}, 1}, {{1, 0}, 2}}));
  EXPECT_TRUE(problem.profile.self_traffic_counts);
  ASSERT_TRUE(problem.topology);
  EXPECT_EQ(problem.topology->core_count(), 2u);
  EXPECT_EQ(problem.topology->cost(Core{0}, Core{1}).inverse_bandwidth, 30);
  EXPECT_EQ(problem.topology->cost(Core{1}, Core{0}).inverse_bandwidth, 40);
  EXPECT_EQ(problem.topology->cost(Core{1}, Core{1}).inverse_bandwidth, 5);
}

TEST(QaplibImport, IgnoresLineBreaks) {
  const Imported a = read_as("qaplib", "2 0 1 2 0 0 3 4 0");
  const Imported b = read_as("qaplib", "\r\n 2\r\n0\r\n1 2 0 0\r\n3 4\r\n0\r\n\r\n");
  EXPECT_EQ(edges_of(a.profile.point_to_point), edges_of(b.profile.point_to_point));
  EXPECT_EQ(a.topology->cost(Core{0}, Core{1}), b.topology->cost(Core{0}, Core{1}));
}

TEST(QaplibImport, AcceptsOneFacility) {
  EXPECT_EQ(read_as("qaplib", "1\n5\n3\n").profile.rank_count(), 1u);
}

TEST(QaplibImport, HasTheObjectiveOfTheProblem) {
  std::ifstream table(testing::test_data("qaplib/best-known.txt"));
  std::string line;
  int instances = 0;
  while (std::getline(table, line)) {
    std::string name;
    std::size_t size = 0;
    double best = 0;
    if (line.starts_with('#') || !(std::istringstream(line) >> name >> size >> best)) continue;
    const auto file = read_file(testing::test_data("qaplib/" + name + ".dat"));
    ASSERT_TRUE(file) << to_string(file.error());
    const auto problem = import_profile(*file);
    ASSERT_TRUE(problem) << to_string(problem.error());
    EXPECT_EQ(problem->format, "qaplib");
    ASSERT_EQ(problem->profile.rank_count(), size) << name;
    // The sum over both matrices by the standard library's own reading.
    std::istringstream words{std::string(file->view())};
    std::vector<double> numbers;
    for (double number = 0; words >> number;) numbers.push_back(number);
    double identity = 0;
    for (std::size_t i = 0; i < size * size; ++i) identity += numbers[1 + i] * numbers[1 + size * size + i];
    std::vector<Core> core_of;
    for (std::uint32_t i = 0; i < size; ++i) core_of.push_back(Core{i});
    const double cost = evaluate(problem->profile.point_to_point, *problem->topology, core_of, CostModel::bytes);
    EXPECT_EQ(cost, identity) << name;
    EXPECT_GE(cost, best) << name;
    ++instances;
  }
  EXPECT_EQ(instances, 31);
}

TEST(QaplibImport, ReportsTheErrorAndItsLine) {
  testing::expect_errors("qaplib", {
                                       {"0\n", 1, "\"0\" is not the size of an instance"},
                                       {"x\n", 1, "\"x\" is not the size of an instance"},
                                       {"2\n0 1\n1 0\n0 2\n2\n", 6, "ends after 7 of 8 numbers"},
                                       {"2\n0 1\n1 0\n0 2\n2 0 9\n", 5, "\"9\" follows the 8 numbers"},
                                       {"2\n0 1\n-1 0\n0 2\n2 0\n", 3, "the traffic is negative"},
                                       {"2\n0 1\n1 0\n0 -2\n2 0\n", 4, "the distance is negative"},
                                       {"2\n0 1\n1 0\n0 inf\n2 0\n", 4, "is not a finite number: \"inf\""},
                                       {"4000000000\n0 1\n", 1, "two matrices of 4000000000 x 4000000000 in a file of"},
                                       {"18446744073709551615\n0 1\n", 1, "in a file of"},
                                   });
}

}  // namespace
}  // namespace rankloom
