! SPDX-License-Identifier: Apache-2.0
! Who talks to whom in the conjugate gradient of the NAS parallel benchmarks, class W on 8 ranks, from the published
! description: the matrix lies on 2 rows and 4 columns of ranks. A product with a vector is summed along the rows by
! exchanges with two partners, then handed to the rank that mirrors it; dot products are summed along the rows too.
program conjugate_gradient
  implicit none
  include 'mpif.h'
  integer, parameter :: order = 7000, outer = 16, inner = 25, rows = 2, columns = 4
  integer :: rank, ranks, error, round, step, column, partners(2), mirror
  double precision :: vector(order / columns), other(order / columns), pair(2), other_pair(2), dot

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  if (ranks /= rows * columns) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  column = mod(rank, columns)
  partners(1) = rank - column + mod(column + 2, columns)
  partners(2) = rank - column + mod(column + 1, 2) + column / 2 * 2
  mirror = 2 * (mod(rank / 2, rows) * rows + rank / 2 / rows) + mod(rank, 2)

  vector = 1d0 + rank
  do round = 1, outer                 ! the first one warms up
    dot = vector(1)
    call sum_along_row(dot)
    do step = 1, inner
      call multiply()
      dot = vector(1)
      call sum_along_row(dot)
      dot = vector(2)
      call sum_along_row(dot)
    end do
    call multiply()                   ! the residual
    dot = vector(3)
    call sum_along_row(dot)
    pair = [dot, vector(1)]           ! two norms at once
    do step = 1, 2
      call exchange(pair, other_pair, 2, partners(step))
      pair = 0.5d0 * (pair + other_pair)
    end do
    vector = vector + 1d-3 * pair(1)
  end do
  write (*, '(a,i0,a,es22.15,1x,es22.15)') 'rank ', rank, ': ', pair(1), vector(1)
  call MPI_Finalize(error)

contains
  subroutine exchange(mine, theirs, length, partner)
    double precision :: mine(*), theirs(*)
    integer :: length, partner, request, failure
    call MPI_Irecv(theirs, length, MPI_DOUBLE_PRECISION, partner, 1, MPI_COMM_WORLD, request, failure)
    call MPI_Send(mine, length, MPI_DOUBLE_PRECISION, partner, 1, MPI_COMM_WORLD, failure)
    call MPI_Wait(request, MPI_STATUS_IGNORE, failure)
  end subroutine

  subroutine sum_along_row(value)
    double precision :: value, one(1), theirs(1)
    integer :: turn
    one(1) = value
    do turn = 1, 2
      call exchange(one, theirs, 1, partners(turn))
      one = 0.5d0 * (one + theirs)
    end do
    value = one(1)
  end subroutine

  subroutine multiply()
    integer :: turn
    do turn = 1, 2
      call exchange(vector, other, order / columns, partners(turn))
      vector = 0.5d0 * (vector + other)
    end do
    call exchange(vector, other, order / columns, mirror)
    vector = other
  end subroutine
end program
