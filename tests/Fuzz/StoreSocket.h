// StoreSocket: one end of a connection to or from a TCP store, without manners: no protocol, and
// no farewell, so that a million of them leave no ports behind.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/Fuzz/Target.h"

namespace vime::fuzz {

class StoreSocket {
public:
  explicit StoreSocket(int file) : file(file) {
    must(file >= 0, "there is a socket");
    const linger noFarewell{1, 0};
    setsockopt(file, SOL_SOCKET, SO_LINGER, &noFarewell, sizeof noFarewell);
  }
  StoreSocket(const StoreSocket &) = delete;
  ~StoreSocket() { close(file); }

  static int connectedTo(std::uint16_t port) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(connect(file, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0,
         "the store takes clients");
    return file;
  }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return; // it was dropped
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void endOfBytes() const { shutdown(file, SHUT_WR); }
  /// As many bytes, or fewer at the end of the connection.
  std::string receive(std::size_t count) const {
    std::string bytes(count, '\0');
    const ssize_t got = recv(file, bytes.data(), count, MSG_WAITALL);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

private:
  const int file;
};

} // namespace vime::fuzz
