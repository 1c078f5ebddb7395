// SPDX-License-Identifier: Apache-2.0
// Two threads share a line; then the program ends in the way that the argument names, with status 7.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(64) volatile long shared[8];

static void* share(void* nothing) {
  for (int i = 0; i < 8; ++i) shared[i] += 1;
  return nothing;
}

static void run_thread(void) {
  pthread_t thread;
  shared[0] = 1;
  pthread_create(&thread, NULL, share, NULL);
  pthread_join(thread, NULL);
}

static void* end_program(void* nothing) {
  exit(7);
  return nothing;
}

static void* sleep_long(void* nothing) {
  for (;;) shared[7] += 1;
  return nothing;
}

static void end_now(int signal) {
  _exit(signal == SIGUSR1 ? 7 : 8);
}

static void end_on_small_stack(void) {
  static char stack[16384];  // little more than the signal frame of the kernel
  const stack_t where = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = end_now, .sa_flags = SA_ONSTACK};
  sigaltstack(&where, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}

static void end_late(void) {
  run_thread();
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "return";
  setvbuf(stdout, NULL, _IONBF, 0);
  run_thread();
  puts("ends");
  pthread_t thread;
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "_Exit") == 0) _Exit(7);
  if (strcmp(how, "quick_exit") == 0) quick_exit(7);
  if (strcmp(how, "exit") == 0) exit(7);
  if (strcmp(how, "atexit") == 0) atexit(end_late);
  if (strcmp(how, "thread") == 0 && pthread_create(&thread, NULL, end_program, NULL) == 0) pthread_exit(NULL);
  if (strcmp(how, "running") == 0) pthread_create(&thread, NULL, sleep_long, NULL);
  if (strcmp(how, "many") == 0)
    for (int i = 0; i < 3000; ++i) run_thread();
  if (strcmp(how, "small stack") == 0) end_on_small_stack();
  if (strcmp(how, "chdir") == 0 && chdir("/") != 0) abort();
  if (strcmp(how, "close") == 0) closefrom(0);
  if (strcmp(how, "system") == 0 && system("exit 3") != 3 << 8) abort();
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) exit(9);
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 9) abort();
  }
  if (strcmp(how, "fork with threads") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 5; ++i) run_thread();
      _exit(9);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 9) abort();
  }
  if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) _exit(9);
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 9) abort();
  }
  return 7;
}
