// TinyService: an HTTP service on a port of its own, that answers as a function says.
//
//   TinyService service([](int request, const std::string &body) { return Reply{200, body}; });
//   service.url()
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace vime {

struct ServiceReply {
  int status = 200;
  std::string body;
  enum class Way { Answer, Hang, Drop } way = Way::Answer;
};

class TinyService {
public:
  /// `request`: counted from 0, of all connections. Called from several threads, one at a time.
  using Handler = std::function<ServiceReply(int request, const std::string &body)>;
  explicit TinyService(Handler handler);
  ~TinyService();

  std::string url() const;
  int connections() const { return accepted; }
  int requests() const { return served; }

private:
  void accept();
  void serve(int connection);

  const Handler handler;
  int listener, port = 0;
  int closing[2]; // a pipe: readable when the service ends
  std::atomic<int> accepted = 0, served = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::thread acceptor;
};

} // namespace vime
