// SPDX-License-Identifier: Apache-2.0
// report: the progress of work that consists of several parts.
#pragma once

#include <cstddef>
#include <string_view>

#include "rankloom/core/progress.hpp"

namespace rankloom {

/// The progress of one of several equal parts of the work.
class ProgressPart : public Progress {
 public:
  ProgressPart(Progress& whole, std::size_t part, std::size_t parts)
      : whole_(whole), part_(static_cast<double>(part)), parts_(static_cast<double>(parts)) {}

  void report(std::string_view stage, double fraction) override {
    if (parts_ == 1) return whole_.report(stage, fraction);
    whole_.report(stage, (part_ + (fraction < 0 ? 0 : fraction)) / parts_);
  }

 private:
  Progress& whole_;
  double part_, parts_;
};

}  // namespace rankloom
