/* SPDX-License-Identifier: Apache-2.0
 * Writes its environment to the file environment.<rank>. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char name[40];
  snprintf(name, sizeof name, "environment.%d", rank);
  FILE* file = fopen(name, "w");
  const char* const value = getenv("LD_PRELOAD");
  fprintf(file, "%s\n", value != NULL ? value : "nothing");
  fclose(file);
  return finish();
}
