# vime_test(NAME SOURCES file... LIBS target... [LABELS label...]): one GoogleTest program, one CTest entry.
#
# Labels: `slow` keeps a test out of scripts/test, `peers` needs .deps/peers.
option(VIME_TESTS "build the tests (needs GoogleTest)" ON)
if(VIME_TESTS)
  find_package(GTest REQUIRED)
endif()

# vime_time_limit(TEST SECONDS): a test that hangs is ended then, and fails. Under a sanitizer all takes several times as long.
function(vime_time_limit test seconds)
  if(VIME_SANITIZE)
    math(EXPR seconds "5 * ${seconds}")
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
endfunction()

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
    vime_time_limit(${name} 900)
  else()
    vime_time_limit(${name} 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# vime_peers_test(NAME SCRIPT.py ARGUMENT...): a comparison with PyTorch or transformers, or a look through a browser, run by the Python of .deps/peers.
# Registered only where `scripts/test --with-peers` has installed it.
function(vime_peers_test name script)
  set(python ${CMAKE_SOURCE_DIR}/.deps/peers/bin/python)
  if(VIME_TESTS AND EXISTS ${python})
    add_test(NAME ${name} COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
    vime_time_limit(${name} 900)
    set_tests_properties(${name} PROPERTIES LABELS peers)
  endif()
endfunction()
