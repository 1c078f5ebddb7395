/* SPDX-License-Identifier: Apache-2.0
 * Ranks that start other programs, or forks of themselves, between their messages: "fork", "fork exit", "exec",
 * "system", "popen". 2 ranks. */
#include <sys/wait.h>

#include "program.h"

static void talk(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 0, in, sizeof in, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  take(in, (size_t)bytes);
}

int main(int argc, char** argv) {
  const char* const how = argv[1];
  begin(&argc, &argv);
  talk(100);
  int status = 0;
  if (strcmp(how, "system") == 0) {
    status = system("true && /bin/echo the child says hello");
  } else if (strcmp(how, "popen") == 0) {
    char line[40] = "";
    FILE* pipe = popen("echo through a pipe", "r");
    if (fgets(line, sizeof line, pipe) == NULL) return 9;
    status = pclose(pipe);
    take(line, strlen(line));
  } else {
    const pid_t child = fork();
    if (child == 0) {
      if (strcmp(how, "exec") == 0) execl("/bin/echo", "echo", "the child says hello", NULL);
      if (strcmp(how, "fork exit") == 0) exit(5); /* with its destructors and exit handlers */
      _exit(5);
    }
    waitpid(child, &status, 0);
  }
  take(&status, sizeof status);
  talk(200);
  return finish();
}
