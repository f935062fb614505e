#include "runtime/Transport/TcpConnection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr std::chrono::milliseconds kRetry{50};

int millisecondsUntil(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

StatusOr<Addresses> resolve(const std::string &host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code == 0)
    return Addresses(found, &freeaddrinfo);
  return Status(StatusCode::Unacceptable,
                fmt::format("cannot find the host `{}`: {}", host, gai_strerror(code)));
}

/// An error number, or 0.
int outcomeOf(int socket, Deadline deadline) {
  pollfd file{socket, POLLOUT, 0};
  if (poll(&file, 1, millisecondsUntil(deadline)) <= 0)
    return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// An error number, or 0 with the connected socket in `file`.
int tryOnce(const addrinfo &address, Deadline deadline, OwnedFile &file) {
  file = OwnedFile(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                          address.ai_protocol));
  if (file.get() < 0)
    return errno;
  if (connect(file.get(), address.ai_addr, address.ai_addrlen) == 0)
    return 0;
  return errno == EINPROGRESS ? outcomeOf(file.get(), deadline) : errno;
}

std::string addressOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> text{};
  if (getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr *>(&address), size, text.data(), text.size(), nullptr,
                  0, NI_NUMERICHOST) != 0)
    return "";
  return text.data();
}

} // namespace

OwnedFile &OwnedFile::operator=(OwnedFile &&other) noexcept {
  std::swap(number, other.number);
  return *this;
}

OwnedFile::~OwnedFile() {
  if (number >= 0)
    close(number);
}

int OwnedFile::release() { return std::exchange(number, -1); }

TcpConnection::TcpConnection(OwnedFile connected)
    : socket(std::move(connected)), local(addressOf(socket.get())) {
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

StatusOr<TcpConnection> TcpConnection::open(const std::string &host, std::uint16_t port,
                                            Deadline deadline) {
  int error = 0;
  do {
    StatusOr<Addresses> addresses = resolve(host, port);
    if (!addresses.ok())
      return addresses.status();
    for (const addrinfo *address = addresses->get(); address; address = address->ai_next) {
      OwnedFile file;
      error = tryOnce(*address, deadline, file);
      if (error == 0)
        return TcpConnection(std::move(file));
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(
        kRetry, std::max<Clock::duration>(deadline - Clock::now(), Clock::duration::zero())));
  } while (Clock::now() < deadline);
  return Status(StatusCode::RankFailed, fmt::format("cannot connect: {}", std::strerror(error)));
}

Status TcpConnection::ready(short events, Deadline deadline) const {
  pollfd file{socket.get(), events, 0};
  for (;;) {
    const int count = poll(&file, 1, millisecondsUntil(deadline));
    if (count > 0)
      return Status();
    if (count == 0)
      return Status(StatusCode::Hang, "no answer in time");
    if (errno != EINTR)
      return Status(StatusCode::RankFailed, std::strerror(errno));
  }
}

Status TcpConnection::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (Status status = ready(POLLOUT, deadline); !status.ok())
      return status;
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      return Status(StatusCode::RankFailed, std::strerror(errno));
    bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return Status();
}

Status TcpConnection::receive(void *bytes, std::size_t count, Deadline deadline) {
  auto *next = static_cast<char *>(bytes);
  while (count > 0) {
    if (Status status = ready(POLLIN, deadline); !status.ok())
      return status;
    const ssize_t got = recv(socket.get(), next, count, 0);
    if (got == 0)
      return Status(StatusCode::RankFailed, "the connection was closed");
    if (got < 0 && errno != EINTR && errno != EAGAIN)
      return Status(StatusCode::RankFailed, std::strerror(errno));
    next += std::max<ssize_t>(got, 0);
    count -= got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return Status();
}

} // namespace vime
