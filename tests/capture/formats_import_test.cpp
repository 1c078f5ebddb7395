// SPDX-License-Identifier: Apache-2.0
// tests: the table of formats: recognition of formats, and robustness against random changes.
#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "rankloom/core/random.hpp"
#include "tests/capture/import_support.hpp"
#include "tests/capture/recording_writer.hpp"

namespace rankloom {
namespace {

using testing::error_as;
using ::testing::HasSubstr;
using testing::recognised;
using testing::write_as;

TEST(Formats, HaveNamesSummariesAndReferences) {
  std::set<std::string_view> names;
  for (const FormatInfo& format : formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_FALSE(format.summary.empty());
    EXPECT_FALSE(format.reference.empty());
    EXPECT_EQ(find_format(format.name), &format);
  }
  EXPECT_EQ(find_format("postcard"), nullptr);
}

TEST(Formats, AreRecognisedByContent) {
  EXPECT_EQ(recognised("rankloom profile 1\n"), "native");
  EXPECT_EQ(recognised("%%MatrixMarket matrix coordinate real general\n2 2 0\n"), "matrix-market");
  EXPECT_EQ(recognised("# POINT TO POINT\n# OSC\n"), "monitoring");
  EXPECT_EQ(recognised("E\t0\t1\t8 bytes\t1 msgs sent\n"), "monitoring");
  EXPECT_EQ(recognised("0 init\n0 compute 5\n"), "ti");
  EXPECT_EQ(recognised("p0 send 1 1e6\n"), "ti");
  EXPECT_EQ(recognised("trace_files/rank-1.txt\ntrace_files/rank-2.txt\n"), "ti");
  EXPECT_EQ(recognised("# app; ranks=4; columns\n"), "pairs");
  EXPECT_EQ(recognised("# no such key\n0 1 5 1\n0 2 5 1\n1 2 5 1\n1 3 5 1\n2 3 5 1\n"), "pairs");
  EXPECT_EQ(recognised("0 1 5.5\n0 2 5\n1 2 5\n3 4 5\n"), "pairs");
  EXPECT_EQ(recognised("0,1\n1,0\n"), "eagermap");
  EXPECT_EQ(recognised("% comment\n3 2\n2 3\n1\n1\n"), "metis");
  EXPECT_EQ(recognised("3 2 011 1\n1 2 5 3 5\n1 1 5\n1 1 5\n"), "metis");
  EXPECT_EQ(recognised("2\n\n0 1\n1 0\n\n0 1\n1 0\n"), "qaplib");
  EXPECT_EQ(recognised("2 0 1 1 0 0 1 1 0\n"), "qaplib");
  EXPECT_EQ(recognised("0 1 2 3 4\n1 0 2 3 4\n"), "dense");
  EXPECT_EQ(recognised("0"), "dense");
}

TEST(Formats, DistinguishSmallMatricesFromHeadersAndPairs) {
  EXPECT_EQ(recognised("0 5\n5 0\n"), "dense");
  EXPECT_EQ(recognised("9 5\n5 9\n"), "dense") << "2 lines cannot be 9 rows";
  EXPECT_EQ(recognised("0 5 1\n5 0 1\n1 1 0\n"), "dense");
  EXPECT_EQ(recognised("7 5 1\n5 0 1\n1 1 0\n"), "dense") << "3 lines cannot be 7 rows";
  EXPECT_EQ(recognised("2 0 1\n1 2 0\n0 1 2\n"), "dense") << "9 numbers are 1 + 2·2², but a square";
  EXPECT_EQ(recognised("0 1 2 3\n1 0 2 3\n1 2 0 3\n1 2 3 0\n"), "dense");
  EXPECT_EQ(recognised("0 1 2 3 4 5\n1 0 2 3 4 5\n1 2 0 3 4 5\n1 2 3 0 4 5\n1 2 3 4 0 5\n1 2 3 4 5 0\n"), "dense");
  EXPECT_EQ(recognised("2 1 11\n5 2 7\n5 1 7\n"), "metis") << "both a square and a graph: the graph wins";
  EXPECT_EQ(recognised("4 2 11\n1 2 5\n1 1 5\n1 4 5\n1 3 5\n"), "metis") << "both pairs and a graph: the graph wins";
  EXPECT_EQ(recognised("4 2 11\n1 2 5\n1 1 5\n1 4 5\n1 3 5\n0 1 5\n0 2 5\n"), "pairs") << "too many rows for a graph";
}

TEST(Formats, AreRecognisedDespiteLaterErrors) {
  EXPECT_EQ(recognised("5 4\n2 3\n1 2 4\n"), "metis");
  EXPECT_EQ(recognised("5 4\n2 3\n1 x\n"), "metis");
  EXPECT_EQ(recognised("12\n0 1\n"), "qaplib");
  EXPECT_EQ(recognised("12\nx\n"), "qaplib");
  EXPECT_EQ(recognised("0 1 2 3 4\n1 0 2 3 4\n1 2\n"), "dense");
}

TEST(Formats, RejectOtherText) {
  EXPECT_EQ(recognised("Dear Sir or Madam\n"), "");
  EXPECT_EQ(recognised("{\"json\": 1}\n"), "");
  EXPECT_EQ(recognised("1 2 3 4 5\n"), "");
  EXPECT_EQ(recognised("\x7f"
                       "ELF\x02\x01\x01"),
            "");
  const Error error = error_as("", "\nDear Sir or Madam\n");
  EXPECT_EQ(error.where.line, 2u);
  EXPECT_THAT(error.what, HasSubstr("\"Dear\""));
  EXPECT_THAT(error.hint, HasSubstr("--from"));
  EXPECT_THAT(error.hint, HasSubstr("matrix-market"));
}

TEST(Formats, ReportAnEmptyFile) {
  for (const char* text : {"", "\n", " \r\n\t"}) {
    EXPECT_THAT(error_as("", text).what, HasSubstr("empty"));
    EXPECT_THAT(error_as("metis", text).what, HasSubstr("empty"));
  }
}

TEST(Formats, AreFoundByName) {
  const auto result = import_profile(FileContents("input", "0"), "postcard");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::usage);
  EXPECT_THAT(result.error().hint, HasSubstr("eagermap"));
}

TEST(Formats, ParseTheirOptions) {
  EXPECT_EQ(parse_format("")->format, nullptr);
  EXPECT_EQ(parse_format("monitoring:collectives=C")->options.collectives, ReadOptions::MonitoredCollectives::logical);
  EXPECT_EQ(parse_format("monitoring")->options.collectives, ReadOptions::MonitoredCollectives::physical);
  EXPECT_THAT(parse_format("monitoring:collectives=X").error().hint, HasSubstr("I, C"));
  EXPECT_THAT(parse_format("monitoring:roots=1").error().hint, HasSubstr("collectives"));
  EXPECT_THAT(parse_format("dense:roots=1").error().hint, HasSubstr("there are no options"));
}

TEST(Formats, OverrideRecognitionWhenNamed) {
  EXPECT_EQ(testing::read_as("dense", "2 1 11\n5 2 7\n5 1 7\n").profile.rank_count(), 3u);
  EXPECT_EQ(testing::read_as("pairs", "0 1 5\n").format, "pairs");
}

/// All files of a recorded trace, concatenated.
std::string recorded(std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) text += read_file(testing::test_data(std::string("traces/") + name))->view();
  return text;
}

/// OTF2 is several binary files, and a list names other files; both have their own tests.
bool is_one_text(const FormatInfo& format) {
  return format.name != "otf2" && format.name != "rank-list";
}

/// A small correct file of each format.
std::string example(std::string_view format) {
  if (format == "monitoring") {
    return recorded({"openmpi/talk.0.prof", "openmpi/talk.1.prof", "openmpi/talk.2.prof", "openmpi/talk.3.prof"});
  }
  if (format == "ti") {
    return recorded({"simgrid/smpi_simgrid.txt_files/rank-1.txt", "simgrid/smpi_simgrid.txt_files/rank-2.txt",
                     "simgrid/smpi_simgrid.txt_files/rank-3.txt", "simgrid/smpi_simgrid.txt_files/rank-4.txt"});
  }
  if (format == "recording") return testing::ring_recording();
  if (format == "chakra") return recorded({"../../fuzz/corpus/import-chakra/chakra"});
  if (format == "kineto") return recorded({"../../fuzz/corpus/import-kineto/kineto"});
  if (format == "flight-recorder") return recorded({"../../fuzz/corpus/import-flight-recorder/flight-recorder"});
  if (format == "nccl-log") return recorded({"../../fuzz/corpus/import-nccl-log/calls"});
  if (format == "pickle") return "\x80\x04}.";
  if (format == "ipm") return recorded({"handmade/ipm.xml"});
  if (format == "intel-mpi") return recorded({"handmade/intel-mpi.txt"});
  if (format == "aps") return recorded({"handmade/aps.txt"});
  if (format == "mpip") return recorded({"handmade/mpip.txt"});
  if (format == "eagermap") return "4,5,0\n1,0,3\n0,1.5,2\n";
  if (format == "qaplib") return "3\n\n0 1 2\n1 0 3\n2 3 0\n\n0 5 2\n5 0 3\n2 3 0\n";
  if (format == "metis") return "% graph\n6 5 011\n1 2 3 5 4\n2 1 3\n3 4 6\n4 3 6 5 2\n1 1 4 4 2 6 1\n9 5 1\n";
  CommGraphBuilder traffic(12), collectives(12);
  for (std::uint32_t r = 0; r < 12; ++r) {
    traffic.add(Rank{r}, Rank{(r + 1) % 12}, 100.0 * r, r);
    collectives.add(Rank{r}, Rank{(r * 5) % 12}, 0.5, 2);
  }
  Profile profile = testing::profile_of(std::move(traffic).build(true));
  profile.expanded_collectives = std::move(collectives).build(true);
  profile.origin["program"] = "an example";
  profile.communicators = {{"world", {}}};
  profile.collectives = {{.communicator = 0, .op = CollectiveOp::bcast, .root = 3, .bytes = 8, .count = 2}};
  const auto text = write_as(format, profile);
  EXPECT_TRUE(text) << to_string(text.error());
  return *text;
}

TEST(Formats, ReadTheirExamples) {
  for (const FormatInfo& format : formats()) {
    if (!is_one_text(format)) continue;
    const std::string text = example(format.name);
    EXPECT_EQ(recognised(text), format.name);
    if (format.refused) continue;
    testing::read_as(format.name, text);
    testing::read_as("", text);
  }
}

/// One random change: a byte set, removed or duplicated, a number replaced by an extreme one, a truncation, a moved
/// part.
std::string spoiled(std::string text, Random& random) {
  static constexpr const char* extremes[] = {"-1",    "0",     "4294967295", "4294967296", "18446744073709551615",
                                             "1e308", "1e999", "nan",        "-inf",       "99999999999999999999999999",
                                             "0.5",   "\n",    "%",          "#",          "\r\n",
                                             " ",     ","};
  const std::size_t place = random.below(text.size());
  switch (random.below(7)) {
    case 0:
      text[place] = static_cast<char>(random.below(256));
      break;
    case 1:
      text.erase(place, 1 + random.below(4));
      break;
    case 2:
      text.insert(place, 1, text[place]);
      break;
    case 3:
      text.resize(place);
      break;
    case 4:
      text.insert(place, text.substr(random.below(text.size()), random.below(30)));
      break;
    case 5:
      text.insert(place, extremes[random.below(std::size(extremes))]);
      break;
    default: {
      const std::size_t begin = std::min(text.find_first_of("0123456789", place), text.size());
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
      text.replace(begin, end - begin, extremes[random.below(std::size(extremes))]);
    }
  }
  return text;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Formats, SurviveTwoThousandRandomChangesEach) {
  const double before = peak_megabytes();
  for (const FormatInfo& format : formats()) {
    if (!is_one_text(format)) continue;
    const std::string good = example(format.name);
    Random random(20, good.size());
    int errors = 0;
    for (int round = 0; round < 2000; ++round) {
      const FileContents file("input", spoiled(good, random));
      for (const std::string_view named : {format.name, std::string_view()}) {
        const auto result = import_profile(file, named);
        if (result) continue;
        ++errors;
        ASSERT_FALSE(result.error().what.empty());
        ASSERT_FALSE(result.error().hint.empty());
        ASSERT_NE(result.error().code, Code::environment);
      }
    }
    EXPECT_GT(errors, 500) << format.name << ": hardly any change was noticed";
  }
  EXPECT_LT(peak_megabytes() - before, 400) << "a header was believed";
}

TEST(Formats, SurviveRandomBytes) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    std::string text(random.below(3000), '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    for (const FormatInfo& format : formats()) EXPECT_FALSE(import_profile(FileContents("input", text), format.name));
    EXPECT_FALSE(import_profile(FileContents("input", text)));
  }
}

}  // namespace
}  // namespace rankloom
