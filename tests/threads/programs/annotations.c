// SPDX-License-Identifier: Apache-2.0
// Describes its synchronisation to a thread sanitizer, as Qt, GLib, LLVM or Chromium do, and accesses memory through the interface of
// the sanitizers: a thread stores 4 KiB at odd addresses, the main thread loads it.
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Older than the header, declared by the projects that call them.
#define OBJECT const char *file, int line, const volatile void *object
void AnnotateHappensBefore(OBJECT);
void AnnotateHappensAfter(OBJECT);
void AnnotateRWLockCreate(OBJECT);
void AnnotateRWLockAcquired(OBJECT, long is_writer);
void AnnotateRWLockReleased(OBJECT, long is_writer);
void AnnotateRWLockDestroy(OBJECT);
void AnnotateBenignRaceSized(OBJECT, size_t size, const char *description);
void AnnotateNewMemory(OBJECT, size_t size);
void AnnotateMemoryIsInitialized(OBJECT, size_t size);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void WTFAnnotateHappensBefore(OBJECT);
void WTFAnnotateHappensAfter(OBJECT);
void WTFAnnotateBenignRaceSized(OBJECT, size_t size, const char *description);
#define AT __FILE__, __LINE__

enum { words = 512 };
static char buffer[8 * words + 1] __attribute__((aligned(64)));
static int lock;

static void *store(void *none) {
  AnnotateRWLockAcquired(AT, &lock, 1);
  __tsan_mutex_pre_lock(&lock, 0);
  __tsan_mutex_post_lock(&lock, 0, 0);
  for (uint64_t i = 0; i < words; ++i) {
    char *word = buffer + 1 + 8 * i;
    if (i % 3 == 0) {
      __sanitizer_unaligned_store64(word, i);
    } else if (i % 3 == 1) {
      __sanitizer_unaligned_store32(word, (uint32_t)i);
      __sanitizer_unaligned_store32(word + 4, 0);
    } else {
      __sanitizer_unaligned_store16(word, (uint16_t)i);
      __sanitizer_unaligned_store16(word + 2, 0);
      __sanitizer_unaligned_store32(word + 4, 0);
    }
  }
  printf("unlock %d\n", __tsan_mutex_pre_unlock(&lock, 0));
  __tsan_mutex_post_unlock(&lock, 0);
  AnnotateRWLockReleased(AT, &lock, 1);
  AnnotateHappensBefore(AT, buffer);
  WTFAnnotateHappensBefore(AT, buffer);
  __tsan_release(buffer);
  return none;
}

int main(void) {
  __tsan_mutex_create(&lock, 0);
  AnnotateRWLockCreate(AT, &lock);
  AnnotateNewMemory(AT, buffer, sizeof buffer);
  AnnotateMemoryIsInitialized(AT, buffer, sizeof buffer);
  AnnotateBenignRaceSized(AT, buffer, sizeof buffer, "none");
  WTFAnnotateBenignRaceSized(AT, buffer, sizeof buffer, "none");
  pthread_t thread;
  pthread_create(&thread, NULL, store, NULL);
  pthread_join(thread, NULL);
  __tsan_acquire(buffer);
  AnnotateHappensAfter(AT, buffer);
  WTFAnnotateHappensAfter(AT, buffer);
  AnnotateIgnoreReadsBegin(AT);
  AnnotateIgnoreReadsEnd(AT);
  AnnotateIgnoreWritesBegin(AT);
  AnnotateIgnoreWritesEnd(AT);

  uint64_t sum = 0;
  for (uint64_t i = 0; i < words; ++i) {
    const char *word = buffer + 1 + 8 * i;
    if (i % 3 == 0)
      sum += __sanitizer_unaligned_load64(word);
    else if (i % 3 == 1)
      sum += __sanitizer_unaligned_load32(word);
    else
      sum += __sanitizer_unaligned_load16(word);
  }

  void *fiber = __tsan_get_current_fiber();
  void *other = __tsan_create_fiber(0);
  __tsan_set_fiber_name(other, "other");
  __tsan_switch_to_fiber(other, 0);
  __tsan_switch_to_fiber(fiber, 0);
  __tsan_destroy_fiber(other);

  void *tag = __tsan_external_register_tag("object");
  __tsan_external_register_header(tag, "header");
  __tsan_external_assign_tag(buffer, tag);
  __tsan_external_write(buffer, NULL, tag);
  __tsan_external_read(buffer, NULL, tag);

  __tsan_mutex_pre_signal(&lock, 0);
  __tsan_mutex_post_signal(&lock, 0);
  __tsan_mutex_pre_divert(&lock, 0);
  __tsan_mutex_post_divert(&lock, 0);
  __tsan_mutex_destroy(&lock, 0);
  AnnotateRWLockDestroy(AT, &lock);
  __tsan_flush_memory();
  printf("sum %lu\n", (unsigned long)sum);
  return fiber == NULL;
}
