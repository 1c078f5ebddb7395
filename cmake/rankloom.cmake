# How targets of this project are made: one library a folder, named rankloom_<folder>.

add_library(rankloom_flags INTERFACE)
target_compile_options(rankloom_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about overlapping copies inside std::string::insert that cannot happen (GCC bug 105651).
  target_compile_options(rankloom_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # On ARM, GCC remarks that GCC 9 passed pairs of doubles otherwise.
  target_compile_options(rankloom_flags INTERFACE -Wno-psabi)
endif()
if(RANKLOOM_WERROR)
  target_compile_options(rankloom_flags INTERFACE -Werror)
endif()
target_include_directories(rankloom_flags INTERFACE ${PROJECT_SOURCE_DIR})

# rankloom_quick_to_build(TARGET)  For what need not be quick to run. GCC 12 then sees copies inside std::string that cannot
# happen (GCC bug 105651), depending on how long texts are, such as the way to this folder.
function(rankloom_quick_to_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# rankloom_library(core SOURCES a.cpp … DEPENDS model …)  DEPENDS names folders or imported targets.
function(rankloom_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(rankloom_${folder} STATIC ${ARG_SOURCES})
  target_link_libraries(rankloom_${folder} PUBLIC rankloom_flags)
  foreach(dependency IN LISTS ARG_DEPENDS)
    if(TARGET rankloom_${dependency})
      set(dependency rankloom_${dependency})
    endif()
    target_link_libraries(rankloom_${folder} PUBLIC ${dependency})
  endforeach()
endfunction()

# rankloom_test(model a_test.cpp …)  One test program a folder; every case is a test of its own for ctest.
function(rankloom_test folder)
  add_executable(${folder}_tests ${ARGN})
  target_link_libraries(${folder}_tests PRIVATE rankloom_${folder} rankloom_test_support GTest::gtest_main GTest::gmock)
  # Most of their time goes into these headers; and what they check is optimised, not they.
  target_precompile_headers(${folder}_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <nlohmann/json.hpp>)
  rankloom_quick_to_build(${folder}_tests)
  gtest_discover_tests(${folder}_tests TEST_PREFIX "${folder}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
