# MLIR 19.1 as Debian packages it: the target `mlir`, and the two functions a dialect needs.
#
#   vime_tablegen(vime_plan_inc Plan.td
#     PlanDialect.h.inc   "-gen-dialect-decls -dialect=plan"
#     PlanOps.h.inc       "-gen-op-decls")
#   vime_mlir_library(vime_plan_dialect SOURCES PlanDialect.cpp TABLEGEN vime_plan_inc LIBS vime_base)
#
# Only the shared libMLIR and libLLVM are linked: they and MLIR's archives in one program register everything twice.

# `19` alone is refused: the package counts the minor version as part of its interface.
find_package(MLIR 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
if(NOT LLVM_ENABLE_RTTI)
  message(FATAL_ERROR "vime is compiled with RTTI, the LLVM in ${LLVM_DIR} is not; use the Debian package llvm-19-dev")
endif()

add_library(mlir INTERFACE)
target_include_directories(mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions UNIX_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(mlir INTERFACE ${llvm_definitions})
target_link_libraries(mlir INTERFACE MLIR LLVM)

# vime_tablegen(NAME FILE.td [OUTPUT "FLAGS"]...): NAME is a target to give to vime_mlir_library(TABLEGEN ...).
# Outputs appear beside the source in the build tree and are included from the root: "dialects/Plan/PlanOps.h.inc".
function(vime_tablegen name definitions)
  set(LLVM_TARGET_DEFINITIONS ${definitions})
  set(TABLEGEN_OUTPUT "")
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs output flags)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    mlir_tablegen(${output} ${flags} EXTRA_INCLUDES ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_custom_target(${name} DEPENDS ${TABLEGEN_OUTPUT})
endfunction()

# vime_mlir_library(NAME SOURCES file... [TABLEGEN target...] [LIBS target...]): a static library that sees MLIR.
function(vime_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TABLEGEN;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC mlir ${ARG_LIBS})
  if(ARG_TABLEGEN)
    add_dependencies(${name} ${ARG_TABLEGEN})
  endif()
endfunction()
