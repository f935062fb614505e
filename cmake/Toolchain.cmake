# Compiler cache, fast linker, warnings, sanitizers; cache and linker only where the machine has them.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_program(LLD NAMES ld.lld-19 ld.lld)
if(LLD)
  # GCC knows `-fuse-ld=lld` only: a folder of ours holds the versioned linker under that name.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/linker)
  file(CREATE_LINK ${LLD} ${CMAKE_BINARY_DIR}/linker/ld.lld SYMBOLIC)
  add_link_options(-fuse-ld=lld -B${CMAKE_BINARY_DIR}/linker)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# For the presets with sanitizers: reports name lines, assertions hold.
set(CMAKE_CXX_FLAGS_SANITIZED "-O1 -g1" CACHE STRING "")
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)

set(VIME_SANITIZE "" CACHE STRING "sanitizers to build with, as GCC names them: address,undefined or thread")
if(VIME_SANITIZE)
  add_compile_options(-fsanitize=${VIME_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VIME_SANITIZE})
  foreach(kind address thread) # for code that must know; not every compiler says it by itself
    if(VIME_SANITIZE MATCHES ${kind})
      string(TOUPPER ${kind} kind)
      add_compile_definitions(VIME_${kind}_SANITIZER)
    endif()
  endforeach()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_compile_options(-fPIC) # executables too, which share precompiled headers with libraries
  add_compile_options(-Wno-deprecated-declarations -Wno-unknown-pragmas) # of libstdc++ 12; GCC's in the kernels
endif()

option(VIME_FUZZ "build the fuzzers of tests/Fuzz and nothing else of the tests; needs clang" OFF)
if(VIME_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
