// Fuzz target `store_client`: what a store may answer to a rank that calls the roll.
//
// Input: a byte that says who the rank is, then all that the store says.
#include <thread>

#include "runtime/Transport/RollCall.h"
#include "runtime/Transport/TcpStore.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/Fuzz/StoreSocket.h"

namespace vime::fuzz {
namespace {

Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

class Listener {
public:
  Listener() : file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    must(bind(file, reinterpret_cast<sockaddr *>(&address), size) == 0 && listen(file, 8) == 0 &&
             getsockname(file, reinterpret_cast<sockaddr *>(&address), &size) == 0,
         "there is a port to listen on");
  }
  std::uint16_t port() const { return ntohs(address.sin_port); }
  int accept() const { return ::accept(file, nullptr, nullptr); }

private:
  const int file;
  sockaddr_in address{};
};

/// Says everything at once, then hears the client out.
void pretend(const Listener &listener, std::string_view answers) {
  const StoreSocket client(listener.accept());
  client.send(answers);
  client.endOfBytes();
  while (!client.receive(4096).empty()) {
  }
}

void ask(const Listener &listener, std::uint8_t who) {
  StatusOr<TcpStore> store = TcpStore::connect({"127.0.0.1", listener.port()}, "vime/", soon());
  if (!store.ok())
    return;
  const Attendance self{.rank = who % 3u,
                        .ranks = 3,
                        .program = "vime 0.1.0",
                        .planId = "1f",
                        .address = "127.0.0.1",
                        .hostsStore = (who & 4) != 0};
  if ((who & 8) != 0)
    (void)store->has("key");
  const Status status = callRoll(*store, self, soon());
  must(status.ok() || !status.message().empty(), "a refusal says why");
  if ((who & 16) != 0)
    excuse(*store, self, status);
}

} // namespace

void eat(std::string_view bytes) {
  static const Listener kListener;
  InputReader input(bytes);
  const auto who = input.number<std::uint8_t>();
  // Nothing is heard from a store that does not return the first number: here it does.
  constexpr std::uint32_t kToken = 0x76696D65;
  std::string answers(reinterpret_cast<const char *>(&kToken), sizeof kToken);
  if ((who & 32) != 0)
    answers.clear();
  answers += input.rest();
  std::thread store([&] { pretend(kListener, answers); });
  ask(kListener, who);
  store.join();
}

std::vector<std::string> seeds() {
  const auto text = [](std::string_view value) {
    const std::uint64_t size = value.size();
    return std::string(1, '\0') + // a wait is over
           std::string(reinterpret_cast<const char *>(&size), sizeof size).append(value);
  };
  const std::string place("\1\0\0\0\0\0\0\0", 8);
  const std::string me = "vime 0.1.0\n3\n1f\n127.0.0.1";
  return {'\0' + place + text(me) + text(me) + text(me),
          '\0' + place + text(me) + text("cannot come: it rains"),
          '\1' + place + text("0\n") + place, '\2' + place + text("4\nrank 1 runs another plan"),
          std::string(1, '\x20')};
}

} // namespace vime::fuzz
