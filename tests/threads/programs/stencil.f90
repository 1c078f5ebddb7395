! SPDX-License-Identifier: Apache-2.0
! Fortran with OpenMP: columns are distributed in blocks, neighbours share the columns at their boundary.
program stencil
  implicit none
  integer, parameter :: rows = 512, columns = 64
  real(8), allocatable :: a(:, :), b(:, :)
  integer :: step, j
  allocate(a(rows, columns), b(rows, columns))
  !$omp parallel do schedule(static)
  do j = 2, columns - 1
    a(:, j) = 1
    b(:, j) = 1
  end do
  a(:, 1) = 1
  b(:, 1) = 1
  a(:, columns) = 1
  b(:, columns) = 1
  do step = 1, 40
    !$omp parallel do schedule(static)
    do j = 2, columns - 1
      b(:, j) = (a(:, j - 1) + a(:, j + 1)) / 2
    end do
    !$omp parallel do schedule(static)
    do j = 2, columns - 1
      a(:, j) = (b(:, j - 1) + b(:, j + 1)) / 2
    end do
  end do
  if (abs(a(5, 5) - 1) > 1d-9) stop 1
end program
