// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the sizes of public language models. To add one: a row in known_models.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rankloom {

struct KnownModel {
  std::string_view name;
  std::uint64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, feed_forward = 0, vocabulary = 0;
  std::uint64_t experts = 0, top = 0, expert_feed_forward = 0;
  bool gated = true;
  bool tied_embeddings = false;
  double published_parameters = 0;  ///< In billions, as published; a test compares them with the sizes.
  std::string_view reference;
};

std::span<const KnownModel> known_models();
/// nullptr: no row has this name.
const KnownModel* find_model(std::string_view name);

}  // namespace rankloom
