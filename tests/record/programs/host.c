/* SPDX-License-Identifier: Apache-2.0
 * A program without MPI that loads a library with MPI by dlopen(RTLD_LOCAL). */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc < 2) return 8;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 9;
  }
  int (*communicate)(void) = (int (*)(void))dlsym(library, "communicate");
  return communicate();
}
