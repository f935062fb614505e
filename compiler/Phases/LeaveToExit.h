// leaveToExit: tells the leak detector of a sanitized build what is left to the end of the process
// on purpose, with all that it owns.
#pragma once

#ifdef VIME_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace vime {

inline void leaveToExit([[maybe_unused]] const void *object) {
#ifdef VIME_ADDRESS_SANITIZER
  __lsan_ignore_object(object);
#endif
}

} // namespace vime
