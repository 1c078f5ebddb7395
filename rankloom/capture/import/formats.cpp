// SPDX-License-Identifier: Apache-2.0
// capture/import: the table of formats.
#include "rankloom/capture/import/formats.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/capture/import/torch/group_calls.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom {

namespace {

template <Result<Imported> (*read)(const FileContents&)>
Result<Imported> without_options(const FileContents& file, const ReadOptions&) {
  return read(file);
}

/// A single file of a format with one file per rank.
template <std::unique_ptr<RankFileReader> (*make)()>
Result<Imported> of_one_rank(const FileContents& file, const ReadOptions&) {
  return read_single(*make(), file);
}

/// In the order in which content is recognised: first the formats with a magic word, last those recognised by the
/// layout of their numbers.
constexpr FormatInfo table[] = {
    {"native", "rankloom's own profile format: everything that was recorded, compressed", "docs/formats.md", is_native,
     without_options<read_native>, write_native},
    {"recording", "the files that recorded ranks write: one of them, their directory or their prefix",
     "docs/recording.md", is_recording, without_options<read_recording>, nullptr},
    {"matrix-market", "sparse or dense matrix: coordinate or array; real, integer or pattern; general or symmetric",
     "Boisvert, Pozo, Remington 1996, NISTIR 5935", is_matrix_market, without_options<read_matrix_market>,
     write_matrix_market},
    {"monitoring", "Open MPI's pml_monitoring: any of its files PREFIX.RANK.prof, their directory, or PREFIX",
     "Bosilca et al. 2017, Online dynamic monitoring of MPI communications", is_monitoring, read_monitoring, nullptr,
     ".0.prof", describe_monitoring},
    {"ti", "SimGrid's time-independent trace (smpirun -trace-ti): the list of its files, or one file with all ranks",
     "simgrid.org, Describing the virtual application: replaying traces", is_time_independent,
     without_options<read_time_independent>, nullptr, "smpi_simgrid.txt"},
    {"otf2", "Open Trace Format 2 (Score-P, eztrace, TAU): the anchor file *.otf2, or its directory",
     "Eschweiler et al. 2012, Open Trace Format 2", is_otf2, without_options<read_otf2>, nullptr, ".otf2"},
    {"ipm", "IPM's XML, recorded with IPM_LOG=full", "github.com/nerscadmin/IPM", is_ipm, without_options<read_ipm>,
     nullptr},
    {"intel-mpi", "Intel MPI's statistics (I_MPI_STATS=4, up to version 2018)",
     "Intel MPI Library 2018, Developer Reference, native statistics format", is_intel_mpi,
     without_options<read_intel_mpi>, nullptr},
    {"aps", "rank-to-rank table of Intel's Application Performance Snapshot (aps-report -x)",
     "Application Performance Snapshot, User Guide", is_aps, without_options<read_aps>, nullptr},
    {"mpip",
     "mpiP's report: recognised but rejected, because it contains no destinations",
     "github.com/LLNL/mpiP",
     is_mpip,
     without_options<read_mpip>,
     nullptr,
     {},
     nullptr,
     true},
    {"chakra",
     "execution traces of PyTorch (Chakra, JSON): the file of a rank, the directory of all, or their list",
     "github.com/pytorch/pytorch, execution_trace_observer.cpp",
     is_chakra,
     of_one_rank<make_chakra_reader>,
     nullptr,
     {},
     nullptr,
     false,
     make_chakra_reader},
    {"kineto",
     "traces of PyTorch's profiler (Kineto, JSON): the file of a rank, the directory of all, or their list",
     "github.com/pytorch/kineto",
     is_kineto,
     of_one_rank<make_kineto_reader>,
     nullptr,
     {},
     nullptr,
     false,
     make_kineto_reader},
    {"flight-recorder",
     "dumps of PyTorch's Flight Recorder (JSON): the file of a rank, the directory of all, or their list",
     "docs.pytorch.org, Flight Recorder",
     is_flight_recorder,
     of_one_rank<make_flight_recorder_reader>,
     nullptr,
     {},
     nullptr,
     false,
     make_flight_recorder_reader},
    {"nccl-log",
     "NCCL's log (NCCL_DEBUG=INFO): one file, the directory of the files of all processes, or their list",
     "NCCL documentation, Logging",
     is_nccl_log,
     of_one_rank<make_nccl_log_reader>,
     nullptr,
     {},
     nullptr,
     false,
     make_nccl_log_reader},
    {"rank-list", "a list of the files of the ranks in one of these four formats: names that end with .json or .log",
     "docs/formats.md", is_rank_list, without_options<read_rank_list>, nullptr},
    {"pickle",
     "a pickle of Python: recognised but rejected, because reading it could run a program",
     "docs.python.org, pickle",
     is_pickle,
     without_options<read_pickle>,
     nullptr,
     {},
     nullptr,
     true},
    {"pairs", "one line per communicating pair: from to bytes [messages [collective bytes and messages]]",
     "docs/formats.md", is_pairs, without_options<read_pairs>, write_pairs},
    {"eagermap", "EagerMap's matrix: comma-separated, the row of the last rank first",
     "Cruz, Diener, Pilla, Navaux 2019", is_eagermap, without_options<read_eagermap>, nullptr},
    {"metis", "undirected weighted graph, the input format of graph partitioners",
     "Karypis 2013, METIS 5.1 manual, section 4.1", is_metis, without_options<read_metis>, write_metis},
    {"qaplib", "quadratic assignment problem: size, traffic, distances", "Burkard, Karisch, Rendl 1997, QAPLIB",
     is_qaplib, without_options<read_qaplib>, nullptr},
    {"dense", "n lines of n numbers: row i contains the bytes from rank i to each rank", "docs/formats.md", is_dense,
     without_options<read_dense>, write_dense},
};

}  // namespace

bool is_native(std::string_view text) {
  return is_profile_file(text);
}

Result<Imported> read_native(const FileContents& file) {
  auto profile = read_profile(file);
  if (!profile) return propagate(profile);
  return Imported{.profile = *std::move(profile), .topology = std::nullopt, .format = "native"};
}

Result<void> write_native(const Profile& profile, Sink& sink) {
  return write_profile(profile, sink);
}

bool is_mpip(std::string_view text) {
  return text.starts_with("@ mpiP");
}

Result<Imported> read_mpip(const FileContents& file) {
  return fail(Code::bad_input, at(file.name()),
              "an mpiP report contains the bytes of each call site, but no destinations",
              "record the program: rankloom record -- mpirun ... (no rebuild is needed)");
}

/// An anchor file begins with a control character and its byte order, then the word OTF2.
bool is_otf2(std::string_view text) {
  return !text.empty() && text[0] < ' ' && text.substr(0, 8).find("OTF2") != text.npos;
}

#ifdef RANKLOOM_HAS_OTF2
bool reads_otf2() {
  return true;
}
#else
bool reads_otf2() {
  return false;
}

Result<Imported> read_otf2(const FileContents& file) {
  return fail(Code::environment, at(file.name()), "rankloom was built without libotf2",
              "install OTF2 with its headers and build rankloom again");
}
#endif

std::string format_names() {
  std::string list;
  for (const FormatInfo& format : table) list += fmt::format("{}{}", list.empty() ? "" : ", ", format.name);
  return list;
}

std::span<const FormatInfo> formats() {
  return table;
}

const FormatInfo* find_format(std::string_view name) {
  const auto* const found = std::find_if(std::begin(table), std::end(table),
                                         [name](const FormatInfo& format) { return format.name == name; });
  return found == std::end(table) ? nullptr : found;
}

Result<FormatChoice> parse_format(std::string_view text) {
  FormatChoice choice;
  if (text.empty()) return choice;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  choice.format = find_format(name);
  if (choice.format == nullptr) {
    return fail(Code::usage, at("--from"), fmt::format("unknown format \"{}\"", name),
                fmt::format("the formats are: {}", format_names()));
  }
  if (colon == text.npos) return choice;
  OptionList list;
  if (choice.format->describe != nullptr) choice.format->describe(choice.options, list);
  if (auto set = list.set_all(text.substr(colon + 1), name); !set) {
    set.error().where.source = fmt::format("--from {}", text);  // not "--OPTION": a flag of the verb may have that name
    return propagate(set);
  }
  return choice;
}

}  // namespace rankloom
