// ChildProcess: runs another program and waits for it, as a shell would.
//
//   StatusOr<int> code = runChild({"/usr/bin/vime-exec", "plan.bin", "--quiet"});   // its exit
//   code
//
// No shell is involved. The child has our standard error; its standard output goes there too, so
// that ours has only our own results. It ends with us, however we end: SIGINT, SIGTERM and SIGHUP
// are passed on to it while we wait, SIGQUIT as a SIGTERM that lets it clean up, and when it is
// gone `Interrupted` comes back, or its exit code of that name if it has said so itself.
#pragma once

#include <string>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

/// The exit code of the program at that path; `File` if it cannot be started, `Internal` with the
/// signal that it was killed by.
StatusOr<int> runChild(const std::vector<std::string> &command);

} // namespace vime
