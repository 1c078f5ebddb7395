// SPDX-License-Identifier: Apache-2.0
// capture/import: the functions of each format, for the table in formats.cpp.
#pragma once

#include <string>
#include <string_view>

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
