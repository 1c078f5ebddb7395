! SPDX-License-Identifier: Apache-2.0
! A partitioned message of 4 partitions of 5 integers from rank 0 to rank 1, with each of the three interfaces. 2 ranks.
program partitioned
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
#elif defined(MPI)
  use mpi
  implicit none
  integer :: request
#else
  implicit none
  include 'mpif.h'
  integer :: request
#endif
  integer :: room(20), rank, error, i
  integer(kind=MPI_COUNT_KIND) :: count
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  count = 5
  room = [(100 * rank + i, i = 1, 20)]
  if (rank == 0) then
    call MPI_Psend_init(room, 4, count, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, request, error)
    call MPI_Start(request, error)
    do i = 0, 3
      call MPI_Pready(i, request, error)
    end do
  else
    call MPI_Precv_init(room, 4, count, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, request, error)
    call MPI_Start(request, error)
  end if
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Request_free(request, error)
  print '(a, i0, a, i0)', 'rank ', rank, ': ', sum(room)
  call MPI_Finalize(error)
end program
