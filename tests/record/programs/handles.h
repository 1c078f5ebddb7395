! SPDX-License-Identifier: Apache-2.0
! The three Fortran interfaces: -DMPIF, -DMPI or -DF08. They have different types of handles.
#ifdef F08
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WIN type(MPI_Win)
#define DATATYPE type(MPI_Datatype)
#elif defined(MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#define COMM integer
#define REQUEST integer
#define WIN integer
#define DATATYPE integer
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define COMM integer
#define REQUEST integer
#define WIN integer
#define DATATYPE integer
#endif
