! SPDX-License-Identifier: Apache-2.0
! A program without MPI_Init: the ranks of a session exchange 10 integers, with mpi and mpi_f08. 2 ranks.
program sessions
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
#else
  use mpi
  implicit none
  integer :: session, group, comm
#endif
  integer :: mine(10), theirs(10), rank, error, i
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, error)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, error)
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, error)
  call MPI_Group_free(group, error)
  call MPI_Comm_rank(comm, rank, error)
  mine = [(100 * rank + i, i = 1, 10)]
  call MPI_Sendrecv(mine, 10, MPI_INTEGER, 1 - rank, 7, theirs, 10, MPI_INTEGER, 1 - rank, 7, comm, MPI_STATUS_IGNORE, error)
  print '(a, i0, a, i0)', 'rank ', rank, ': ', sum(theirs)
  call MPI_Comm_free(comm, error)
  call MPI_Session_finalize(session, error)
end program
