// SPDX-License-Identifier: Apache-2.0
// report/document: web/dist/report.html as bytes of this library. The assembler reads the file, so that a page of any
// size costs no time to compile; RANKLOOM_REPORT_PAGE is its path, from CMake.
#include "rankloom/report/document/html.hpp"

asm(".section .rodata\n"
    ".global rankloom_report_page_begin\n"
    ".global rankloom_report_page_end\n"
    "rankloom_report_page_begin:\n"
    ".incbin \"" RANKLOOM_REPORT_PAGE
    "\"\n"
    "rankloom_report_page_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" const char rankloom_report_page_begin[];
extern "C" const char rankloom_report_page_end[];

namespace rankloom {

std::string_view report_page() {
  return {rankloom_report_page_begin, static_cast<std::size_t>(rankloom_report_page_end - rankloom_report_page_begin)};
}

}  // namespace rankloom
