// FileLock: a file that one process holds, so that it alone works on what lies beside it.
//
//   StatusOr<FileLock> lock = FileLock::take("out/.vime-lock");
//   if (lock.ok() && !lock->held()) … another process has it
//
// The kernel lifts it when the process dies; the file may stay and means nothing then.
#pragma once

#include <string>

#include "runtime/Base/Status.h"

namespace vime {

class FileLock {
public:
  FileLock() = default;
  /// Makes the file when there is none. File: it cannot be made or locked.
  static StatusOr<FileLock> take(const std::string &path);
  FileLock(FileLock &&other) noexcept;
  FileLock &operator=(FileLock &&other) noexcept;
  ~FileLock() { release(); }

  bool held() const { return file >= 0; }
  /// Whether the file still has its name: a run that is over takes it away.
  bool isNamed() const;
  /// Takes the file away, if it is held and has its name, and lets go.
  void remove();
  void release();

private:
  std::string path;
  int file = -1;
};

} // namespace vime
