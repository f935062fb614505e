# LibTorch out of the PyPI wheel that `scripts/setup test` installs: the target `libtorch`, for the plug-in
# (runtime/Model/LibTorch) and the oracle of the tests.
#
# A PyTorch of 2.8 or newer elsewhere serves too: -DVIME_LIBTORCH=<site-packages>/torch. The package's own
# find_package(Torch) is of no use, the CUDA build stops it where no CUDA toolkit is.
set(VIME_LIBTORCH "" CACHE PATH "folder `torch` of an installed PyTorch; empty: the one in .deps/python, if any")
option(VIME_WITHOUT_ORACLE "build the tests without those against LibTorch" OFF)
set(libtorch_folder "${VIME_LIBTORCH}")
if(NOT libtorch_folder)
  file(GLOB libtorch_folder ${CMAKE_SOURCE_DIR}/.deps/python/lib/python3*/site-packages/torch)
endif()

if(VIME_WITHOUT_ORACLE)
  message(STATUS "the tests against LibTorch are left out, as asked")
elseif(libtorch_folder)
  if(NOT EXISTS ${libtorch_folder}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "no LibTorch in ${libtorch_folder}: lib/libtorch_cpu.so is missing")
  endif()
  add_library(libtorch INTERFACE)
  target_include_directories(libtorch SYSTEM INTERFACE ${libtorch_folder}/include
                             ${libtorch_folder}/include/torch/csrc/api/include)
  # By full path, so that their folder becomes the program's run path; what they need themselves they find by their own.
  target_link_libraries(libtorch INTERFACE ${libtorch_folder}/lib/libtorch_cpu.so ${libtorch_folder}/lib/libc10.so)
elseif(VIME_TESTS)
  message(FATAL_ERROR "no LibTorch, which is the oracle of the tests: `scripts/setup test` installs it, "
                      "-DVIME_LIBTORCH names one, -DVIME_WITHOUT_ORACLE=ON leaves its tests out, "
                      "-DVIME_TESTS=OFF all of them")
endif()
