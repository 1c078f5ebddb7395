// SPDX-License-Identifier: Apache-2.0
// report/document: the HTML report: the page of web/, which is embedded in this library, with the data inserted.
#pragma once

#include <string>
#include <string_view>

namespace rankloom {

/// The page without data, as web/dist/report.html.
std::string_view report_page();

/// The page with the JSON text in its element `rankloom-data`, and the title in its head.
std::string fill_page(std::string_view page, std::string_view json, std::string_view title);

}  // namespace rankloom
