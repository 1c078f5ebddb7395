// SPDX-License-Identifier: Apache-2.0
// core: parallel loops over oneTBB whose results do not depend on the number of threads: the work is split into chunks
// of fixed size, and the chunks' results are combined in order. oneTBB's headers are needed by parallel.cpp alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rankloom {

inline constexpr std::size_t default_chunk = 4096;

namespace detail {
/// Calls body(context, i) for i in 0..count-1, in parallel.
void parallel_for(std::size_t count, void (*body)(const void* context, std::size_t i), const void* context);
void parallel_tasks(std::span<const std::vector<std::uint32_t>> successors,
                    void (*body)(const void* context, std::size_t i), const void* context);
/// For i in 0..count-1: make(context, i) in parallel; order(context, item) in the order of i, one after another;
/// take(context, item) in parallel, which deletes the item.
struct OrderedStages {
  void* (*make)(const void* context, std::size_t i);
  void (*order)(const void* context, void* item);
  void (*take)(const void* context, void* item);
};
void parallel_ordered(std::size_t count, const OrderedStages& stages, const void* context);
}  // namespace detail

/// Calls body(begin, end) for disjoint chunks that cover 0..count-1.
template <class Body>
void parallel_chunks(std::size_t count, std::size_t chunk, const Body& body) {
  const std::size_t chunks = (count + chunk - 1) / chunk;
  if (chunks <= 1) {
    if (count > 0) body(std::size_t{0}, count);
    return;
  }
  const auto run_chunk = [&](std::size_t i) { body(i * chunk, std::min(count, (i + 1) * chunk)); };
  using RunChunk = decltype(run_chunk);
  detail::parallel_for(
      chunks, [](const void* context, std::size_t i) { (*static_cast<RunChunk*>(context))(i); }, &run_chunk);
}

template <class Body>
void parallel_chunks(std::size_t count, const Body& body) {
  parallel_chunks(count, default_chunk, body);
}

/// Sum of body(begin, end) over all chunks, added in order: bitwise equal for any number of threads.
template <class T, class Body>
T parallel_sum(std::size_t count, const Body& body, std::size_t chunk = default_chunk) {
  std::vector<T> partial((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](std::size_t begin, std::size_t end) { partial[begin / chunk] = body(begin, end); });
  T total{};
  for (const T& part : partial) total += part;
  return total;
}

/// What body(begin, end, found) appends to `found` in all chunks, in the order of the chunks.
template <class T, class Body>
std::vector<T> parallel_collect(std::size_t count, const Body& body, std::size_t chunk = default_chunk) {
  std::vector<std::vector<T>> found((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](std::size_t begin, std::size_t end) { body(begin, end, found[begin / chunk]); });
  if (found.size() == 1) return std::move(found.front());
  std::size_t size = 0;
  for (const auto& part : found) size += part.size();
  std::vector<T> all;
  all.reserve(size);
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// For each chunk of 0..count-1: item = make(begin, end) in parallel, then order(item) in the order of the chunks, one
/// after another, then take(item) in parallel. Only a few items per thread exist at the same time.
template <class Make, class Order, class Take>
void parallel_ordered(std::size_t count, std::size_t chunk, const Make& make, const Order& order, const Take& take) {
  using Item = decltype(make(std::size_t{0}, count));
  const std::size_t chunks = (count + chunk - 1) / chunk;
  if (chunks <= 1) {
    if (count == 0) return;
    Item item = make(std::size_t{0}, count);
    order(item);
    return take(item);
  }
  struct Context {
    const Make& make;
    const Order& order;
    const Take& take;
    std::size_t count, chunk;
  };
  const Context context{make, order, take, count, chunk};
  static constexpr auto context_of = [](const void* pointer) -> const Context& {
    return *static_cast<const Context*>(pointer);
  };
  detail::parallel_ordered(
      chunks,
      {.make = [](const void* pointer, std::size_t i) -> void* {
         const Context& c = context_of(pointer);
         return new Item(c.make(i * c.chunk, std::min(c.count, (i + 1) * c.chunk)));
       },
       .order = [](const void* pointer, void* item) { context_of(pointer).order(*static_cast<Item*>(item)); },
       .take =
           [](const void* pointer, void* item) {
             const std::unique_ptr<Item> owned(static_cast<Item*>(item));
             context_of(pointer).take(*owned);
           }},
      &context);
}

/// Calls body(i) once for each task i, in parallel, after it has returned for all tasks that have i as a successor.
template <class Body>
void parallel_tasks(std::span<const std::vector<std::uint32_t>> successors, const Body& body) {
  detail::parallel_tasks(
      successors, [](const void* context, std::size_t i) { (*static_cast<const Body*>(context))(i); }, &body);
}

/// How many threads parallel loops may use now.
std::size_t thread_count();

/// While an object of this class lives, parallel loops use at most `threads` threads; 0: all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

}  // namespace rankloom
