// SPDX-License-Identifier: Apache-2.0
// report/document: the answer in a sentence. What was not measured is called predicted, and what gains nothing is said
// to gain nothing.
#pragma once

#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Writes the verdict's kind, sentence and notes from what the document holds; a sentence that is there already, as of
/// `tune`, stays.
void conclude(ReportDocument& document);

}  // namespace rankloom
