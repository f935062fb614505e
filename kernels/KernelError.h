// KernelError: what a kernel or a user's module could not do. Thrown, because tasks have no result;
// the executor makes a message of it that names the action.
#pragma once

#include <stdexcept>

namespace vime {

struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace vime
