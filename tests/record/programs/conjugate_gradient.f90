! SPDX-License-Identifier: Apache-2.0
! The communication pattern of the NAS parallel benchmark CG, class W on 8 ranks, after its published description: the
! matrix is distributed over 2 rows and 4 columns of ranks. A matrix-vector product is summed along the rows by exchanges
! with two partners, then sent to the transposed rank; dot products are summed along the rows too. There is no computation,
! and the messages of one outer iteration are concurrent, so that 8 ranks run on two cores.
program conjugate_gradient
  implicit none
  include 'mpif.h'
  integer, parameter :: order = 7000, outer = 16, inner = 25, rows = 2, columns = 4, most = 300
  integer :: rank, ranks, error, round, step, column, partners(2), mirror, under_way, requests(2 * most)
  double precision :: vector(order / columns), inbox(order / columns, most), total

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
    under_way = 0
    inbox = 0d0
    call along_row(1)                 ! rho
    do step = 1, inner
      call multiply()
      call along_row(1)               ! d
      call along_row(1)               ! rho
    end do
    call multiply()                   ! the residual,
    call along_row(1)                 ! its norm,
    call along_row(2)                 ! and two norms at once
    call MPI_Waitall(2 * under_way, requests, MPI_STATUSES_IGNORE, error)
    total = sum(inbox)
    vector = 0.5d0 * (vector + total / (order * inner))
  end do
  write (*, '(a,i0,a,es22.15)') 'rank ', rank, ': ', total
  call MPI_Finalize(error)

contains
  subroutine exchange(length, partner)
    integer :: length, partner, failure
    under_way = under_way + 1
    call MPI_Irecv(inbox(1, under_way), length, MPI_DOUBLE_PRECISION, partner, 1, MPI_COMM_WORLD, requests(2 * under_way - 1), failure)
    call MPI_Isend(vector, length, MPI_DOUBLE_PRECISION, partner, 1, MPI_COMM_WORLD, requests(2 * under_way), failure)
  end subroutine

  subroutine along_row(length)
    integer :: length
    call exchange(length, partners(1))
    call exchange(length, partners(2))
  end subroutine

  subroutine multiply()
    call along_row(order / columns)
    call exchange(order / columns, mirror)
  end subroutine
end program
