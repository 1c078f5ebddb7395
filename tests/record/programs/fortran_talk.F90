! SPDX-License-Identifier: Apache-2.0
! Point-to-point communication from Fortran: rank 0 sends to rank 1 with every function, 2^k integers with the k-th;
! MPI_Sendrecv in both directions; derived datatypes, MPI_PROC_NULL, the rank itself, and a communicator in reverse order.
#include "handles.h"
program fortran_talk
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, ranks, other, error, k, count, buffer(10000)
  integer :: outbox(4096), inbox(4096), room(4096, 10)
  REQUEST :: requests(10), one
  COMM :: back
  DATATYPE :: spread

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  other = 1 - rank
  outbox = [(k + 1000 * rank, k = 1, 4096)]
  inbox = 0
  room = 0
  call MPI_Buffer_attach(buffer, 40000, error)
  if (rank == 1) then
    do k = 0, 7
      call MPI_Irecv(room(1, k + 1), 2**k, MPI_INTEGER, 0, k, MPI_COMM_WORLD, requests(k + 1), error)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, error)
  else
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Send(outbox, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, error)
    call MPI_Bsend(outbox, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Ssend(outbox, 4, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, error)
    call MPI_Rsend(outbox, 8, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, error)
    call MPI_Isend(outbox, 16, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, requests(1), error)
    call MPI_Ibsend(outbox, 32, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, requests(2), error)
    call MPI_Issend(outbox, 64, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, requests(3), error)
    call MPI_Irsend(outbox, 128, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, requests(4), error)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
  end if
  ! In both directions: 2^8 from 0 and 3 from 1, then 2^9 each.
  count = merge(256, 3, rank == 0)
  call MPI_Sendrecv(outbox, count, MPI_INTEGER, other, 8, room(1, 9), 256, MPI_INTEGER, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv_replace(outbox, 512, MPI_INTEGER, other, 9, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  ! Persistent: 2^10 started three times, by both calls.
  if (rank == 0) then
    call MPI_Send_init(outbox, 1024, MPI_INTEGER, 1, 10, MPI_COMM_WORLD, requests(1), error)
  else
    call MPI_Recv_init(inbox, 1024, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, requests(1), error)
  end if
  do k = 1, 2
    call MPI_Start(requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  end do
  call MPI_Startall(1, requests, error)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Request_free(requests(1), error)
  ! Every second of 10 integers, in a communicator in reverse order: 1 → 0, 5 integers, twice.
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, back, error)
  call MPI_Type_vector(5, 1, 2, MPI_INTEGER, spread, error)
  call MPI_Type_commit(spread, error)
  do k = 1, 2
    if (rank == 1) call MPI_Send(outbox, 1, spread, 1, 11, back, error)
    if (rank == 0) call MPI_Recv(inbox, 1, spread, 0, 11, back, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Type_free(spread, error)
  call MPI_Comm_free(back, error)
  ! MPI_PROC_NULL, and the rank itself: 7 integers.
  call MPI_Send(outbox, 9, MPI_INTEGER, MPI_PROC_NULL, 12, MPI_COMM_WORLD, error)
  call MPI_Isend(outbox, 7, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, one, error)
  call MPI_Recv(room(1, 10), 7, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Wait(one, MPI_STATUS_IGNORE, error)
  write (*, '(a,i0,a,i0,1x,i0,1x,i0)') 'rank ', rank, ': ', sum(inbox), sum(outbox), sum(room)
  call MPI_Finalize(error)
end program
