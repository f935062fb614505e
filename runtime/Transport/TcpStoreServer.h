// TCP store server: the key-value store of a run that nobody else hosts, on the first rank's
// machine.
//
//   StatusOr<std::unique_ptr<TcpStoreServer>> server = TcpStoreServer::listen("127.0.0.1", 0);
//   … server->port() …         // clients may connect from now on
//   (*server)->serve();         // and are answered, by a thread of its own, until it is destroyed
//
// One thread and one poll loop. A client that sends what is no query is dropped; the others do not
// notice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/Transport/TcpConnection.h"

namespace vime {

class TcpStoreServer {
public:
  /// On a numeric address, empty for all of this machine; port 0 for any free one.
  static StatusOr<std::unique_ptr<TcpStoreServer>> listen(const std::string &address,
                                                          std::uint16_t port);
  ~TcpStoreServer();
  TcpStoreServer(const TcpStoreServer &) = delete;

  std::uint16_t port() const { return number; }

  /// Starts the thread; apart from `listen`, so that a process can fork between the two.
  void serve();

private:
  TcpStoreServer(OwnedFile listener, std::uint16_t port);

  struct Client;
  class QueryReader;
  void run();
  void accept();
  void attend(Client &client, short events);
  bool receive(Client &client);
  bool answerAll(Client &client);
  bool answer(Client &client, QueryReader &query);
  bool answerSet(Client &client, QueryReader &query);
  bool answerGet(Client &client, QueryReader &query);
  bool answerAdd(Client &client, QueryReader &query);
  bool answerKeys(Client &client, QueryReader &query, bool waits);
  void store(const std::string &key, std::string value);

  const OwnedFile listener;
  const OwnedFile stop; // readable: end
  const std::uint16_t number;
  std::map<std::string, std::string> values;
  std::vector<std::unique_ptr<Client>> clients;
  std::thread thread;
};

} // namespace vime
