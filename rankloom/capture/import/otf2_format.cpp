// SPDX-License-Identifier: Apache-2.0
// capture: the row of OTF2 in the table of formats, which is there with and without libotf2.
#include "rankloom/capture/import/formats.hpp"

namespace rankloom {

/// An anchor file begins with the mark of a buffer and its byte order, then this word.
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
  return fail(Code::environment, at(file.name()), "this rankloom was built without libotf2",
              "apt install libotf2-trace-dev, then build again");
}
#endif

}  // namespace rankloom
