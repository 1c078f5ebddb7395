! SPDX-License-Identifier: Apache-2.0
! From Fortran: names of communicators, neighbours, one-sided calls, and phases. 3 ranks.
#include "handles.h"
program fortran_others
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ranks, error, value, got(12), room(20), below
  integer(MPI_ADDRESS_KIND) :: bytes, place
  COMM :: named, ring
  WIN :: memory

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  value = rank + 5
  got = 0
  room = 0
  ! {1, 0} and {2}
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 2), -rank, named, error)
  if (rank < 2) call MPI_Comm_set_name(named, 'the first two', error)
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, named, error)
  call MPI_Comm_free(named, error)
  ! A periodic ring: 4 integers to each neighbour.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [3], [.true.], .false., ring, error)
  room = value
  call MPI_Neighbor_alltoall(room, 4, MPI_INTEGER, got, 4, MPI_INTEGER, ring, error)
  call MPI_Comm_free(ring, error)
  ! 2 integers into the next rank's memory.
  bytes = 80
  call MPI_Win_create(room, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, error)
  call MPI_Win_fence(0, memory, error)
  place = 3
  below = mod(rank + 1, 3)
  call MPI_Put(got, 2, MPI_INTEGER, below, place, 2, MPI_INTEGER, memory, error)
  call MPI_Win_fence(0, memory, error)
  call MPI_Win_free(memory, error)
  ! 6 integers to the next rank at level 4.
  call MPI_Pcontrol(4)
  call MPI_Sendrecv(room, 6, MPI_INTEGER, below, 0, got, 6, MPI_INTEGER, mod(rank + 2, 3), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  write (*, '(a,i0,a,i0,1x,i0,1x,i0)') 'rank ', rank, ': ', value, sum(got), sum(room)
  call MPI_Finalize(error)
end program
