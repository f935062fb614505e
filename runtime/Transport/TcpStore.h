// TCP store: a client of the key-value store where ranks find each other, be it torchrun's or
// rank 0's (TcpStoreServer.h).
//
//   StatusOr<TcpStore> store = TcpStore::connect({"10.0.0.1", 29500}, "vime/0/", deadline);
//   store->set("address/0", "10.0.0.1:4711");
//   StatusOr<std::string> other = store->get("address/1", deadline); // when it is there
//
// Failures name the store. What comes from it is believed only as far as its form goes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/Transport/TcpConnection.h"

namespace vime {

struct StoreAddress {
  std::string host;
  std::uint16_t port = 0;
  bool isOfRankZero = false; // for messages: without that rank there is no store
};

class TcpStore {
public:
  /// `prefix` stands before every key: what else is in the store is none of our business. Tries
  /// until the deadline, since the store may start later than its clients; a little later the store
  /// has stopped answering.
  static StatusOr<TcpStore> connect(const StoreAddress &address, std::string prefix,
                                    Deadline deadline);

  Status set(const std::string &key, std::string_view value);
  /// Waits until the key is there; `Hang` at the deadline.
  StatusOr<std::string> get(const std::string &key, Deadline deadline);
  /// Waits until all keys are there.
  Status wait(std::span<const std::string> keys, Deadline deadline);
  StatusOr<bool> has(const std::string &key);
  /// Adds to a number, 0 at first, and returns the sum.
  StatusOr<std::int64_t> add(const std::string &key, std::int64_t amount);

  /// By which address of this machine the store is reached.
  const std::string &localAddress() const { return connection.localAddress(); }

private:
  TcpStore(TcpConnection connection, const StoreAddress &address, std::string prefix,
           Deadline last);
  class Request;
  Status ask(const Request &request);
  Status answer(void *bytes, std::size_t count, Deadline deadline);
  Status cancelWait();
  Deadline soon() const;
  Status named(Status status) const;

  TcpConnection connection;
  std::string name; // for messages
  std::string prefix;
  Deadline last; // later than that nobody answers any more
};

} // namespace vime
