/* SPDX-License-Identifier: Apache-2.0
 * Sends that MPI refuses: the program gets its error and goes on. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm careful;
  MPI_Comm_dup(MPI_COMM_WORLD, &careful);
  MPI_Comm_set_errhandler(careful, MPI_ERRORS_RETURN);
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_Send(out, 1, MPI_INT, size + 5, 4, careful), &class); /* nobody of that number */
  const int refused = class == MPI_ERR_RANK;
  take(&refused, sizeof refused);
  MPI_Comm_free(&careful);
  return finish();
}
