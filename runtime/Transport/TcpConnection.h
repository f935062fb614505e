// TCP connection: bytes to and from one peer, each call with a deadline.
//
//   StatusOr<TcpConnection> link = TcpConnection::open("10.0.0.1", 29500, deadline);
//   Status sent = link->send(bytes, deadline);
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"

namespace vime {

using Deadline = std::chrono::steady_clock::time_point;

/// A file descriptor with an owner.
class OwnedFile {
public:
  explicit OwnedFile(int number = -1) : number(number) {}
  OwnedFile(OwnedFile &&other) noexcept : number(other.release()) {}
  OwnedFile &operator=(OwnedFile &&other) noexcept;
  ~OwnedFile();
  int get() const { return number; }
  int release();

private:
  int number;
};

class TcpConnection {
public:
  /// Tries again until the deadline while nobody listens there.
  static StatusOr<TcpConnection> open(const std::string &host, std::uint16_t port,
                                      Deadline deadline);

  /// All of the bytes. `Hang` at the deadline, `RankFailed` when the other side has closed.
  Status send(std::string_view bytes, Deadline deadline);
  Status receive(void *bytes, std::size_t count, Deadline deadline);

  /// The numeric address of this side: by which interface the other one is reached.
  const std::string &localAddress() const { return local; }

private:
  explicit TcpConnection(OwnedFile socket);
  Status ready(short events, Deadline deadline) const;

  OwnedFile socket;
  std::string local;
};

} // namespace vime
