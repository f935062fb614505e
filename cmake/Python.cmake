# The Python package, where scripts/setup has put what builds it; not under a sanitizer, which the interpreter does not have.
file(GLOB found ${CMAKE_SOURCE_DIR}/.deps/wheel/lib/python3*/site-packages/pybind11/share/cmake/pybind11)
if(found AND NOT VIME_SANITIZE)
  set(pybind11_DIR ${found} CACHE PATH "CMake package of pybind11")
  add_subdirectory(python)
endif()
