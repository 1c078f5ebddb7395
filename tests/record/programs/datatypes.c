/* SPDX-License-Identifier: Apache-2.0
 * Derived datatypes count by their size, not by their extent. Rank 0 sends to rank 1; the k-th datatype has tag k. */
#include <stddef.h>

#include "program.h"

struct Padded {
  double weight;
  char letter;
};

static void hand_over(MPI_Datatype type, int count, int tag) {
  MPI_Type_commit(&type);
  if (rank == 0) MPI_Send(out + 4096, count, type, 1, tag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in + 4096, count, type, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Datatype type, inner;
  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type); /* 48 bytes over 96 */
  hand_over(type, 2, 0);                       /* 96 */
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct Padded, weight), offsetof(struct Padded, letter)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, places, types, &type); /* 9 bytes of 16 */
  hand_over(type, 10, 1);                                   /* 90 */
  const int whole[] = {8, 8}, part[] = {3, 4}, start[] = {1, 2};
  MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_INT, &type); /* 12 ints of 64 */
  hand_over(type, 1, 2);                                                        /* 48 */
  MPI_Type_create_resized(MPI_INT, 0, 100, &type);
  hand_over(type, 5, 3); /* 20 */
  MPI_Type_create_resized(MPI_SHORT, -6, 8, &type);
  hand_over(type, 4, 4); /* 8 */
  MPI_Type_create_resized(MPI_SHORT, 0, 10, &inner);
  MPI_Type_contiguous(7, inner, &type);
  MPI_Type_free(&inner); /* the outer datatype stays valid */
  hand_over(type, 3, 5); /* 42 */
  MPI_Type_contiguous(0, MPI_INT, &type);
  hand_over(type, 9, 6); /* 0 */
  char packed[100];
  int place = 0;
  MPI_Pack(out, 3, MPI_INT, packed, sizeof packed, &place, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(packed, place, MPI_PACKED, 1, 7, MPI_COMM_WORLD); /* 12 */
  if (rank == 1) MPI_Recv(in, place, MPI_PACKED, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  struct {
    double value;
    int place;
  } pair = {1.5, 3};
  if (rank == 0) MPI_Send(&pair, 1, MPI_DOUBLE_INT, 1, 8, MPI_COMM_WORLD); /* 12 of 16 */
  if (rank == 1) MPI_Recv(&pair, 1, MPI_DOUBLE_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, sizeof in);
  return finish();
}
