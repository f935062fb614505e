# What `cmake --install` and `cpack -G DEB` put where. Plug-ins are found beside the tool: ../lib/vime (runtime/Base/Plugin.cpp).
#
#   bin/vimec, bin/vime-exec            and their manual pages, completion and the JSON Schema under share/
#   lib/vime/libvime_{gloo,http,libtorch}.so what vime-exec opens when a run needs it; that of LibTorch where there is one
#   lib/vime/*.a, include/vime          the runtime as a library: find_package(vime), target vime::runtime
#
# Two packages: `vime` (component tools) and `libvime-dev` (component development).
include(CMakePackageConfigHelpers)

# ---- pages that the tools print themselves ----
set(pages ${CMAKE_BINARY_DIR}/share)
set(made)
function(vime_page output tool)
  cmake_path(GET output PARENT_PATH folder)
  add_custom_command(
    OUTPUT ${pages}/${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/${folder}
    COMMAND ${tool} ${ARGN} > ${pages}/${output}
    DEPENDS ${tool}
    VERBATIM)
  list(APPEND made ${pages}/${output})
  set(made ${made} PARENT_SCOPE)
  install(FILES ${pages}/${output} DESTINATION share/${folder} COMPONENT tools)
endfunction()
vime_page(man/man1/vimec.1 vimec man)
vime_page(man/man5/vime-job.5 vimec man job)
vime_page(man/man1/vime-exec.1 vime-exec --man)
vime_page(bash-completion/completions/vimec vimec completion bash)
vime_page(bash-completion/completions/vime-exec vime-exec --completion bash)
vime_page(zsh/vendor-completions/_vimec vimec completion zsh)
vime_page(zsh/vendor-completions/_vime-exec vime-exec --completion zsh)
vime_page(vime/job.schema.json vimec schema)
add_custom_target(vime_pages ALL DEPENDS ${made})

# ---- the tools and their plug-ins ----
set_target_properties(vimec PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON) # LLVM's own folder
install(TARGETS vimec vime-exec RUNTIME DESTINATION bin COMPONENT tools)
foreach(plugin vime_gloo vime_http)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION lib/vime COMPONENT tools)
  endif()
endforeach()
# Finds the LibTorch that it was built with where that one is now; not in a package, since Debian has none.
if(TARGET vime_libtorch)
  set_target_properties(vime_libtorch PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS vime_libtorch LIBRARY DESTINATION lib/vime COMPONENT libtorch OPTIONAL)
endif()
install(FILES LICENSE DESTINATION share/doc/vime RENAME copyright COMPONENT tools)
install(FILES LICENSE DESTINATION share/doc/libvime-dev RENAME copyright COMPONENT development)
install(DIRECTORY examples DESTINATION share/doc/vime COMPONENT tools)

# ---- the runtime as a library ----
# Everything of ours that a target links, itself included.
function(vime_closure target result)
  set(all ${${result}})
  if(NOT target IN_LIST all)
    list(APPEND all ${target})
    get_target_property(linked ${target} LINK_LIBRARIES)
    foreach(library ${linked})
      if(library MATCHES "^vime_" AND TARGET ${library})
        vime_closure(${library} all)
      endif()
    endforeach()
  endif()
  set(${result} ${all} PARENT_SCOPE)
endfunction()
set(libraries)
vime_closure(vime_exec_core libraries)
add_library(vime_runtime INTERFACE)
target_link_libraries(vime_runtime INTERFACE vime_exec_core)
set_target_properties(vime_runtime PROPERTIES EXPORT_NAME runtime)
foreach(library vime_runtime ${libraries})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:include/vime>)
  target_compile_features(${library} INTERFACE cxx_std_20)
endforeach()
install(TARGETS vime_runtime ${libraries} EXPORT vime ARCHIVE DESTINATION lib/vime COMPONENT development)
install(EXPORT vime NAMESPACE vime:: DESTINATION lib/cmake/vime FILE vimeTargets.cmake COMPONENT development)
install(DIRECTORY runtime kernels DESTINATION include/vime COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN Tools EXCLUDE PATTERN LibTorch EXCLUDE)
file(WRITE ${CMAKE_BINARY_DIR}/vimeConfig.cmake "include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/vimeTargets.cmake)
")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/vimeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/vimeConfig.cmake ${CMAKE_BINARY_DIR}/vimeConfigVersion.cmake
        DESTINATION lib/cmake/vime COMPONENT development)

# ---- Debian packages ----
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vime)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the maintainers of vime <maintainers@users.noreply.vime.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tools development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME vime)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "compiler and executor of declared training jobs
 vimec compiles a job into one verified program per rank, vime-exec runs it.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libvime-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libre2-dev, libxxhash-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "runtime of vime as a library
 Headers, static libraries and a CMake package to read, check and run plans.")
include(CPack)
