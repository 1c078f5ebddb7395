// SPDX-License-Identifier: Apache-2.0
// capture/threads/interceptors: the functions that create, join and detach threads, and that end the program. They
// replace those of the C library and call the original functions.
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "rankloom/capture/threads/runtime/thread_registry.hpp"

using namespace rankloom::threads;

namespace {

/// The original function.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes != nullptr && ::pthread_attr_getdetachstate(attributes, &state) == 0 &&
         state == PTHREAD_CREATE_DETACHED;
}

/// The first function of a new thread. `Result` is the return type of its start routine: a pointer, or int in C11.
template <class Result>
Result begin_thread(void* allocated) {
  ThreadEntry& entry = *static_cast<ThreadEntry*>(allocated);
  auto* const routine = reinterpret_cast<Result (*)(void*)>(entry.routine);
  void* const argument = entry.argument;
  attach_thread(entry);
  return routine(argument);
}

/// Calls create(begin, argument), which creates a thread. If the thread gets an entry, begin_thread attaches it and
/// then calls its start routine. Returns 0 if the thread was created; its handle is then in `handle`.
template <class Result, class Create>
int create_thread(Result (*routine)(void*), void* argument, bool detached, const pthread_t* handle, Create create) {
  start();
  if (!is_recording()) return create(routine, argument);
  ThreadEntry& entry = allocate_entry();
  // If all entries are in use, the thread registers itself at its first access and shares the last entry.
  if (&entry == &thread_entry(max_threads - 1)) return create(routine, argument);
  entry.routine = reinterpret_cast<void (*)()>(routine);
  entry.argument = argument;
  entry.detached.store(detached, std::memory_order_relaxed);
  const int status = create(begin_thread<Result>, &entry);
  if (status != 0) {
    release_entry(entry);
  } else {
    pthread_t unknown = 0;  // the thread may not have run yet, and the program may detach it by its handle immediately
    entry.handle.compare_exchange_strong(unknown, *handle, std::memory_order_relaxed);
  }
  return status;
}

}  // namespace

RANKLOOM_CALLBACK int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                                     void* argument) {
  static const auto create = real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return create_thread(routine, argument, is_detached(attributes), handle,
                       [=](void* (*begin)(void*), void* with) { return create(handle, attributes, begin, with); });
}

// C11 threads are POSIX threads, but glibc does not call the functions above for them.
RANKLOOM_CALLBACK int thrd_create(thrd_t* handle, int (*routine)(void*), void* argument) {
  static_assert(thrd_success == 0 && sizeof(thrd_t) == sizeof(pthread_t));
  static const auto create = real<int(thrd_t*, int (*)(void*), void*)>("thrd_create");
  return create_thread(routine, argument, false, handle,
                       [=](int (*begin)(void*), void* with) { return create(handle, begin, with); });
}

RANKLOOM_CALLBACK int thrd_join(thrd_t handle, int* value) {
  static const auto join = real<int(thrd_t, int*)>("thrd_join");
  const int status = join(handle, value);
  if (status == thrd_success) thread_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int thrd_detach(thrd_t handle) {
  static const auto detach = real<int(thrd_t)>("thrd_detach");
  thread_detached(handle);
  return detach(handle);
}

RANKLOOM_CALLBACK int pthread_join(pthread_t handle, void** value) {
  static const auto join = real<int(pthread_t, void**)>("pthread_join");
  const int status = join(handle, value);
  if (status == 0) thread_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_tryjoin_np(pthread_t handle, void** value) {
  static const auto join = real<int(pthread_t, void**)>("pthread_tryjoin_np");
  const int status = join(handle, value);
  if (status == 0) thread_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_timedjoin_np(pthread_t handle, void** value, const timespec* until) {
  static const auto join = real<int(pthread_t, void**, const timespec*)>("pthread_timedjoin_np");
  const int status = join(handle, value, until);
  if (status == 0) thread_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_detach(pthread_t handle) {
  static const auto detach = real<int(pthread_t)>("pthread_detach");
  thread_detached(handle);
  return detach(handle);
}

// These end the program without the handlers of exit().
RANKLOOM_CALLBACK void _exit(int status) {
  finish();
  for (;;) ::syscall(SYS_exit_group, status);
}
RANKLOOM_CALLBACK void _Exit(int status) {
  _exit(status);
}

/// Called by constructors that the compiler generates; begin_program usually runs before.
RANKLOOM_CALLBACK void __tsan_init() {
  start();
}

namespace {

__attribute__((constructor(102))) void begin_program() {
  start();
  ::pthread_atfork(nullptr, nullptr, reset_after_fork);
  ::at_quick_exit(finish);
}

/// Runs after all functions that the program registered with atexit, because the program depends on this library.
__attribute__((destructor(102))) void end_program() {
  finish();
}

}  // namespace
