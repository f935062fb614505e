# FlatBuffers: headers generated from a schema into the build tree.
#
#   add_library(vime_plan PlanReader.cpp)
#   vime_flatbuffers(vime_plan Plan.fbs)   # then: #include "runtime/Plan/Plan_generated.h"
#
# Further arguments go to flatc.
find_program(FLATC flatc REQUIRED)

function(vime_flatbuffers target schema)
  get_filename_component(stem ${schema} NAME_WE)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${stem}_generated.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums ${ARGN} -o ${CMAKE_CURRENT_BINARY_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    COMMENT "Generating ${stem}_generated.h"
    VERBATIM)
  # As a source of the target it is made before anything that links the target is compiled.
  target_sources(${target} PRIVATE ${header})
endfunction()
