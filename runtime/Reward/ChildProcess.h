// ChildProcess: a program of the job's, started without a shell, that ends when this process does.
//
//   StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::start({"python3", "score.py"},
//                                                                       folder);
//   write((*child)->input(), …);
//   (*child)->end(/*grace=*/1);          // or destruction, which does not wait
//
// It leads a process group of its own, which is killed as a whole. If this process is killed, the
// kernel kills the child: for that the thread that starts it must live as long as it does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"

namespace vime {

class ChildProcess {
public:
  /// Runs in `folder`, where relative paths of the command begin; empty: where this process is.
  /// File: there is no such program or folder.
  static StatusOr<std::unique_ptr<ChildProcess>> start(const std::vector<std::string> &words,
                                                       const std::string &folder);
  ~ChildProcess() { end(0); }
  ChildProcess(const ChildProcess &) = delete;

  // Ends of its standard streams; they do not block.
  int input() const { return streams[0]; }
  int output() const { return streams[1]; }
  int errors() const { return streams[2]; }

  /// Closes its input, waits so long for it to end by itself, and kills what is left of its group.
  /// How it ended: `ended with status 1`, `was killed by signal 11`.
  std::string end(double grace);

private:
  ChildProcess(int process, const int (&streams)[3]);
  bool waitFor(double seconds) const;

  int process;
  int streams[3];
  std::string how;
};

} // namespace vime
