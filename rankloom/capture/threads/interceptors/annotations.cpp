// SPDX-License-Identifier: Apache-2.0
// capture/threads/interceptors: functions that programs compiled with -fsanitize=thread may call themselves: those of
// <sanitizer/tsan_interface.h>, and the older annotations. They describe synchronisation, not traffic, so they do
// nothing. They are defined so that such programs link.
#include <cstddef>
#include <cstdint>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

using rankloom::threads::read_bytes;
using rankloom::threads::write_bytes;

#define RANKLOOM_NO_OP(name, ...) \
  RANKLOOM_CALLBACK void name(__VA_ARGS__) {}

RANKLOOM_NO_OP(__tsan_acquire, void*)
RANKLOOM_NO_OP(__tsan_release, void*)
RANKLOOM_NO_OP(__tsan_mutex_create, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_destroy, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_pre_lock, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_post_lock, void*, unsigned, int)
RANKLOOM_CALLBACK int __tsan_mutex_pre_unlock(void*, unsigned) {
  return 0;
}
RANKLOOM_NO_OP(__tsan_mutex_post_unlock, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_pre_signal, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_post_signal, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_pre_divert, void*, unsigned)
RANKLOOM_NO_OP(__tsan_mutex_post_divert, void*, unsigned)
RANKLOOM_NO_OP(__tsan_flush_memory)
RANKLOOM_NO_OP(__tsan_check_no_mutexes_held)

// Objects of the runtimes of other languages.
RANKLOOM_CALLBACK void* __tsan_external_register_tag(const char*) {
  return nullptr;
}
RANKLOOM_NO_OP(__tsan_external_register_header, void*, const char*)
RANKLOOM_NO_OP(__tsan_external_assign_tag, void*, void*)
RANKLOOM_CALLBACK void __tsan_external_read(void* address, void*, void*) {
  read_bytes(address, 1);
}
RANKLOOM_CALLBACK void __tsan_external_write(void* address, void*, void*) {
  write_bytes(address, 1);
}

// Fibres: their accesses count for the thread that runs them, because threads are placed on cores.
RANKLOOM_CALLBACK void* __tsan_get_current_fiber() {
  return &rankloom::threads::self;
}
RANKLOOM_CALLBACK void* __tsan_create_fiber(unsigned) {
  return &rankloom::threads::self;
}
RANKLOOM_NO_OP(__tsan_destroy_fiber, void*)
RANKLOOM_NO_OP(__tsan_switch_to_fiber, void*, unsigned)
RANKLOOM_NO_OP(__tsan_set_fiber_name, void*, const char*)

// Accesses through <sanitizer/common_interface_defs.h>.
#define RANKLOOM_UNALIGNED(bits)                                                                       \
  RANKLOOM_CALLBACK std::uint##bits##_t __sanitizer_unaligned_load##bits(const void* address) {        \
    std::uint##bits##_t value;                                                                         \
    read_bytes(address, sizeof value);                                                                 \
    __builtin_memcpy(&value, address, sizeof value);                                                   \
    return value;                                                                                      \
  }                                                                                                    \
  RANKLOOM_CALLBACK void __sanitizer_unaligned_store##bits(void* address, std::uint##bits##_t value) { \
    write_bytes(address, sizeof value);                                                                \
    __builtin_memcpy(address, &value, sizeof value);                                                   \
  }
RANKLOOM_UNALIGNED(16)
RANKLOOM_UNALIGNED(32)
RANKLOOM_UNALIGNED(64)

// Annotations older than tsan_interface.h, which many projects still declare themselves.
#define RANKLOOM_ANNOTATE(name) RANKLOOM_NO_OP(Annotate##name, const char*, int)
#define RANKLOOM_ANNOTATE_OBJECT(name, ...) RANKLOOM_NO_OP(Annotate##name, const char*, int, __VA_ARGS__)
RANKLOOM_ANNOTATE(FlushState)
RANKLOOM_ANNOTATE(IgnoreReadsBegin)
RANKLOOM_ANNOTATE(IgnoreReadsEnd)
RANKLOOM_ANNOTATE(IgnoreWritesBegin)
RANKLOOM_ANNOTATE(IgnoreWritesEnd)
RANKLOOM_ANNOTATE(IgnoreSyncBegin)
RANKLOOM_ANNOTATE(IgnoreSyncEnd)
RANKLOOM_ANNOTATE(FlushExpectedRaces)
RANKLOOM_ANNOTATE_OBJECT(EnableRaceDetection, int)
RANKLOOM_ANNOTATE_OBJECT(HappensBefore, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(HappensAfter, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(CondVarSignal, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(CondVarSignalAll, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(CondVarWait, const volatile void*, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(MutexIsNotPHB, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(MutexIsUsedAsCondVar, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(RWLockCreate, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(RWLockCreateStatic, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(RWLockDestroy, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(RWLockAcquired, const volatile void*, long)
RANKLOOM_ANNOTATE_OBJECT(RWLockReleased, const volatile void*, long)
RANKLOOM_ANNOTATE_OBJECT(TraceMemory, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(NewMemory, const volatile void*, std::size_t)
RANKLOOM_ANNOTATE_OBJECT(NoOp, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(ExpectRace, const volatile void*, const char*)
RANKLOOM_ANNOTATE_OBJECT(BenignRace, const volatile void*, const char*)
RANKLOOM_ANNOTATE_OBJECT(BenignRaceSized, const volatile void*, std::size_t, const char*)
RANKLOOM_ANNOTATE_OBJECT(PublishMemoryRange, const volatile void*, std::size_t)
RANKLOOM_ANNOTATE_OBJECT(UnpublishMemoryRange, const volatile void*, std::size_t)
RANKLOOM_ANNOTATE_OBJECT(MemoryIsInitialized, const volatile void*, std::size_t)
RANKLOOM_ANNOTATE_OBJECT(MemoryIsUninitialized, const volatile void*, std::size_t)
RANKLOOM_ANNOTATE_OBJECT(PCQCreate, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(PCQDestroy, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(PCQPut, const volatile void*)
RANKLOOM_ANNOTATE_OBJECT(PCQGet, const volatile void*)
RANKLOOM_NO_OP(WTFAnnotateHappensBefore, const char*, int, const volatile void*)
RANKLOOM_NO_OP(WTFAnnotateHappensAfter, const char*, int, const volatile void*)
RANKLOOM_NO_OP(WTFAnnotateBenignRaceSized, const char*, int, const volatile void*, std::size_t, const char*)
