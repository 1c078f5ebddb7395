/* SPDX-License-Identifier: Apache-2.0
 * Messages in communicators of every origin, which are counted with world ranks. 6 ranks. */
#include "program.h"

/* The communicator's rank `from` sends to its rank `to`. */
static void hand_over(MPI_Comm comm, int from, int to, int bytes) {
  if (comm == MPI_COMM_NULL) return;
  int local;
  MPI_Comm_rank(comm, &local);
  if (local == from) MPI_Send(out, bytes, MPI_BYTE, to, 0, comm);
  if (local == to) MPI_Recv(in + bytes, bytes, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm dup, halves, back, three, inner, cart, row, shared, idup, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  hand_over(dup, 0, 5, 1); /* 0 → 5 */
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  hand_over(halves, 0, 2, 10); /* 0 → 4, 1 → 5 */
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
  hand_over(back, 0, 1, 100); /* 5 → 4 */
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, -rank, &three);
  hand_over(three, 0, 2, 1000); /* 2 → 0 */
  MPI_Comm_split(halves, 0, -rank, &inner);
  hand_over(inner, 0, 2, 10000); /* 4 → 0, 5 → 1 */
  MPI_Group world, some;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 3, (int[]){5, 3, 1}, &some);
  MPI_Comm made, grouped = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, some, &made);
  hand_over(made, 0, 1, 2); /* 5 → 3 */
  if (rank % 2 == 1) MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &grouped);
  hand_over(grouped, 1, 2, 20); /* 3 → 1 */
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 3}, (int[]){0, 0}, 0, &cart);
  hand_over(cart, 2, 5, 3); /* 2 → 5 */
  MPI_Cart_sub(cart, (int[]){0, 1}, &row);
  hand_over(row, 2, 0, 30); /* 2 → 0, 5 → 3 */
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &shared);
  int sharing;
  MPI_Comm_size(shared, &sharing);
  if (sharing < size) { /* MPICH 5 with UCX shares no memory, not even within a host */
    MPI_Comm_free(&shared);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &shared);
  }
  hand_over(shared, 0, 5, 300); /* 5 → 0 */
  MPI_Request request;
  MPI_Comm_idup(back, &idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  hand_over(idup, 1, 0, 4); /* 4 → 5 */
  MPI_Comm_dup_with_info(three == MPI_COMM_NULL ? MPI_COMM_SELF : three, MPI_INFO_NULL, &again);
  if (rank < 3) hand_over(again, 1, 0, 40); /* 1 → 2 */
  MPI_Group_free(&world);
  MPI_Group_free(&some);
  MPI_Comm* const all[] = {&dup, &halves, &back, &three, &inner, &made, &grouped, &cart, &row, &shared, &idup, &again};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (*all[i] != MPI_COMM_NULL) MPI_Comm_free(all[i]);
  take(in, sizeof in);
  return finish();
}
