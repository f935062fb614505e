# Headers of other projects, parsed once a build instead of once a file: vime_precompile() below all folders of ours.
#
# Only for Clang with sanitizers, where a file then takes a third of the time or less. Other builds do without, so that a
# file which includes too little is still found.
set(std array algorithm atomic chrono cstdint filesystem fstream functional map memory mutex optional set span sstream string
        string_view thread unordered_map variant vector)
list(TRANSFORM std REPLACE "(.+)" "<\\1>")

# vime_precompiled(NAME HEADERS <header>... LIBS target...): what the targets of a folder can share.
function(vime_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  target_compile_options(${name} PRIVATE -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${cached}")
  target_precompile_headers(${name} PRIVATE ${std} <fmt/format.h> ${ARG_HEADERS})
endfunction()

# vime_precompile(FOLDER NAME): every target of the folder and of those below it uses NAME.
function(vime_precompile folder name)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    vime_precompile(${below} ${name})
  endforeach()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(chosen ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$" AND NOT chosen)
      target_precompile_headers(${target} REUSE_FROM ${name})
      set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${cached}")
    endif()
  endforeach()
endfunction()

if(NOT (VIME_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL Clang))
  return()
endif()
if(CCACHE) # it takes part only when told that precompiled headers are fine
  set(cached env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
vime_precompiled(vime_headers LIBS fmt)
vime_precompiled(vime_mlir_headers HEADERS <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/OpImplementation.h>
                                           <mlir/Pass/Pass.h> LIBS fmt mlir)
vime_precompile(${CMAKE_SOURCE_DIR}/dialects vime_mlir_headers)
vime_precompile(${CMAKE_SOURCE_DIR}/compiler/Phases vime_mlir_headers)
vime_precompile(${CMAKE_SOURCE_DIR}/compiler/Tools vime_mlir_headers)
vime_precompile(${CMAKE_SOURCE_DIR}/compiler vime_headers)
vime_precompile(${CMAKE_SOURCE_DIR}/schedules vime_headers)
vime_precompile(${CMAKE_SOURCE_DIR}/runtime vime_headers)
if(VIME_TESTS OR VIME_FUZZ)
  find_package(GTest REQUIRED)
  vime_precompiled(vime_test_headers HEADERS <gmock/gmock.h> <gtest/gtest.h> LIBS fmt GTest::gmock)
  if(VIME_TESTS)
    vime_precompile(${CMAKE_SOURCE_DIR}/tests vime_test_headers)
  else() # of the tests a build of fuzzers has these
    vime_precompile(${CMAKE_SOURCE_DIR}/tests/plan vime_test_headers)
    vime_precompile(${CMAKE_SOURCE_DIR}/tests/Fuzz vime_test_headers)
  endif()
endif()
