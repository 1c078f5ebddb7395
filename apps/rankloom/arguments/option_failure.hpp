// SPDX-License-Identifier: Apache-2.0
// apps/arguments: carries an Error through CLI11, which reports errors only by exceptions.
#pragma once

#include <utility>

#include <CLI/CLI.hpp>

#include "rankloom/core/result.hpp"

namespace rankloom::app {

struct OptionFailure : CLI::ValidationError {
  explicit OptionFailure(rankloom::Error failure) : CLI::ValidationError(failure.what), error(std::move(failure)) {}
  rankloom::Error error;
};

}  // namespace rankloom::app
