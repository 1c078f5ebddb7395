# The standard ABI of MPI 5: MPI_ABI_INCLUDE_DIRS, whose mpi.h is that of the ABI, and MPI_ABI_LIBRARY. Any MPI library may provide
# them: Open MPI has standard_abi/mpi.h, MPICH has mpi_abi.h, and the library is called libmpi_abi in both.
set(folders /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib)
find_path(MPI_ABI_OPENMPI_INCLUDE standard_abi/mpi.h PATHS ${folders} PATH_SUFFIXES openmpi/include)
find_path(MPI_ABI_MPICH_INCLUDE mpi_abi.h PATHS ${folders} PATH_SUFFIXES mpich/include mpich)
find_library(MPI_ABI_LIBRARY mpi_abi PATHS ${folders} PATH_SUFFIXES openmpi/lib mpich/lib)
mark_as_advanced(MPI_ABI_OPENMPI_INCLUDE MPI_ABI_MPICH_INCLUDE MPI_ABI_LIBRARY)

set(MPI_ABI_INCLUDE_DIRS "")
if(MPI_ABI_OPENMPI_INCLUDE)
  set(MPI_ABI_INCLUDE_DIRS ${MPI_ABI_OPENMPI_INCLUDE}/standard_abi)
elseif(MPI_ABI_MPICH_INCLUDE)
  file(WRITE ${PROJECT_BINARY_DIR}/mpi_abi/mpi.h "#include <mpi_abi.h>\n")
  set(MPI_ABI_INCLUDE_DIRS ${PROJECT_BINARY_DIR}/mpi_abi ${MPI_ABI_MPICH_INCLUDE})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPI_ABI REQUIRED_VARS MPI_ABI_LIBRARY MPI_ABI_INCLUDE_DIRS)
