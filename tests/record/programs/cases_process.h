/* SPDX-License-Identifier: Apache-2.0
 * Cases in which the process itself does something unusual, and programs that end in an unusual way. */
#pragma once

#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "cases.h"

static void exchange(int times) {
  for (int i = 0; i < times; ++i)
    MPI_Sendrecv(out, 8, MPI_BYTE, next(), 1, in, 8, MPI_BYTE, before(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, 8);
  expect_times(next(), 8, times);
}
/* Phases for which the record needs more memory, above level 10,000. A case that runs alone has so many that the record
 * must move; there are at most 1,024 phases in all. */
static int phases_of_a_case = 70;
static void need_memory(void) {
  static int level = 10000;
  for (int i = 0; i < phases_of_a_case; ++i) {
    MPI_Pcontrol(++level);
    MPI_Sendrecv(out, 1, MPI_BYTE, rank, 1, in, 1, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Pcontrol(1000 + current_case);
}
static void records_that_grow(void) {
  need_memory();
  exchange(1);
}
static volatile sig_atomic_t alarms;
static void count_alarm(int number) {
  (void)number;
  ++alarms;
}
static void interrupted_by_signals(void) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, count_alarm);
  setitimer(ITIMER_REAL, &often, NULL);
  exchange(300);
  need_memory();
  setitimer(ITIMER_REAL, &never, NULL);
}
static void children_that_exit(void) {
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0 && i == 0) exit(3);
    if (child == 0 && i == 1) _exit(3);
    if (child == 0) execl("/bin/true", "true", (char*)NULL);
    int status;
    waitpid(child, &status, 0);
    flag(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  signal(SIGCHLD, SIG_IGN);
  if (fork() == 0) _exit(0);
  signal(SIGCHLD, SIG_DFL);
  exchange(1);
}
static void other_working_directory(void) {
  char name[] = "/tmp/rankloom-cases-XXXXXX";
  const int back = open(".", O_RDONLY);
  if (mkdtemp(name) == NULL || chdir(name) != 0 || rmdir(name) != 0) abort();
  exchange(2);
  need_memory();
  if (fchdir(back) != 0) abort();
  close(back);
}
static void foreign_descriptors_closed(void) {
  for (int file = 300; file < 1024; ++file) close(file);
  exchange(2);
  need_memory();
}
static void strange_umask(void) {
  const mode_t before_it = umask(0777);
  need_memory();
  exchange(1);
  umask(before_it);
}
static void levels_of_pcontrol(void) {
  MPI_Pcontrol(-5);
  MPI_Pcontrol(INT_MAX);
  MPI_Pcontrol(1000 + current_case); /* back to the phase of this case */
  exchange(1);
}
static void names_of_communicators(void) {
  char name[MPI_MAX_OBJECT_NAME + 1];
  MPI_Comm copy;
  int length = 0;
  memset(name, 'n', sizeof name);
  name[MPI_MAX_OBJECT_NAME - 1] = '\0';
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, name);
  MPI_Barrier(copy);
  MPI_Comm_set_name(copy, "");
  MPI_Barrier(copy);
  MPI_Comm_get_name(copy, name, &length);
  flag(length);
  MPI_Comm_free(&copy);
}
static void* exchange_with_itself(void* data) {
  MPI_Comm* const own = data;
  for (int i = 0; i < 200; ++i)
    MPI_Sendrecv(out, 8, MPI_BYTE, rank, 1, in + 1000, 8, MPI_BYTE, rank, 1, *own, MPI_STATUS_IGNORE);
  return NULL;
}
static void threads_with_small_stacks(void) {
  enum { count = 4 };
  pthread_t threads[count];
  MPI_Comm own[count];
  pthread_attr_t attributes;
  int level, times = 0;
  MPI_Query_thread(&level);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  for (int i = 0; i < count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  for (int i = 0; i < count; ++i) { /* at the same time, if MPI allows it */
    pthread_create(&threads[i], &attributes, exchange_with_itself, &own[i]);
    if (level < MPI_THREAD_MULTIPLE) pthread_join(threads[i], NULL);
    times += 200;
  }
  for (int i = 0; level == MPI_THREAD_MULTIPLE && i < count; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&own[i]);
  pthread_attr_destroy(&attributes);
  expect_times(rank, 8, times);
}
static void every_signal_blocked(void) {
  sigset_t all, earlier;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &earlier);
  exchange(50);
  need_memory();
  sigprocmask(SIG_SETMASK, &earlier, NULL);
}
/* As Fortran programs with -ffpe-trap. */
static void floating_point_traps(void) {
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  exchange(50);
  need_memory();
  fedisableexcept(FE_ALL_EXCEPT);
}
static void rounding_downwards(void) {
  fesetround(FE_DOWNWARD);
  need_memory();
  exchange(7);
  fesetround(FE_TONEAREST);
}
static void no_more_descriptors(void) {
  struct rlimit earlier, none;
  getrlimit(RLIMIT_NOFILE, &earlier);
  none = earlier;
  none.rlim_cur = 3;
  exchange(1); /* connections exist */
  setrlimit(RLIMIT_NOFILE, &none);
  need_memory();
  setrlimit(RLIMIT_NOFILE, &earlier);
  exchange(1);
}
/* Who may neither write nor delete the file of the record. The other ranks keep their files. */
static void another_user(void) {
  const int changes = geteuid() == 0 && rank % 2 == 1;
  if (changes && seteuid(65534) != 0) abort();
  need_memory();
  if (changes && seteuid(0) != 0) abort();
  exchange(1);
}
static void bound_by_itself(void) {
  cpu_set_t earlier, one;
  sched_getaffinity(0, sizeof earlier, &earlier);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &earlier)) CPU_SET(i, &one);
  sched_setaffinity(0, sizeof one, &one);
  exchange(3);
  sched_setaffinity(0, sizeof earlier, &earlier);
}
static void other_programs(void) {
  char line[40] = "";
  FILE* const pipe = popen("echo seven", "r");
  if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL) abort();
  flag(pclose(pipe));
  take(line, strlen(line));
  flag(system("exit 7"));
  exchange(1);
}
static void* exit_the_thread(void* data) {
  exchange_with_itself(data);
  pthread_exit(NULL);
}
static sem_t ready;
static void* wait_to_be_cancelled(void* data) {
  exchange_with_itself(data);
  sem_post(&ready);
  for (;;) pause();
  return NULL;
}
static void threads_that_do_not_return(void) {
  pthread_t thread;
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  pthread_create(&thread, NULL, exit_the_thread, &own);
  pthread_join(thread, NULL);
  sem_init(&ready, 0, 0);
  pthread_create(&thread, NULL, wait_to_be_cancelled, &own);
  sem_wait(&ready);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  sem_destroy(&ready);
  MPI_Comm_free(&own);
  expect_times(rank, 8, 400);
}
/* The last cases, because they cannot be undone. The record cannot grow any more; the program must not notice. */
static void limited_file_size(void) {
  const struct rlimit none = {0, RLIM_INFINITY};
  const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  need_memory();
  exchange(1);
  setrlimit(RLIMIT_FSIZE, &all);
}
static void environment_cleared(void) {
  clearenv();
  exchange(1);
}

/* Endings. Each returns the status with which main ends; most do not return. */
static void finalize_at_exit(void) {
  MPI_Finalize();
}
static int finalize_in_an_exit_handler(void) {
  atexit(finalize_at_exit);
  return 0;
}
static int exit_after_finalize(void) {
  MPI_Finalize();
  int done = 0;
  MPI_Finalized(&done);
  exit(done ? 0 : 1);
}
static int exec_after_finalize(void) {
  MPI_Finalize();
  execl("/bin/true", "true", (char*)NULL);
  return 1;
}
static int fork_after_finalize(void) {
  MPI_Finalize();
  const pid_t child = fork();
  if (child == 0) return 0;
  waitpid(child, NULL, 0);
  return 0;
}
static int late_finalize_of_one_rank(void) {
  if (rank == 1) usleep(300000);
  MPI_Finalize();
  return 0;
}
static int pending_requests_at_the_end(void) {
  MPI_Request request;
  MPI_Recv_init(in, 8, MPI_BYTE, before(), 9, MPI_COMM_WORLD, &request); /* inactive and never freed */
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* never freed */
  MPI_Barrier(copy);
  MPI_Finalize();
  return 0;
}
/* An attribute of MPI_COMM_SELF is deleted first of all in MPI_Finalize, where messages are still allowed. */
static int send_at_the_end(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  MPI_Sendrecv(out, 9, MPI_BYTE, next(), 1, in, 9, MPI_BYTE, before(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}
static int messages_in_finalize(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_the_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_free_keyval(&key);
  MPI_Finalize();
  return 0;
}
static int quick_exit_after_finalize(void) {
  MPI_Finalize();
  quick_exit(5);
}
static int exit_of_a_thread_after_finalize(void) {
  MPI_Finalize();
  pthread_exit(NULL);
}
static void abort_now(int number) {
  (void)number;
  MPI_Abort(MPI_COMM_WORLD, 6);
}
/* The handler interrupts the recorder, which looks for a phase in a long list; MPI_Pcontrol does nothing in MPI itself.
 */
static int abort_in_a_signal_handler(void) {
  struct itimerval soon = {{0, 0}, {0, 1000 + 137 * (getpid() % 50)}};
  signal(SIGALRM, abort_now);
  for (int level = 0; level < 1000; ++level) MPI_Pcontrol(level);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) MPI_Pcontrol(999);
  return 1;
}
static void abort_for(MPI_Comm* comm, int* code, ...) {
  (void)code;
  MPI_Abort(*comm, 6);
}
static int abort_in_an_error_handler(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(abort_for, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Send(out, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
  return 1;
}
static void exit_now(int number) {
  (void)number;
  _exit(6);
}
static int exit_in_a_signal_handler(void) {
  struct itimerval soon = {{0, 0}, {0, 20000}};
  signal(SIGALRM, exit_now);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) MPI_Sendrecv(out, 8, MPI_BYTE, rank, 1, in, 8, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 1;
}
static void* receive_forever(void* unused) {
  MPI_Recv(in, 1, MPI_BYTE, rank, 123, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return unused;
}
static int exit_while_a_thread_waits(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive_forever, NULL);
  usleep(20000);
  exit(6);
}
