// SPDX-License-Identifier: Apache-2.0
// Calls the library from two threads in turn; it is linked, or loaded by dlopen if there is an argument.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifdef LINKED
long add(long what);
#endif
static long (*function)(long);

static void* call(void* nothing) {
  for (int i = 0; i < 10; ++i) function(1);
  return nothing;
}

int main(int argc, char** argv) {
#ifdef LINKED
  function = add;
#else
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) return 1;
  function = (long (*)(long))dlsym(library, "add");
#endif
  for (int round = 0; round < 20; ++round) {
    pthread_t thread;
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, NULL);
    call(NULL);
  }
  printf("%ld\n", function(0));
  return 0;
}
