// A store of a test, and clients of it.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "runtime/Transport/TcpStore.h"
#include "runtime/Transport/TcpStoreServer.h"

namespace vime {

inline Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

class StoreTest : public testing::Test {
protected:
  StoreTest() {
    StatusOr<std::unique_ptr<TcpStoreServer>> listening = TcpStoreServer::listen("127.0.0.1", 0);
    EXPECT_TRUE(listening.ok()) << listening.status().message();
    server = std::move(*listening);
    server->serve();
  }

  StoreAddress address() const { return {"127.0.0.1", server->port()}; }

  TcpStore client(const std::string &prefix = "") const {
    StatusOr<TcpStore> store = TcpStore::connect(address(), prefix, in(std::chrono::seconds(20)));
    EXPECT_TRUE(store.ok()) << store.status().message();
    return std::move(*store);
  }

  std::unique_ptr<TcpStoreServer> server;
};

} // namespace vime
