#include "tests/reward/TinyService.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace vime {
namespace {

/// Whether the socket is readable, and not the end of the service.
bool isReadable(int socket, int closing) {
  pollfd wanted[] = {{.fd = closing, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
  return poll(wanted, 2, -1) > 0 && wanted[0].revents == 0;
}

std::size_t contentLength(const std::string &head) {
  const std::size_t at = head.find("Content-Length: ");
  return at == head.npos ? 0 : std::stoul(head.substr(at + 16));
}

} // namespace

TinyService::TinyService(Handler handler) : handler(std::move(handler)) {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(listener, 16) != 0 || pipe(closing) != 0)
    std::abort();
  getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
  port = ntohs(address.sin_port);
  acceptor = std::thread([this] { accept(); });
}

TinyService::~TinyService() {
  close(closing[1]);
  acceptor.join();
  for (std::thread &thread : threads)
    thread.join();
  close(closing[0]);
  close(listener);
}

std::string TinyService::url() const {
  return "http://127.0.0.1:" + std::to_string(port) + "/score";
}

void TinyService::accept() {
  while (isReadable(listener, closing[0])) {
    const int connection = ::accept(listener, nullptr, nullptr);
    ++accepted;
    threads.emplace_back([this, connection] { serve(connection); });
  }
}

void TinyService::serve(int connection) {
  std::string received;
  char bytes[4096];
  while (isReadable(connection, closing[0])) {
    const ssize_t done = read(connection, bytes, sizeof(bytes));
    if (done <= 0)
      break;
    received.append(bytes, std::size_t(done));
    const std::size_t head = received.find("\r\n\r\n");
    if (head == received.npos || received.size() < head + 4 + contentLength(received))
      continue;
    ServiceReply reply;
    {
      const std::lock_guard lock(mutex);
      reply = handler(served++, received.substr(head + 4));
    }
    received.clear();
    if (reply.way == ServiceReply::Way::Hang)
      continue;
    if (reply.way == ServiceReply::Way::Drop)
      break;
    const std::string text = "HTTP/1.1 " + std::to_string(reply.status) +
                             " Said\r\nContent-Length: " + std::to_string(reply.body.size()) +
                             "\r\n\r\n" + reply.body;
    if (send(connection, text.data(), text.size(), MSG_NOSIGNAL) < 0)
      break;
  }
  close(connection);
}

} // namespace vime
