// The store's client and server against each other, and each against bytes that are no protocol.
// Against PyTorch's own: tests/Peers/tcp_store.py.
#include "runtime/Transport/TcpStore.h"

#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/Transport/TcpStoreProtocol.h"
#include "tests/transport/StoreFixture.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(StoreTest, WhatOneSetsTheOtherGets) {
  TcpStore first = client(), second = client();
  const std::string bytes("\0 any\nbytes \xFF", 13);
  ASSERT_TRUE(first.set("key", bytes).ok());
  EXPECT_EQ(*second.get("key", in(20s)), bytes);
  ASSERT_TRUE(first.set("key", "").ok());
  EXPECT_EQ(*first.get("key", in(20s)), "");
}

TEST_F(StoreTest, GetWaitsForTheKey) {
  TcpStore early = client();
  std::thread late([&] {
    TcpStore store = client();
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(store.set("other", "x").ok());
    EXPECT_TRUE(store.set("key", "value").ok());
  });
  EXPECT_EQ(*early.get("key", in(20s)), "value");
  late.join();
}

TEST_F(StoreTest, AWaitThatIsOverLeavesTheStoreUsable) {
  TcpStore store = client(), other = client();
  ASSERT_TRUE(store.set("one", "1").ok());
  const std::vector<std::string> keys = {"one", "two"};
  EXPECT_EQ(store.wait(keys, in(20ms)).code(), StatusCode::Hang);
  EXPECT_TRUE(*store.has("one"));
  EXPECT_FALSE(*store.has("two"));
  ASSERT_TRUE(other.set("two", "2").ok());
  EXPECT_TRUE(store.wait(keys, in(20s)).ok());
  EXPECT_EQ(*store.get("two", in(20s)), "2");
}

TEST_F(StoreTest, AdditionsOfManyClientsAddUp) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      TcpStore store = client();
      for (int turn = 0; turn < 50; ++turn)
        ASSERT_TRUE(store.add("sum", 3).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(*client().add("sum", 0), 600);
  EXPECT_EQ(*client().get("sum", in(20s)), "600");
}

TEST_F(StoreTest, PrefixesKeepKeysApart) {
  TcpStore first = client("a/"), second = client("b/");
  ASSERT_TRUE(first.set("key", "1").ok());
  EXPECT_FALSE(*second.has("key"));
  EXPECT_TRUE(*client().has("a/key"));
}

TEST_F(StoreTest, ALargeValueComesWhole) {
  std::string large(3 << 20, '\0');
  for (std::size_t at = 0; at < large.size(); ++at)
    large[at] = static_cast<char>(at * 7 + at / 251);
  TcpStore store = client();
  ASSERT_TRUE(store.set("large", large).ok());
  EXPECT_EQ(*client().get("large", in(20s)), large);
}

TEST_F(StoreTest, TheEndOfTheStoreIsNoticed) {
  TcpStore store = client();
  std::thread end([&] {
    std::this_thread::sleep_for(20ms);
    server.reset();
  });
  const StatusOr<std::string> value = store.get("key", in(20s));
  end.join();
  EXPECT_EQ(value.status().code(), StatusCode::RankFailed);
  EXPECT_THAT(value.status().message(), StartsWith("the store at 127.0.0.1:"));
}

TEST(TcpStoreStart, NobodyThereIsToldAtTheDeadline) {
  std::uint16_t port = 0;
  {
    const auto server = TcpStoreServer::listen("127.0.0.1", 0);
    port = (*server)->port();
  }
  const StatusOr<TcpStore> store = TcpStore::connect({"127.0.0.1", port}, "", in(150ms));
  EXPECT_EQ(store.status().code(), StatusCode::RankFailed);
  EXPECT_THAT(store.status().message(), HasSubstr("Connection refused"));
  const StatusOr<TcpStore> own = TcpStore::connect({"127.0.0.1", port, true}, "", in(10ms));
  EXPECT_EQ(own.status().message(), "the store of rank 0 at 127.0.0.1:" + std::to_string(port) +
                                        ": cannot connect: Connection refused");
}

TEST(TcpStoreStart, APortThatIsTakenIsNamed) {
  const auto first = TcpStoreServer::listen("127.0.0.1", 0);
  const auto second = TcpStoreServer::listen("127.0.0.1", (*first)->port());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(), "cannot listen on port " + std::to_string((*first)->port()) +
                                           " of 127.0.0.1: Address already in use");
}

// ---- hostile clients ----------------------------------------------------------------------------

/// A query as its bytes: a kind, then numbers and texts.
struct Bytes {
  template <typename Number> Bytes &number(Number value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Bytes &key(std::string_view key) {
    number(std::uint64_t(key.size()));
    text += key;
    return *this;
  }
  std::string text;
};

Bytes greeting() { return Bytes().number(store::Query::Validate).number(store::kMagic); }

class HostileClient : public StoreTest {
protected:
  /// Whether the server drops a client that sends this, and still serves others.
  bool drops(const std::string &bytes) {
    StatusOr<TcpConnection> connection = TcpConnection::open("127.0.0.1", server->port(), in(20s));
    (void)connection->send(bytes, in(20s));
    char answer;
    Status status;
    while (status.ok())
      status = connection->receive(&answer, 1, in(500ms));
    TcpStore other = client();
    EXPECT_TRUE(other.set("alive", "yes").ok());
    EXPECT_EQ(*other.get("alive", in(20s)), "yes");
    return status.code() == StatusCode::RankFailed;
  }
};

TEST_F(HostileClient, WhatIsNoQueryIsDropped) {
  using store::Query;
  EXPECT_TRUE(drops("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(drops(Bytes().number(Query::Validate).number(std::uint32_t(7)).text));
  EXPECT_TRUE(drops(Bytes().number(Query::Ping).number(std::uint32_t(7)).text)); // not greeted
  EXPECT_TRUE(drops(greeting().number(std::uint8_t(200)).text));
  EXPECT_TRUE(drops(greeting().number(Query::Get).key("missing").text));
  EXPECT_TRUE(drops(greeting().number(Query::Get).number(~std::uint64_t(0)).text));
  EXPECT_TRUE(drops(greeting().number(Query::Set).key("key").number(~std::uint64_t(0)).text));
  EXPECT_TRUE(drops(greeting().number(Query::Wait).number(~std::uint64_t(0)).text));
  EXPECT_TRUE(drops(greeting()
                        .number(Query::Set)
                        .key("sum")
                        .key("seven")
                        .number(Query::Add)
                        .key("sum")
                        .number(std::int64_t(1))
                        .text));
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(drops(greeting()
                        .number(Query::Add)
                        .key("big")
                        .number(most)
                        .number(Query::Add)
                        .key("big")
                        .number(most)
                        .text));
}

TEST_F(HostileClient, RandomBytesHarmNobodyElse) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    std::string bytes = turn % 4 == 0 ? "" : greeting().text;
    const std::size_t size = random() % 200;
    for (std::size_t at = 0; at < size; ++at)
      bytes += static_cast<char>(random() % (turn % 2 == 0 ? 256 : 14));
    StatusOr<TcpConnection> connection = TcpConnection::open("127.0.0.1", server->port(), in(20s));
    (void)connection->send(bytes, in(20s));
  }
  TcpStore other = client();
  EXPECT_TRUE(other.set("alive", "yes").ok());
  EXPECT_EQ(*other.get("alive", in(20s)), "yes");
}

// ---- hostile stores -----------------------------------------------------------------------------

/// Something that listens and answers the same bytes to everybody.
class FalseStore {
public:
  explicit FalseStore(std::string answer) : answer(std::move(answer)) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), size), 0);
    EXPECT_EQ(listen(listener, 4), 0);
    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size);
    port = ntohs(address.sin_port);
    thread = std::thread([this] {
      const int client = accept(listener, nullptr, nullptr);
      [[maybe_unused]] const ssize_t sent =
          send(client, this->answer.data(), this->answer.size(), MSG_NOSIGNAL);
      shutdown(client, SHUT_WR);
      char bytes[256];
      while (recv(client, bytes, sizeof bytes, 0) > 0) {
      }
      close(client);
    });
  }
  ~FalseStore() {
    thread.join();
    close(listener);
  }
  StatusOr<TcpStore> connect() const { return TcpStore::connect({"127.0.0.1", port}, "", in(20s)); }

private:
  const std::string answer;
  int listener = -1;
  std::uint16_t port = 0;
  std::thread thread;
};

/// The right answer to the first question, then something else.
std::string greeted(const Bytes &then) { return Bytes().number(0x76696D65u).text + then.text; }

TEST(HostileStore, WhatIsNoStoreIsRefused) {
  EXPECT_THAT(FalseStore("HTTP/1.1 400 Bad Request\r\n").connect().status().message(),
              HasSubstr("does not speak the protocol of a TCPStore"));
  EXPECT_THAT(FalseStore("").connect().status().message(), HasSubstr("the connection was closed"));
}

TEST(HostileStore, AnswersThatCannotBeAreRefused) {
  const auto got = [](const Bytes &answer) {
    const FalseStore hostile(greeted(answer));
    StatusOr<TcpStore> store = hostile.connect();
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store->get("key", in(20s)).status().message();
  };
  EXPECT_THAT(got(Bytes().number(std::uint8_t(9))), HasSubstr("cancels what nobody cancelled"));
  EXPECT_THAT(got(Bytes().number(std::uint8_t(0)).number(~std::uint64_t(0))),
              HasSubstr("answers with a value of 18446744073709551615 bytes"));
  EXPECT_THAT(got(Bytes().number(std::uint8_t(0)).number(std::uint64_t(9)).number(1)),
              HasSubstr("the connection was closed"));
}

} // namespace
} // namespace vime
