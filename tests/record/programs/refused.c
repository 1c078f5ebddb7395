/* SPDX-License-Identifier: Apache-2.0
 * Sends that MPI rejects: the program receives the error code and continues. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm careful;
  MPI_Comm_dup(MPI_COMM_WORLD, &careful);
  MPI_Comm_set_errhandler(careful, MPI_ERRORS_RETURN);
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_Send(out, 1, MPI_INT, size + 5, 4, careful), &class); /* invalid rank */
  const int refused = class == MPI_ERR_RANK;
  take(&refused, sizeof refused);
  MPI_Comm_free(&careful);
  /* Like the messages before, but with an invalid tag. */
  for (int i = 0; i < 200; ++i)
    MPI_Sendrecv(out, 1, MPI_INT, rank, 4, in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 50; ++i) {
    const int outcome =
        MPI_Sendrecv(out, 1, MPI_INT, rank, -7, in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(outcome, &class);
    const int bad_tag = class == MPI_ERR_TAG;
    take(&bad_tag, sizeof bad_tag);
  }
  return finish();
}
