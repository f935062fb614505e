// Plans to bytes: the parts, the header that fixes them, the preamble that fixes the header; into
// memory or a file.
#include "runtime/Plan/PlanFile.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/EncodeParts.h"

namespace vime::plan {
namespace {

/// A file that is not laid out in memory as a whole: pieces in order, each behind the zeros that
/// align it.
struct Image {
  PlanParts parts;
  std::string head; // preamble and header
  Hash128 id{};
  std::uint64_t length = 0;

  template <typename Sink> bool emit(const Sink &sink) const {
    static constexpr char kZeros[kPartAlignment] = {};
    const auto aligned = [&](std::string_view bytes) {
      return sink(bytes) && sink(std::string_view(kZeros, alignPart(bytes.size()) - bytes.size()));
    };
    if (!aligned(head))
      return false;
    for (const PartBytes &part : parts.parts)
      if (!aligned(part.bytes))
        return false;
    return true;
  }
};

std::vector<flatbuffers::Offset<file::Family>>
encodeFamilies(flatbuffers::FlatBufferBuilder &builder, std::uint32_t families) {
  std::vector<flatbuffers::Offset<file::Family>> tables;
  for (int family = static_cast<int>(Family::Compute); family <= static_cast<int>(Family::Control);
       ++family)
    if (families >> family & 1) {
      const auto name = builder.CreateString(nameOf(static_cast<Family>(family)));
      tables.push_back(
          file::CreateFamily(builder, name, static_cast<std::uint8_t>(family), kFamilyVersion));
    }
  return tables;
}

flatbuffers::DetachedBuffer encodeHeader(const Plan &plan,
                                         const std::vector<file::Part> &directory) {
  flatbuffers::FlatBufferBuilder builder(1024 + directory.size() * sizeof(file::Part));
  const Hash128 jobHash = hashOf(plan.job);
  const file::Hash job(jobHash[0], jobHash[1]);
  const auto compiler = builder.CreateString(plan.compiler);
  const auto families = builder.CreateVector(encodeFamilies(builder, familiesOf(plan.programs)));
  const auto parts = builder.CreateVectorOfStructs(directory);
  file::FinishHeaderBuffer(
      builder, file::CreateHeader(builder, kFormatVersion, compiler, &job, families, parts));
  return builder.Release();
}

/// Offsets follow the header, whose length does not depend on them.
std::vector<file::Part> directoryOf(const PlanParts &parts, const std::vector<Hash128> &hashes,
                                    std::uint64_t begin) {
  std::vector<file::Part> directory;
  directory.reserve(parts.parts.size());
  for (std::size_t part = 0; part < parts.parts.size(); ++part) {
    const auto &[kind, index, bytes] = parts.parts[part];
    const file::Hash hash(hashes[part][0], hashes[part][1]);
    directory.emplace_back(static_cast<std::uint32_t>(kind), index, begin, bytes.size(), hash,
                           isRequired(kind), 0);
    begin = alignPart(begin + bytes.size());
  }
  return directory;
}

Image makeImage(const Plan &plan) {
  Image image{.parts = encodeParts(plan)};
  std::vector<Hash128> hashes;
  for (const PartBytes &part : image.parts.parts)
    hashes.push_back(hashOf(part.bytes));
  const std::uint64_t headerLength = encodeHeader(plan, directoryOf(image.parts, hashes, 0)).size();
  const std::uint64_t begin = sizeof(Preamble) + alignPart(headerLength);
  const std::vector<file::Part> directory = directoryOf(image.parts, hashes, begin);
  const flatbuffers::DetachedBuffer header = encodeHeader(plan, directory);
  const std::string_view headerBytes(reinterpret_cast<const char *>(header.data()), header.size());

  image.id = planIdOf(directory);
  image.length = begin;
  for (const PartBytes &part : image.parts.parts)
    image.length += alignPart(part.bytes.size());
  const Preamble preamble{{'V', 'I', 'M', 'E'}, kContainerVersion, sizeof(Preamble), header.size(),
                          hashOf(headerBytes),  image.id,          image.length};
  image.head.assign(reinterpret_cast<const char *>(&preamble), sizeof preamble);
  image.head += headerBytes;
  return image;
}

Status fileError(const std::string &path, const char *what) {
  return Status(StatusCode::File,
                "cannot " + std::string(what) + " `" + path + "`: " + std::strerror(errno));
}

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// A new file beside the one to be replaced; removed unless it took that one's place.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &target) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      path = target + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part";
      descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0 || errno != EEXIST)
        return;
    }
  }
  ~TemporaryFile() {
    if (descriptor < 0)
      return;
    ::close(descriptor);
    if (!renamed)
      ::unlink(path.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  bool open() const { return descriptor >= 0; }
  bool write(const Image &image) {
    return image.emit([this](std::string_view bytes) { return writeAll(descriptor, bytes); }) &&
           ::fsync(descriptor) == 0;
  }
  bool replace(const std::string &target) {
    renamed = ::rename(path.c_str(), target.c_str()) == 0;
    return renamed;
  }

private:
  std::string path;
  int descriptor = -1;
  bool renamed = false;
};

/// `/dev/null`, a pipe: written as they are, for a rename would put a file in their place.
Status writeInPlace(const Image &image, const std::string &path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fileError(path, "write");
  const bool written =
      image.emit([&](std::string_view bytes) { return writeAll(descriptor, bytes); });
  Status status = written ? Status() : fileError(path, "write");
  ::close(descriptor);
  return status;
}

/// What a symbolic link stands for, so that the link survives.
std::string resolved(const std::string &path) {
  char *const target = ::realpath(path.c_str(), nullptr);
  const std::string result = target ? target : path;
  std::free(target);
  return result;
}

} // namespace

std::string serializePlan(const Plan &plan) {
  const Image image = makeImage(plan);
  std::string bytes;
  bytes.reserve(image.length);
  image.emit([&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  return bytes;
}

Status writePlan(const Plan &plan, const std::string &path) {
  if (Status status = checkPlan(plan); !status.ok())
    return Status(StatusCode::Internal, "internal error: " + status.message());
  const Image image = makeImage(plan);
  struct stat existing;
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) &&
      !S_ISDIR(existing.st_mode))
    return writeInPlace(image, path);
  const std::string target = resolved(path);
  TemporaryFile file(target);
  if (!file.open() || !file.write(image) || !file.replace(target))
    return fileError(path, "write");
  return Status();
}

Hash128 planId(const Plan &plan) { return makeImage(plan).id; }

} // namespace vime::plan
