// SPDX-License-Identifier: Apache-2.0
// capture/import: the functions of each format, for the table in formats.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/capture/import/import.hpp"

namespace rankloom {

/// The names of all formats, separated by commas.
std::string format_names();

bool is_native(std::string_view text);
Result<Imported> read_native(const FileContents& file);
Result<void> write_native(const Profile& profile, Sink& sink);

bool is_recording(std::string_view text);
Result<Imported> read_recording(const FileContents& file);

bool is_matrix_market(std::string_view text);
Result<Imported> read_matrix_market(const FileContents& file);
Result<void> write_matrix_market(const Profile& profile, Sink& sink);

bool is_monitoring(std::string_view text);
void describe_monitoring(ReadOptions& options, OptionList& list);
Result<Imported> read_monitoring(const FileContents& file, const ReadOptions& options);

bool is_time_independent(std::string_view text);
Result<Imported> read_time_independent(const FileContents& file);

bool is_ipm(std::string_view text);
Result<Imported> read_ipm(const FileContents& file);

bool is_intel_mpi(std::string_view text);
Result<Imported> read_intel_mpi(const FileContents& file);

bool is_aps(std::string_view text);
Result<Imported> read_aps(const FileContents& file);

bool is_mpip(std::string_view text);
Result<Imported> read_mpip(const FileContents& file);

bool is_otf2(std::string_view text);
Result<Imported> read_otf2(const FileContents& file);

bool is_chakra(std::string_view text);
std::unique_ptr<RankFileReader> make_chakra_reader();

bool is_kineto(std::string_view text);
std::unique_ptr<RankFileReader> make_kineto_reader();

bool is_flight_recorder(std::string_view text);
std::unique_ptr<RankFileReader> make_flight_recorder_reader();

bool is_pickle(std::string_view text);
Result<Imported> read_pickle(const FileContents& file);

bool is_nccl_log(std::string_view text);
std::unique_ptr<RankFileReader> make_nccl_log_reader();

bool is_rank_list(std::string_view text);
Result<Imported> read_rank_list(const FileContents& file);
/// The files of the directory that a format with one file per rank recognises, by their names; empty: there are none.
std::vector<std::string> find_rank_files(const std::string& directory, const FormatInfo* format);
/// Reads files of one format, one per rank. `source`: the directory or the list.
Result<Imported> read_rank_files(const std::string& source, const std::vector<std::string>& paths,
                                 const FormatInfo* format);

bool is_pairs(std::string_view text);
Result<Imported> read_pairs(const FileContents& file);
Result<void> write_pairs(const Profile& profile, Sink& sink);

bool is_eagermap(std::string_view text);
Result<Imported> read_eagermap(const FileContents& file);

bool is_metis(std::string_view text);
Result<Imported> read_metis(const FileContents& file);
Result<void> write_metis(const Profile& profile, Sink& sink);

bool is_qaplib(std::string_view text);
Result<Imported> read_qaplib(const FileContents& file);

bool is_dense(std::string_view text);
Result<Imported> read_dense(const FileContents& file);
Result<void> write_dense(const Profile& profile, Sink& sink);

}  // namespace rankloom
