! SPDX-License-Identifier: Apache-2.0
! Large counts in mpi_f08: a message of 10 integers, one of every second element of an array, a broadcast of 100 integers, and an alltoallv in place. 2 ranks.
program large
  use mpi_f08
  implicit none
  integer :: room(100), rank, i
  integer(kind=MPI_COUNT_KIND) :: ten = 10, hundred = 100, counts(0:1) = [3, 5]
  integer(kind=MPI_ADDRESS_KIND) :: places(0:1) = [0, 10]
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  room = [(100 * rank + i, i = 1, 100)]
  if (rank == 0) then
    call MPI_Send(room, ten, MPI_INTEGER, 1, 7, MPI_COMM_WORLD)
    call MPI_Isend(room, ten, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (MPI_SUBARRAYS_SUPPORTED) then
      call MPI_Send(room(1:20:2), ten, MPI_INTEGER, 1, 7, MPI_COMM_WORLD)
    else
      call MPI_Send(room, ten, MPI_INTEGER, 1, 7, MPI_COMM_WORLD)
    end if
  else
    do i = 1, 3
      call MPI_Recv(room, ten, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end if
  call MPI_Bcast(room, hundred, MPI_INTEGER, 1, MPI_COMM_WORLD)
  ! Both ranks exchange 5 integers.
  counts = 5
  counts(rank) = 3
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, room, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
  print '(a, i0, a, i0)', 'rank ', rank, ': ', sum(room)
  call MPI_Finalize()
end program
