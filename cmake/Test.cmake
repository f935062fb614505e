# vime_test(NAME SOURCES file... LIBS target... [LABELS label...]): one GoogleTest program, one CTest entry.
#
# Labels: `slow` keeps a test out of scripts/test, `peers` needs .deps/peers. A test that hangs is ended and fails.
option(VIME_TESTS "build the tests (needs GoogleTest)" ON)
if(VIME_TESTS)
  find_package(GTest REQUIRED)
endif()

function(vime_test name)
  if(NOT VIME_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  if("slow" IN_LIST ARG_LABELS)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  else()
    set_tests_properties(${name} PROPERTIES TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# vime_peers_test(NAME SCRIPT.py ARGUMENT...): a comparison with PyTorch or transformers, run by the Python of .deps/peers.
# Registered only where `scripts/test --with-peers` has installed it.
function(vime_peers_test name script)
  set(python ${CMAKE_SOURCE_DIR}/.deps/peers/bin/python)
  if(VIME_TESTS AND EXISTS ${python})
    add_test(NAME ${name} COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS peers TIMEOUT 900)
  endif()
endfunction()
