// TextFile: a text of any size, mapped and never read into memory as a whole.
#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

class TextFile {
public:
  /// File: not readable, or no regular file.
  static StatusOr<std::shared_ptr<const TextFile>> open(const std::string &path);
  TextFile(const TextFile &) = delete;
  ~TextFile();

  const std::string &path() const { return name; }
  std::span<const std::byte> bytes() const { return data; }
  /// File: somebody wrote to it since it was opened. Asked before pages are touched, because
  /// reading one that a truncation took away would kill the process.
  Status unchanged() const;

private:
  TextFile(std::string path, int file, timespec modified, std::span<const std::byte> data)
      : name(std::move(path)), file(file), modified(modified), data(data) {}

  const std::string name;
  const int file; // stays open for `unchanged`
  const timespec modified;
  const std::span<const std::byte> data;
};

} // namespace vime
