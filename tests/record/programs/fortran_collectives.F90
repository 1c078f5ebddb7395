! SPDX-License-Identifier: Apache-2.0
! Collectives from Fortran: 101 … 110 integers, as in collectives.c; arguments "in-place" and "nonblocking". 4 ranks,
! root 2. Uneven collectives have root 1; rank r has r + 1 integers.
#include "handles.h"
program fortran_collectives
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ranks, error, k, at, counts(4), places(4), to(4), same(4), to_places(4)
  integer :: work(4096), got(4096)
  integer(8) :: total
  logical :: in_place, nonblocking
  character(20) :: word
  REQUEST :: wait_for
  COMM :: world
  DATATYPE :: kind

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  world = MPI_COMM_WORLD
  kind = MPI_INTEGER
  in_place = .false.
  nonblocking = .false.
  total = 0
  do k = 1, command_argument_count()
    call get_command_argument(k, word)
    if (word == 'in-place') in_place = .true.
    if (word == 'nonblocking') nonblocking = .true.
  end do
  do k = 1, 4
    counts(k) = k
    places(k) = 100 * (k - 1)
    to(k) = (rank + 1) * k
    to_places(k) = 50 * (k - 1)
    same(k) = merge(0, 1 + abs(rank - k + 1), rank == k - 1)
  end do
  if (nonblocking) then
    call all_nonblocking()
  else
    call all_blocking()
  end if
  write (*, '(a,i0,a,i0)') 'rank ', rank, ': ', total
  call MPI_Finalize(error)

contains
  subroutine prepare()
    integer :: i
    work = [(1000 * rank + i, i = 1, 4096)]
    got = 0
    if (in_place) got = work
  end subroutine

  subroutine take(length)
    integer :: length, i
    do i = 1, length
      total = mod(total * 31 + got(i), 1000000007_8)
    end do
  end subroutine

  subroutine all_blocking()
    call MPI_Barrier(world, error)
    call prepare()
    call MPI_Bcast(work, 101, kind, 2, world, error)
    got = work
    call take(101)
    call prepare()
    if (in_place .and. rank == 2) then
      call MPI_Reduce(MPI_IN_PLACE, got, 102, kind, MPI_SUM, 2, world, error)
    else
      call MPI_Reduce(work, got, 102, kind, MPI_SUM, 2, world, error)
    end if
    if (rank == 2) call take(102)
    call prepare()
    if (in_place .and. rank == 2) then
      got(207:309) = work(1:103)
      call MPI_Gather(MPI_IN_PLACE, 103, kind, got, 103, kind, 2, world, error)
    else
      call MPI_Gather(work, 103, kind, got, 103, kind, 2, world, error)
    end if
    if (rank == 2) call take(412)
    call prepare()
    if (in_place .and. rank == 2) then
      call MPI_Scatter(work, 104, kind, MPI_IN_PLACE, 104, kind, 2, world, error)
    else
      call MPI_Scatter(work, 104, kind, got, 104, kind, 2, world, error)
      call take(104)
    end if
    call prepare()
    if (in_place) then
      call MPI_Allreduce(MPI_IN_PLACE, got, 105, kind, MPI_SUM, world, error)
    else
      call MPI_Allreduce(work, got, 105, kind, MPI_SUM, world, error)
    end if
    call take(105)
    call prepare()
    if (in_place) then
      got(106 * rank + 1:106 * rank + 106) = work(1:106)
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 106, kind, world, error)
    else
      call MPI_Allgather(work, 106, kind, got, 106, kind, world, error)
    end if
    call take(424)
    call prepare()
    if (in_place) then
      call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 107, kind, world, error)
    else
      call MPI_Alltoall(work, 107, kind, got, 107, kind, world, error)
    end if
    call take(428)
    call prepare()
    if (in_place) then
      call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, 108, kind, MPI_SUM, world, error)
    else
      call MPI_Reduce_scatter_block(work, got, 108, kind, MPI_SUM, world, error)
    end if
    call take(108)
    call prepare()
    if (in_place) then
      call MPI_Scan(MPI_IN_PLACE, got, 109, kind, MPI_SUM, world, error)
    else
      call MPI_Scan(work, got, 109, kind, MPI_SUM, world, error)
    end if
    call take(109)
    call prepare()
    if (in_place) then
      call MPI_Exscan(MPI_IN_PLACE, got, 110, kind, MPI_SUM, world, error)
    else
      call MPI_Exscan(work, got, 110, kind, MPI_SUM, world, error)
    end if
    if (rank > 0) call take(110)
    ! Uneven collectives.
    call prepare()
    if (in_place .and. rank == 1) then
      got(places(2) + 1:places(2) + 2) = work(1:2)
      call MPI_Gatherv(MPI_IN_PLACE, 0, kind, got, counts, places, kind, 1, world, error)
    else
      call MPI_Gatherv(work, rank + 1, kind, got, counts, places, kind, 1, world, error)
    end if
    if (rank == 1) call take(304)
    call prepare()
    if (in_place .and. rank == 1) then
      call MPI_Scatterv(work, counts, places, kind, MPI_IN_PLACE, 0, kind, 1, world, error)
    else
      call MPI_Scatterv(work, counts, places, kind, got, rank + 1, kind, 1, world, error)
      call take(rank + 1)
    end if
    call prepare()
    if (in_place) then
      got(places(rank + 1) + 1:places(rank + 1) + rank + 1) = work(1:rank + 1)
      call MPI_Allgatherv(MPI_IN_PLACE, 0, kind, got, counts, places, kind, world, error)
    else
      call MPI_Allgatherv(work, rank + 1, kind, got, counts, places, kind, world, error)
    end if
    call take(304)
    call prepare()
    if (in_place) then
      call MPI_Reduce_scatter(MPI_IN_PLACE, got, counts, kind, MPI_SUM, world, error)
    else
      call MPI_Reduce_scatter(work, got, counts, kind, MPI_SUM, world, error)
    end if
    call take(rank + 1)
    call prepare()
    if (in_place) then
      call MPI_Alltoallv(MPI_IN_PLACE, same, to_places, kind, got, same, to_places, kind, world, error)
    else
      call MPI_Alltoallv(work, to, to_places, kind, got, to, to_places, kind, world, error)
    end if
    call take(200)
  end subroutine

  subroutine done()
    call MPI_Wait(wait_for, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine all_nonblocking()
    call MPI_Ibarrier(world, wait_for, error)
    call done()
    call prepare()
    call MPI_Ibcast(work, 101, kind, 2, world, wait_for, error)
    call done()
    got = work
    call take(101)
    call prepare()
    call MPI_Ireduce(work, got, 102, kind, MPI_SUM, 2, world, wait_for, error)
    call done()
    if (rank == 2) call take(102)
    call prepare()
    call MPI_Igather(work, 103, kind, got, 103, kind, 2, world, wait_for, error)
    call done()
    if (rank == 2) call take(412)
    call prepare()
    call MPI_Iscatter(work, 104, kind, got, 104, kind, 2, world, wait_for, error)
    call done()
    call take(104)
    call prepare()
    if (in_place) then
      call MPI_Iallreduce(MPI_IN_PLACE, got, 105, kind, MPI_SUM, world, wait_for, error)
    else
      call MPI_Iallreduce(work, got, 105, kind, MPI_SUM, world, wait_for, error)
    end if
    call done()
    call take(105)
    call prepare()
    call MPI_Iallgather(work, 106, kind, got, 106, kind, world, wait_for, error)
    call done()
    call take(424)
    call prepare()
    if (in_place) then
      call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 107, kind, world, wait_for, error)
    else
      call MPI_Ialltoall(work, 107, kind, got, 107, kind, world, wait_for, error)
    end if
    call done()
    call take(428)
    call prepare()
    call MPI_Ireduce_scatter_block(work, got, 108, kind, MPI_SUM, world, wait_for, error)
    call done()
    call take(108)
    call prepare()
    call MPI_Iscan(work, got, 109, kind, MPI_SUM, world, wait_for, error)
    call done()
    call take(109)
    call prepare()
    call MPI_Iexscan(work, got, 110, kind, MPI_SUM, world, wait_for, error)
    call done()
    if (rank > 0) call take(110)
    call prepare()
    call MPI_Igatherv(work, rank + 1, kind, got, counts, places, kind, 1, world, wait_for, error)
    call done()
    call prepare()
    call MPI_Iscatterv(work, counts, places, kind, got, rank + 1, kind, 1, world, wait_for, error)
    call done()
    call take(rank + 1)
    call prepare()
    call MPI_Iallgatherv(work, rank + 1, kind, got, counts, places, kind, world, wait_for, error)
    call done()
    call prepare()
    call MPI_Ireduce_scatter(work, got, counts, kind, MPI_SUM, world, wait_for, error)
    call done()
    call take(rank + 1)
    call prepare()
    if (in_place) then
      call MPI_Ialltoallv(MPI_IN_PLACE, same, to_places, kind, got, same, to_places, kind, world, wait_for, error)
    else
      call MPI_Ialltoallv(work, to, to_places, kind, got, to, to_places, kind, world, wait_for, error)
    end if
    call done()
    call take(200)
  end subroutine
end program
