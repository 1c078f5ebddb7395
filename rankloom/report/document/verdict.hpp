// SPDX-License-Identifier: Apache-2.0
// report/document: the verdict in one sentence. Values that were not measured are called predicted or simulated.
#pragma once

#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Writes the kind, sentence and notes of the verdict from the contents of the document. An existing sentence, such as
/// the one of `tune`, is kept.
void write_verdict(ReportDocument& document);

}  // namespace rankloom
