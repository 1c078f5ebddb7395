// SPDX-License-Identifier: Apache-2.0
// tests: hostlist expressions as Slurm writes them.
#include "rankloom/core/text/hostlist.hpp"

#include <gmock/gmock.h>

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> hosts(std::string_view text) {
  auto names = expand_hostlist(text);
  EXPECT_TRUE(names) << text;
  return names ? *names : std::vector<std::string>{};
}

TEST(Hostlist, ExpandsAsSlurmDoes) {
  EXPECT_THAT(hosts("n1"), ElementsAre("n1"));
  EXPECT_THAT(hosts("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(hosts("n[1,3-4],login"), ElementsAre("n1", "n3", "n4", "login"));
  EXPECT_THAT(hosts("n[1-3,5],head"), ElementsAre("n1", "n2", "n3", "n5", "head"));
  EXPECT_THAT(hosts("r[0-1]n[1-2]-ib"), ElementsAre("r0n1-ib", "r0n2-ib", "r1n1-ib", "r1n2-ib"));
  EXPECT_THAT(hosts("rack[08-10]-a"), ElementsAre("rack08-a", "rack09-a", "rack10-a"));
  EXPECT_THAT(hosts("n[099-101]"), ElementsAre("n099", "n100", "n101"));
  EXPECT_THAT(hosts("a, b"), ElementsAre("a", "b"));
  EXPECT_THAT(hosts("a,b,"), ElementsAre("a", "b"));
}

TEST(Hostlist, RefusesMalformedExpressions) {
  for (const char* const text :
       {"", ",", "n[", "n]", "n1]", "n[1", "n[1-", "n[]", "n[3-1]", "n[a]", "n[a-b]", "n[[1]]", "a,,b", "n[1-2-3]",
        "n[1,]", "n[0-99999999]", "n[0-4294967290]", "a[0-9999]b[0-9999]"}) {
    EXPECT_FALSE(expand_hostlist(text)) << text;
  }
  EXPECT_EQ(expand_hostlist("n[1-262144]")->size(), max_listed_hosts);
  EXPECT_FALSE(expand_hostlist("n[0-262144]"));
  EXPECT_THAT(to_string(expand_hostlist("n[3-1]").error()), HasSubstr("\"3-1\" is not a number or a range"));
}

TEST(Hostlist, ContainsOnlyNamesThatNeitherSshNorAShellTakesForSomethingElse) {
  for (const char* const text : {"-oProxyCommand=x", "a,-b", "-[1-2]", "$(x)", "a;b", "a b", "user@host", "n[1-2]/x",
                                 "a\x1b", "\xc3\xa4", "n1:2"}) {
    const auto names = expand_hostlist(text);
    ASSERT_FALSE(names) << text;
    EXPECT_THAT(to_string(names.error()), HasSubstr("is not a host name")) << text;
  }
  EXPECT_TRUE(is_plain_host_name("node-1.cluster_2.example"));
}

TEST(Hostlist, RefusesNamesThatAreTooLong) {
  const std::string long_part(1000, 'a'), zeros(1000, '0');
  EXPECT_FALSE(expand_hostlist(long_part));
  EXPECT_FALSE(expand_hostlist(long_part + "[0-9999]"));
  EXPECT_FALSE(expand_hostlist("n[0-9999]" + long_part));
  EXPECT_FALSE(expand_hostlist("n[" + zeros + "-9999]"));
  EXPECT_TRUE(expand_hostlist(std::string(255, 'a')));
}

TEST(Hostlist, AllListsOfAFileTogetherHaveALimit) {
  HostlistExpander lists;
  ASSERT_TRUE(lists.expand("n[1-262144]"));
  std::size_t expanded = 1;
  while (expanded < 100 && lists.expand("n[1-262144]")) ++expanded;
  EXPECT_LT(expanded, 10u);
}

TEST(Hostlist, TheLargestNumberEndsARange) {
  EXPECT_THAT(hosts("n[18446744073709551615]"), ElementsAre("n18446744073709551615"));
  EXPECT_THAT(hosts("n[18446744073709551614-18446744073709551615]"),
              ElementsAre("n18446744073709551614", "n18446744073709551615"));
}

TEST(Hostlist, ShortHostNamesHaveNoDomain) {
  EXPECT_EQ(short_host_name("node1.cluster.example"), "node1");
  EXPECT_EQ(short_host_name("node1"), "node1");
}

}  // namespace
}  // namespace rankloom
