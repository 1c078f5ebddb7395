// SPDX-License-Identifier: Apache-2.0
// capture/threads: where threads begin and end, and where the program does. The C library's functions are stood before.
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "rankloom/capture/threads/roster.hpp"

using namespace rankloom::threads;

namespace {

/// The function that would have been called without us.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes != nullptr && ::pthread_attr_getdetachstate(attributes, &state) == 0 &&
         state == PTHREAD_CREATE_DETACHED;
}

/// What a new thread begins with; `Result` is what its routine returns, a pointer or C11's int.
template <class Result>
Result begin_thread(void* taken) {
  Place& mine = *static_cast<Place*>(taken);
  auto* const routine = reinterpret_cast<Result (*)(void*)>(mine.routine);
  void* const argument = mine.argument;
  occupy(mine);
  return routine(argument);
}

/// Calls create(begin, argument), which makes a thread, with the thread's own routine behind ours if it gets a number.
/// The status is 0 when there is a new thread, whose handle then is in `handle`.
template <class Result, class Create>
int create_thread(Result (*routine)(void*), void* argument, bool detached, const pthread_t* handle, Create create) {
  start();
  if (!is_recording()) return create(routine, argument);
  Place& taken = take_place();
  // Without a place of its own a thread enlists itself, at the last one.
  if (&taken == &place(most_threads - 1)) return create(routine, argument);
  taken.routine = reinterpret_cast<void (*)()>(routine);
  taken.argument = argument;
  taken.detached.store(detached, std::memory_order_relaxed);
  const int status = create(begin_thread<Result>, &taken);
  if (status != 0) {
    give_back(taken);
  } else {
    pthread_t unknown = 0;  // the thread may not have run yet, and be detached by name at once
    taken.handle.compare_exchange_strong(unknown, *handle, std::memory_order_relaxed);
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

// C11's threads are those of POSIX by other names, but do not come by the functions above.
RANKLOOM_CALLBACK int thrd_create(thrd_t* handle, int (*routine)(void*), void* argument) {
  static_assert(thrd_success == 0 && sizeof(thrd_t) == sizeof(pthread_t));
  static const auto create = real<int(thrd_t*, int (*)(void*), void*)>("thrd_create");
  return create_thread(routine, argument, false, handle,
                       [=](int (*begin)(void*), void* with) { return create(handle, begin, with); });
}

RANKLOOM_CALLBACK int thrd_join(thrd_t handle, int* value) {
  static const auto join = real<int(thrd_t, int*)>("thrd_join");
  const int status = join(handle, value);
  if (status == thrd_success) was_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int thrd_detach(thrd_t handle) {
  static const auto detach = real<int(thrd_t)>("thrd_detach");
  was_detached(handle);
  return detach(handle);
}

RANKLOOM_CALLBACK int pthread_join(pthread_t handle, void** value) {
  static const auto join = real<int(pthread_t, void**)>("pthread_join");
  const int status = join(handle, value);
  if (status == 0) was_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_tryjoin_np(pthread_t handle, void** value) {
  static const auto join = real<int(pthread_t, void**)>("pthread_tryjoin_np");
  const int status = join(handle, value);
  if (status == 0) was_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_timedjoin_np(pthread_t handle, void** value, const timespec* until) {
  static const auto join = real<int(pthread_t, void**, const timespec*)>("pthread_timedjoin_np");
  const int status = join(handle, value, until);
  if (status == 0) was_joined(handle);
  return status;
}

RANKLOOM_CALLBACK int pthread_detach(pthread_t handle) {
  static const auto detach = real<int(pthread_t)>("pthread_detach");
  was_detached(handle);
  return detach(handle);
}

// These end the program without the steps that exit() takes.
RANKLOOM_CALLBACK void _exit(int status) {
  finish();
  for (;;) ::syscall(SYS_exit_group, status);
}
RANKLOOM_CALLBACK void _Exit(int status) {
  _exit(status);
}

/// Called by constructors that the compiler makes; ours comes first where it can.
RANKLOOM_CALLBACK void __tsan_init() {
  start();
}

namespace {

__attribute__((constructor(102))) void begin_program() {
  start();
  ::pthread_atfork(nullptr, nullptr, begin_anew_in_child);
  ::at_quick_exit(finish);
}

/// Behind all that the program registered with atexit, because it needs this library.
__attribute__((destructor(102))) void end_program() {
  finish();
}

}  // namespace
