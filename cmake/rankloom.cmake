# How targets of this project are made: one library per folder, named rankloom_<folder>.

add_library(rankloom_flags INTERFACE)
target_compile_options(rankloom_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion)
# The same mappings on every architecture: on ARM, and on x86 with -march=native, compilers otherwise contract a * b + c
# into one instruction that rounds once.
target_compile_options(rankloom_flags INTERFACE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about copies inside std::string that cannot happen (GCC bug 105651). Whether it does depends on the
  # optimisation level and on the length of string literals such as the source path.
  target_compile_options(rankloom_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Clang's also counts names of other sources of a group.
  target_compile_options(rankloom_flags INTERFACE -Wshadow)
  # On ARM, GCC notes that GCC 9 passed pairs of doubles differently.
  target_compile_options(rankloom_flags INTERFACE -Wno-psabi)
endif()
# Several sources per compiler run: half of the build time, but a change compiles its neighbours too. Sources whose
# file-local names collide are compiled alone (SKIP_UNITY_BUILD_INCLUSION in the CMakeLists.txt of their folder).
option(RANKLOOM_UNITY "Compile the sources of a library in groups" OFF)
if(RANKLOOM_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A group looks like a header to this warning.
  target_compile_options(rankloom_flags INTERFACE -Wno-subobject-linkage)
endif()
if(RANKLOOM_WERROR)
  target_compile_options(rankloom_flags INTERFACE -Werror)
endif()
target_include_directories(rankloom_flags INTERFACE ${PROJECT_SOURCE_DIR})
# CMake's build type Release defines NDEBUG. Tests run with assertions; those of Eigen, one for each access to a matrix element, cost
# as much as the computation itself and are on in the build type Debug only.
if(RANKLOOM_ASSERTIONS)
  target_compile_options(rankloom_flags INTERFACE -UNDEBUG)
  target_compile_definitions(rankloom_flags INTERFACE $<$<CONFIG:Release>:EIGEN_NO_DEBUG>)
endif()

# Libraries that are preloaded into the programs of users need no run-time library of a sanitizer, except in a build for the address
# sanitizer: there `rankloom record` also preloads that run-time library, so that the recorder is checked inside real MPI programs.
set(RANKLOOM_PRELOAD_SANITIZE -fno-sanitize=all)
set(RANKLOOM_SANITIZER_RUNTIME "")
set(RANKLOOM_PRELOAD_LTO ON)
# For libraries that replace functions of the C library or of sanitizers: undefined behaviour traps, which needs no run-time library.
set(RANKLOOM_FREESTANDING_SANITIZE -fno-sanitize=all)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address,undefined")
  set(RANKLOOM_PRELOAD_SANITIZE -fno-sanitize=vptr)  # needs type information
  set(RANKLOOM_PRELOAD_LTO OFF)  # takes a minute for each library
  set(RANKLOOM_FREESTANDING_SANITIZE -fno-sanitize=address,vptr -fsanitize-undefined-trap-on-error)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE RANKLOOM_SANITIZER_RUNTIME
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# rankloom_quick_to_build(TARGET)  For code without hot loops: -O1.
function(rankloom_quick_to_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# One precompiled header serves all libraries of an optimisation level; from version 13 on, GCC refuses it at another one. GCC does
# not accept it both with and without -fPIC, so every library is position independent. -DRANKLOOM_PCH=OFF shows which source lacks
# an include of its own.
option(RANKLOOM_PCH "Precompile the headers that most sources include" ON)
if(RANKLOOM_PCH)
  foreach(header rankloom_pch rankloom_quick_pch)
    add_library(${header} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_link_libraries(${header} PRIVATE rankloom_flags fmt::fmt tl::expected)
    target_precompile_headers(${header} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
    set_target_properties(${header} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endforeach()
  rankloom_quick_to_build(rankloom_quick_pch)
endif()

# rankloom_precompiled(TARGET [QUICK_TO_BUILD] [HEADERS HEADER…])  For libraries: their sources see the precompiled header. A target
# most of whose sources use further slow headers has one of its own with these headers. Libraries without hot loops are
# QUICK_TO_BUILD.
function(rankloom_precompiled target)
  cmake_parse_arguments(ARG "QUICK_TO_BUILD" "" "HEADERS" ${ARGN})
  set(header rankloom_pch)
  if(ARG_QUICK_TO_BUILD)
    rankloom_quick_to_build(${target})
    set(header rankloom_quick_pch)
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    UNITY_BUILD ${RANKLOOM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(RANKLOOM_PCH AND ARG_HEADERS)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${ARG_HEADERS})
  elseif(RANKLOOM_PCH)
    target_precompile_headers(${target} REUSE_FROM ${header})
  endif()
endfunction()

# rankloom_library(core SOURCES a.cpp … DEPENDS model … [QUICK_TO_BUILD])  DEPENDS names folders or imported targets.
function(rankloom_library folder)
  cmake_parse_arguments(ARG "QUICK_TO_BUILD" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(rankloom_${folder} STATIC ${ARG_SOURCES})
  target_link_libraries(rankloom_${folder} PUBLIC rankloom_flags)
  set(level "")
  if(ARG_QUICK_TO_BUILD)
    set(level QUICK_TO_BUILD)
  endif()
  rankloom_precompiled(rankloom_${folder} ${level})
  foreach(dependency IN LISTS ARG_DEPENDS)
    if(TARGET rankloom_${dependency})
      set(dependency rankloom_${dependency})
    endif()
    target_link_libraries(rankloom_${folder} PUBLIC ${dependency})
  endforeach()
endfunction()

# rankloom_test(model a_test.cpp …)  One test program per folder; every case is a separate test for ctest.
function(rankloom_test folder)
  add_executable(${folder}_tests ${ARGN})
  target_link_libraries(${folder}_tests PRIVATE rankloom_${folder} rankloom_test_support GTest::gtest_main GTest::gmock)
  if(RANKLOOM_PCH)
    target_precompile_headers(${folder}_tests REUSE_FROM rankloom_test_pch)
  endif()
  target_compile_options(${folder}_tests PRIVATE $<$<CONFIG:Release>:-O0>)
  set_target_properties(${folder}_tests PROPERTIES UNITY_BUILD ${RANKLOOM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  gtest_discover_tests(${folder}_tests TEST_PREFIX "${folder}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 LABELS unit)
endfunction()

# rankloom_timing_test(NAME)  For a test whose result depends on measured times: it runs alone, and is listed in tests/flaky.txt.
function(rankloom_timing_test name)
  set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  set_property(TEST ${name} APPEND PROPERTY LABELS timing)
endfunction()
