# Gloo, the transport between processes on CPU: the target `gloo`.
#
# Only the plug-in of the Gloo transport may link it. libtorch_cpu.so carries symbols of another Gloo, so the plug-in is
# opened with RTLD_LOCAL and no program links both.
find_package(Gloo QUIET CONFIG)
if(NOT Gloo_FOUND)
  message(FATAL_ERROR "Gloo is missing, the transport between processes: scripts/setup installs libgloo-dev")
endif()
