// SPDX-License-Identifier: Apache-2.0
// core/memory: pages of memory for large arrays.
#pragma once

#include <cstddef>

namespace rankloom {

/// Pages of the system, so that freeing them gives them back. Many of them are huge pages where the system has these:
/// the page faults of 4 KiB pages cost more than filling the memory. Throws std::bad_alloc.
void* allocate_pages(std::size_t size);
void free_pages(void* memory, std::size_t size);

/// Gives freed memory that the C library keeps for later back to the system: before a step that needs most memory, so
/// that what other steps have freed does not add to the peak. Takes milliseconds.
void release_freed_memory();

}  // namespace rankloom
