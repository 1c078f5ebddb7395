// SPDX-License-Identifier: Apache-2.0
// capture/record: the images of all ranks become one file, through MPI itself.
#pragma once

#include "rankloom/capture/record/image.hpp"

namespace rankloom::record {

/// Together with all other ranks, just before MPI ends. Whether the file is there, whole; every rank learns it.
bool gather(const RankImage& image, const char* path);

}  // namespace rankloom::record
