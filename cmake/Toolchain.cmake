# Compiler cache, fast linker and warnings, each used only where the machine has it.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_program(LLD NAMES ld.lld-19 ld.lld)
if(LLD)
  get_filename_component(lld_name ${LLD} NAME)
  if(lld_name STREQUAL "ld.lld")
    add_link_options(-fuse-ld=lld)
  else()
    # GCC knows `-fuse-ld=lld` only: give it a folder where the versioned linker has that name.
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/linker)
    file(CREATE_LINK ${LLD} ${CMAKE_BINARY_DIR}/linker/ld.lld SYMBOLIC)
    add_link_options(-fuse-ld=lld -B${CMAKE_BINARY_DIR}/linker)
  endif()
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
