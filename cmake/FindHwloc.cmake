# hwloc 2: the imported target Hwloc::hwloc.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
find_library(Hwloc_LIBRARY hwloc)
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_HWLOC QUIET hwloc)
  set(Hwloc_VERSION ${PC_HWLOC_VERSION})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR VERSION_VAR Hwloc_VERSION)

if(Hwloc_FOUND AND NOT TARGET Hwloc::hwloc)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${Hwloc_LIBRARY}")
  target_include_directories(Hwloc::hwloc SYSTEM INTERFACE "${Hwloc_INCLUDE_DIR}")
endif()
