// SPDX-License-Identifier: Apache-2.0
// capture: the table of formats.
#include "rankloom/capture/import/formats.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/model/profile_file.hpp"

namespace rankloom {

namespace {

template <Result<Imported> (*read)(const FileContents&)>
Result<Imported> plain(const FileContents& file, const ReadOptions&) {
  return read(file);
}

/// In the order in which content is recognised: formats that say who they are come first, those that are told by their
/// shape last.
constexpr FormatInfo table[] = {
    {"native", "rankloom's own profile: everything that was recorded, compressed", "docs/formats.md", is_native,
     plain<read_native>, write_native},
    {"recording", "what rankloom's recorder left of an MPI program, as it is; `record` makes profiles of it",
     "docs/recording.md", is_recording, plain<read_recording>, nullptr},
    {"matrix-market", "sparse or full matrix: coordinate or array, real, integer or pattern, general or symmetric",
     "Boisvert, Pozo, Remington 1996, NISTIR 5935", is_matrix_market, plain<read_matrix_market>, write_matrix_market},
    {"monitoring", "Open MPI's pml_monitoring: any of its files PREFIX.RANK.prof, their folder, or PREFIX",
     "Bosilca et al. 2017, Online dynamic monitoring of MPI communications", is_monitoring, read_monitoring, nullptr,
     ".0.prof", describe_monitoring},
    {"ti", "SimGrid's time-independent trace (smpirun -trace-ti): the list of its files, or all ranks in one",
     "simgrid.org, Describing the virtual application: replaying traces", is_time_independent,
     plain<read_time_independent>, nullptr, "smpi_simgrid.txt"},
    {"otf2", "Open Trace Format 2 (Score-P, eztrace, TAU): the anchor file *.otf2, or its folder",
     "Eschweiler et al. 2012, Open Trace Format 2", is_otf2, plain<read_otf2>, nullptr, ".otf2"},
    {"ipm", "IPM's XML, recorded with IPM_LOG=full", "github.com/nerscadmin/IPM", is_ipm, plain<read_ipm>, nullptr},
    {"intel-mpi", "Intel MPI's statistics (I_MPI_STATS=4, up to version 2018)",
     "Intel MPI Library 2018, Developer Reference, native statistics format", is_intel_mpi, plain<read_intel_mpi>,
     nullptr},
    {"aps", "rank-to-rank table of Intel's Application Performance Snapshot (aps-report -x)",
     "Application Performance Snapshot, User Guide", is_aps, plain<read_aps>, nullptr},
    {"mpip",
     "mpiP's report, which cannot serve: it names no destinations",
     "github.com/LLNL/mpiP",
     is_mpip,
     plain<read_mpip>,
     nullptr,
     {},
     nullptr,
     true},
    {"pairs", "one line for each pair that talks: from to bytes [messages [collective bytes and messages]]",
     "docs/formats.md", is_pairs, plain<read_pairs>, write_pairs},
    {"eagermap", "EagerMap's matrix: comma separated, the last rank's row first", "Cruz, Diener, Pilla, Navaux 2019",
     is_eagermap, plain<read_eagermap>, nullptr},
    {"metis", "undirected graph with weights, as graph partitioners read it",
     "Karypis 2013, METIS 5.1 manual, section 4.1", is_metis, plain<read_metis>, write_metis},
    {"qaplib", "quadratic assignment problem: size, traffic, distances", "Burkard, Karisch, Rendl 1997, QAPLIB",
     is_qaplib, plain<read_qaplib>, nullptr},
    {"dense", "n lines of n numbers: row i holds what rank i sends to each rank", "docs/formats.md", is_dense,
     plain<read_dense>, write_dense},
};

std::string names() {
  std::string list;
  for (const FormatInfo& format : table) list += fmt::format("{}{}", list.empty() ? "" : ", ", format.name);
  return list;
}

/// A file that begins with a line of numbers but has the shape of no format is one with a mistake in it; which format
/// was meant tells the number of columns. Its reader then says where the mistake is.
const FormatInfo* meant_by_numbers(Scanner in) {
  std::size_t columns = 0;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks(), ++columns) {
    double ignored = 0;
    if (!in.take_number(ignored)) return nullptr;
  }
  if (columns < 2) return nullptr;
  return find_format(columns == 3 || columns == 4 || columns == 6 ? "pairs" : "dense");
}

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
    return fail(Code::usage, at("--from"), fmt::format("there is no format \"{}\"", name),
                fmt::format("one of: {}", names()));
  }
  if (colon == text.npos) return choice;
  OptionList list;
  if (choice.format->describe != nullptr) choice.format->describe(choice.options, list);
  if (auto set = list.set_all(text.substr(colon + 1), name); !set) {
    set.error().where.source = fmt::format("--from {}", text);  // its options have names that flags have too
    return propagate(set);
  }
  return choice;
}

Result<Imported> import_profile(const FileContents& file, std::string_view format) {
  auto choice = parse_format(format);
  if (!choice) return propagate(choice);
  Scanner in(file.view());
  in.skip_space();
  if (in.done()) {
    return fail(Code::bad_input, at(file.name()), "the file is empty", "check the program that should have written it");
  }
  if (choice->format != nullptr) return choice->format->read(file, choice->options);
  for (const FormatInfo& candidate : table) {
    if (candidate.recognise(file.view())) return candidate.read(file, {});
  }
  if (const FormatInfo* const nearest = meant_by_numbers(in)) {
    if (auto read = nearest->read(file, {}); !read) {
      Error error = std::move(read).error();
      error.hint += fmt::format(" (read as {}; --from names another format)", nearest->name);
      return Failure(std::move(error));
    }
  }
  return fail(Code::bad_input, at(file.name(), in.line()),
              fmt::format("\"{}\" begins none of the known formats", in.word()),
              fmt::format("name the format with --from, one of: {}", names()));
}

}  // namespace rankloom
