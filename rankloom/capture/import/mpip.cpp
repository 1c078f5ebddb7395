// SPDX-License-Identifier: Apache-2.0
// capture: mpiP's reports are recognised only to say why they cannot serve.
#include "rankloom/capture/import/formats.hpp"

namespace rankloom {

bool is_mpip(std::string_view text) {
  return text.starts_with("@ mpiP");
}

Result<Imported> read_mpip(const FileContents& file) {
  return fail(Code::bad_input, at(file.name()),
              "an mpiP report tells how much each place in the program sends, but not to whom",
              "run the program once with rankloom record -- mpirun ..., which needs no rebuild");
}

}  // namespace rankloom
