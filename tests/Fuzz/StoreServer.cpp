// Fuzz target `store_server`: what a client may send to the store that rank 0 hosts. Others are
// served all the same.
#include "runtime/Transport/TcpStoreServer.h"

#include "runtime/Transport/TcpStoreProtocol.h"
#include "tests/Fuzz/StoreSocket.h"

namespace vime::fuzz {
namespace {

template <typename... Numbers> std::string query(store::Query query, Numbers... numbers) {
  std::string bytes(1, static_cast<char>(query));
  (bytes.append(reinterpret_cast<const char *>(&numbers), sizeof numbers), ...);
  return bytes;
}

std::string greeting() { return query(store::Query::Validate, store::kMagic); }

std::string text(std::string_view value) {
  const std::uint64_t size = value.size();
  return std::string(reinterpret_cast<const char *>(&size), sizeof size).append(value);
}

} // namespace

void eat(std::string_view bytes) {
  auto server = TcpStoreServer::listen("127.0.0.1", 0);
  must(server.ok(), "the store listens");
  (*server)->serve();
  const StoreSocket hostile(StoreSocket::connectedTo((*server)->port()));
  const StoreSocket waiting(StoreSocket::connectedTo((*server)->port()));
  waiting.send(greeting() + query(store::Query::Wait, std::uint64_t(1)) + text("key"));
  hostile.send(greeting());
  hostile.send(bytes);
  const StoreSocket other(StoreSocket::connectedTo((*server)->port()));
  const std::string ping = query(store::Query::Ping, std::uint32_t(7));
  other.send(greeting() + query(store::Query::Set) + text("key") + text("value") + ping);
  must(other.receive(4) == ping.substr(1), "the store answers the others");
  must(waiting.receive(1) == std::string(1, '\0'), "who waits for a key hears of it");
}

std::vector<std::string> seeds() {
  using enum store::Query;
  const std::uint64_t one = 1, two = 2;
  return {query(Set) + text("key") + text("value") + query(Get) + text("key"),
          query(Set) + text("sum") + text("40") + query(Add, std::uint64_t(3)) + "sum" +
              text("12345678"),
          query(Wait, two) + text("one") + text("two") + query(CancelWait),
          query(Check, one) + text("one") + query(Ping, std::uint32_t(5)),
          query(Add) + text("sum") + std::string(8, '\1') + query(Get) + text("sum")};
}

} // namespace vime::fuzz
