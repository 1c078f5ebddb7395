! SPDX-License-Identifier: Apache-2.0
! tests/reorder: the four calls from Fortran, by mpif.h, `use mpi` or mpi_f08. Prints how many processes got another rank
! from each, and ends with an error when a neighbour, a weight or a message is wrong.
#if defined(F08)
#define COMM type(MPI_Comm)
#else
#define COMM integer
#endif

module checks
  implicit none
contains
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) then
      write (0, *) what
      error stop 1
    end if
  end subroutine
end module

program topologies
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  use checks
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer :: rank, n, ierr, half, pair(2), i
  integer, allocatable :: index(:), edges(:)
  integer :: sources(2), degrees(2), targets(2), weights(2)
  COMM :: comm

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  half = n / 2

  ! A ring in one dimension, and the grid of it.
  call MPI_Cart_create(MPI_COMM_WORLD, 2, (/half, 2/), (/.true., .false./), .true., comm, ierr)
  call expect(ierr == MPI_SUCCESS, 'no grid')
  call grid(comm)

  ! Pairs at distance n/2.
  allocate (index(n), edges(n))
  do i = 1, n
    index(i) = i
    edges(i) = mod(i - 1 + half, n)
  end do
  call MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, .true., comm, ierr)
  call expect(ierr == MPI_SUCCESS, 'no graph')
  call MPI_Comm_rank(comm, i, ierr)
  call MPI_Graph_neighbors(comm, i, 1, pair, ierr)
  call expect(pair(1) == mod(i + half, n), 'graph: another neighbour')
  call talk(comm, mod(i + half, n), mod(i + half, n), 'graph')

  ! The same as distributed graphs: without weights, with weights, with weights and nothing to weigh.
  sources(1) = rank
  degrees(1) = 1
  targets(1) = mod(rank + half, n)
  weights(1) = 5 + rank
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., comm, ierr)
  call expect(ierr == MPI_SUCCESS, 'no edges')
  call neighbours(comm, .false., 'edges')
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, targets, weights, MPI_INFO_NULL, .true., comm, ierr)
  call neighbours(comm, .true., 'weighted edges')
  sources(1) = targets(1)
  weights(2) = 5 + sources(1)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., comm, ierr)
  call neighbours(comm, .false., 'adjacent')
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights(2:2), 1, targets, weights(1:1), MPI_INFO_NULL, .true., comm, ierr)
  call neighbours(comm, .true., 'weighted adjacent')
  ! The lower half sends to the upper one only.
  if (rank < half) then
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 1, targets, weights(1:1), MPI_INFO_NULL, .true., comm, ierr)
  else
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights(2:2), 0, targets, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .true., comm, ierr)
  end if
  call expect(ierr == MPI_SUCCESS, 'no half graph')
  call one_way(comm)
  call MPI_Finalize(ierr)

contains

  subroutine grid(comm)
    COMM, intent(in) :: comm
    integer :: mine, down, up, where(2), ndims(2)
    logical :: periods(2)
    call MPI_Comm_rank(comm, mine, ierr)
    call MPI_Cart_get(comm, 2, ndims, periods, where, ierr)
    call expect(all(ndims == (/half, 2/)) .and. periods(1) .and. .not. periods(2), 'another grid')
    call MPI_Cart_shift(comm, 0, 1, down, up, ierr)
    call expect(up == mod(mine + 2, 2 * half), 'grid: another neighbour')
    call talk(comm, up, down, 'grid')
  end subroutine

  subroutine neighbours(comm, weighted, name)
    COMM, intent(in) :: comm
    logical, intent(in) :: weighted
    character(*), intent(in) :: name
    integer :: in, out, mine, from(1), to(1), from_weight(1), to_weight(1)
    logical :: has
    call MPI_Comm_rank(comm, mine, ierr)
    call MPI_Dist_graph_neighbors_count(comm, in, out, has, ierr)
    call expect(in == 1 .and. out == 1 .and. (has .eqv. weighted), name//': another number of neighbours')
    if (weighted) then
      call MPI_Dist_graph_neighbors(comm, 1, from, from_weight, 1, to, to_weight, ierr)
      call expect(to_weight(1) == 5 + mine .and. from_weight(1) == 5 + from(1), name//': a wrong weight')
    else
      call MPI_Dist_graph_neighbors(comm, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierr)
    end if
    call expect(to(1) == mod(mine + half, n) .and. from(1) == to(1), name//': another neighbour')
    call talk(comm, to(1), from(1), name)
  end subroutine

  subroutine one_way(comm)
    COMM, intent(in) :: comm
    integer :: in, out, mine
    logical :: has
    call MPI_Comm_rank(comm, mine, ierr)
    call MPI_Dist_graph_neighbors_count(comm, in, out, has, ierr)
    call expect(merge(in == 0 .and. out == 1, in == 1 .and. out == 0, mine < half), 'half: another number of neighbours')
    call moved(comm, 'half')
  end subroutine

  subroutine talk(comm, to, from, name)
    COMM, intent(in) :: comm
    integer, intent(in) :: to, from
    character(*), intent(in) :: name
    integer :: sent(1), got(1), mine
#if defined(F08)
    type(MPI_Status) :: status
#else
    integer :: status(MPI_STATUS_SIZE)
#endif
    call MPI_Comm_rank(comm, mine, ierr)
    sent = mine * 10
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, to, 3, got, 1, MPI_INTEGER, from, 3, comm, status, ierr)
    call expect(got(1) == from * 10, name//': a wrong message')
    call moved(comm, name)
  end subroutine

  subroutine moved(comm, name)
    COMM, intent(in) :: comm
    character(*), intent(in) :: name
    integer :: mine, one(1), all_of_them(1)
    call MPI_Comm_rank(comm, mine, ierr)
    one = merge(1, 0, mine /= rank)
    call MPI_Reduce(one, all_of_them, 1, MPI_INTEGER, MPI_SUM, 0, comm, ierr)
    if (mine == 0) print '(a,a,i0)', name, ': moved ', all_of_them(1)
  end subroutine
end program
