// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: persistent requests.
#include "rankloom/capture/record/counting/persistent_requests.hpp"

#include <cstdlib>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

struct PersistentRequest {
  PersistentRequest* next = nullptr;  // in the same bucket
  Word handle = 0;
  CountedEvent* events = nullptr;
  std::uint32_t count = 0, capacity = 0;
};

thread_local constinit PersistentRequest* created_request = nullptr;

namespace {

constexpr std::size_t buckets = 256;
constinit PersistentRequest* table[buckets];

PersistentRequest*& bucket(Word handle) {
  return table[handle * 0x9e37'79b9'7f4a'7c15 >> 56];
}

void destroy(PersistentRequest* request) {
  std::free(request->events);
  std::free(request);
}

void remove(Word handle) {
  for (PersistentRequest** link = &bucket(handle); *link != nullptr; link = &(*link)->next) {
    if ((*link)->handle != handle) continue;
    PersistentRequest* const request = *link;
    *link = request->next;
    return destroy(request);
  }
}

}  // namespace

void append(PersistentRequest& request, const CountedEvent& event) {
  if (request.count == request.capacity) {
    const std::uint32_t capacity = request.capacity == 0 ? 1 : request.capacity * 2;
    void* const larger = std::realloc(request.events, capacity * sizeof(CountedEvent));
    if (larger == nullptr) return;
    request.events = static_cast<CountedEvent*>(larger);
    request.capacity = capacity;
  }
  request.events[request.count++] = event;
}

void begin_persistent_request() {
  created_request = static_cast<PersistentRequest*>(std::calloc(1, sizeof(PersistentRequest)));
}

void end_persistent_request(Word handle) {
  PersistentRequest* const request = created_request;
  created_request = nullptr;
  if (request == nullptr) return;
  if (request->count == 0 || handle == 0) return destroy(request);
  const CounterLock lock;
  remove(handle);
  request->handle = handle;
  request->next = bucket(handle);
  bucket(handle) = request;
}

void start_request(Word handle) {
  const CounterLock lock;
  for (const PersistentRequest* request = bucket(handle); request != nullptr; request = request->next) {
    if (request->handle != handle) continue;
    for (std::uint32_t i = 0; i < request->count; ++i) recorder.counters.count(request->events[i]);
    return;
  }
}

void free_request(Word handle) {
  const CounterLock lock;
  remove(handle);
}

}  // namespace rankloom::record
