// leaveToExit: tells the leak detector of a sanitized build what is left to the end of the process
// on purpose, with all that it owns.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace vime {

inline void leaveToExit([[maybe_unused]] const void *object) {
#ifdef __SANITIZE_ADDRESS__
  __lsan_ignore_object(object);
#endif
}

} // namespace vime
