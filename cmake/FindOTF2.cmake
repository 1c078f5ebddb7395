# OTF2: the imported target OTF2::otf2.
find_path(OTF2_INCLUDE_DIR otf2/otf2.h)
find_library(OTF2_LIBRARY otf2)
mark_as_advanced(OTF2_INCLUDE_DIR OTF2_LIBRARY)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_OTF2 QUIET otf2)
  set(OTF2_VERSION ${PC_OTF2_VERSION})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OTF2 REQUIRED_VARS OTF2_LIBRARY OTF2_INCLUDE_DIR VERSION_VAR OTF2_VERSION)

if(OTF2_FOUND AND NOT TARGET OTF2::otf2)
  add_library(OTF2::otf2 UNKNOWN IMPORTED)
  set_target_properties(OTF2::otf2 PROPERTIES IMPORTED_LOCATION "${OTF2_LIBRARY}")
  target_include_directories(OTF2::otf2 SYSTEM INTERFACE "${OTF2_INCLUDE_DIR}")
endif()
