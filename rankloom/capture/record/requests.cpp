// SPDX-License-Identifier: Apache-2.0
// capture/record: what persistent requests stand for.
#include "rankloom/capture/record/requests.hpp"

#include <cstdlib>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

struct Kept {
  Kept* next = nullptr;  // of those whose requests fall into the same bucket
  Word request = 0;
  Item* items = nullptr;
  std::uint32_t count = 0, capacity = 0;
};

thread_local constinit Kept* keeping = nullptr;

namespace {

constexpr std::size_t buckets = 256;
constinit Kept* table[buckets];

Kept*& bucket(Word request) {
  return table[request * 0x9e37'79b9'7f4a'7c15 >> 56];
}

void drop(Kept* kept) {
  std::free(kept->items);
  std::free(kept);
}

void remove(Word request) {
  for (Kept** link = &bucket(request); *link != nullptr; link = &(*link)->next) {
    if ((*link)->request != request) continue;
    Kept* const found = *link;
    *link = found->next;
    return drop(found);
  }
}

}  // namespace

void keep(Kept& kept, const Item& item) {
  if (kept.count == kept.capacity) {
    const std::uint32_t capacity = kept.capacity == 0 ? 1 : kept.capacity * 2;
    void* const larger = std::realloc(kept.items, capacity * sizeof(Item));
    if (larger == nullptr) return;
    kept.items = static_cast<Item*>(larger);
    kept.capacity = capacity;
  }
  kept.items[kept.count++] = item;
}

void begin_keeping() {
  keeping = static_cast<Kept*>(std::calloc(1, sizeof(Kept)));
}

void end_keeping(Word request) {
  Kept* const kept = keeping;
  keeping = nullptr;
  if (kept == nullptr) return;
  if (kept->count == 0 || request == 0) return drop(kept);
  const Turn turn;
  remove(request);
  kept->request = request;
  kept->next = bucket(request);
  bucket(request) = kept;
}

void start_request(Word request) {
  const Turn turn;
  for (const Kept* kept = bucket(request); kept != nullptr; kept = kept->next) {
    if (kept->request != request) continue;
    for (std::uint32_t i = 0; i < kept->count; ++i) recorder.counters.count(kept->items[i]);
    return;
  }
}

void forget_request(Word request) {
  const Turn turn;
  remove(request);
}

}  // namespace rankloom::record
