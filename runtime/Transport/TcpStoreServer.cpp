#include "runtime/Transport/TcpStoreServer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/Transport/TcpStoreProtocol.h"

namespace vime {
namespace {

constexpr int kBacklog = 4096;
/// What a client may leave unread or unfinished: more than the largest query has.
constexpr std::size_t kMaxPending = 2 * store::kMaxValueBytes;

template <typename Number> void append(std::string &bytes, Number value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// A listening socket, or why there is none.
StatusOr<OwnedFile> bound(const addrinfo &address) {
  OwnedFile file(socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1, no = 0;
  setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.ai_family == AF_INET6) // `::` takes IPv4 clients too
    setsockopt(file.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (file.get() < 0 || bind(file.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(file.get(), kBacklog) != 0)
    return Status(StatusCode::Unacceptable, std::strerror(errno));
  return file;
}

std::uint16_t portOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6 &>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in &>(address).sin_port);
}

} // namespace

struct TcpStoreServer::Client {
  explicit Client(OwnedFile socket) : socket(std::move(socket)) {}
  OwnedFile socket;
  std::string in, out;
  std::vector<std::string> awaited; // not empty: it waits for these
  bool known = false;               // has shown the magic number
  bool gone = false;
};

/// Reads one query from the bytes that have come so far.
class TcpStoreServer::QueryReader {
public:
  explicit QueryReader(std::string_view bytes) : bytes(bytes) {}

  template <typename Number> std::optional<Number> number() {
    if (bytes.size() - at < sizeof(Number)) {
      short_ = true;
      return std::nullopt;
    }
    Number value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }

  std::optional<std::string> text(std::uint64_t limit) {
    const std::optional<std::uint64_t> size = number<std::uint64_t>();
    if (!size || *size > limit)
      return std::nullopt;
    if (bytes.size() - at < *size) {
      short_ = true;
      return std::nullopt;
    }
    std::string value(bytes.substr(at, *size));
    at += *size;
    return value;
  }

  bool isShort() const { return short_; } // not all of the query is there yet
  std::size_t size() const { return at; }

private:
  const std::string_view bytes;
  std::size_t at = 0;
  bool short_ = false;
};

TcpStoreServer::TcpStoreServer(OwnedFile socket, std::uint16_t port)
    : listener(std::move(socket)), stop(eventfd(0, EFD_CLOEXEC)), number(port) {}

StatusOr<std::unique_ptr<TcpStoreServer>> TcpStoreServer::listen(const std::string &address,
                                                                 std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  Status failure(StatusCode::Unacceptable, "no such address");
  // All of this machine: by IPv6, which takes both, unless there is none.
  const std::vector<std::string> hosts =
      address.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{address};
  for (const std::string &host : hosts) {
    addrinfo *found = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
      continue;
    StatusOr<OwnedFile> file = bound(*found);
    freeaddrinfo(found);
    if (file.ok()) {
      const std::uint16_t given = portOf(file->get());
      return std::unique_ptr<TcpStoreServer>(new TcpStoreServer(std::move(*file), given));
    }
    failure = file.status();
  }
  return Status(failure.code(),
                fmt::format("cannot listen on port {}{}{}: {}", port, address.empty() ? "" : " of ",
                            address, failure.message()));
}

TcpStoreServer::~TcpStoreServer() {
  if (!thread.joinable())
    return;
  eventfd_write(stop.get(), 1);
  thread.join();
}

void TcpStoreServer::serve() {
  thread = std::thread([this] { run(); });
}

void TcpStoreServer::run() {
  std::vector<pollfd> files;
  for (;;) {
    files = {{stop.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
    for (const auto &client : clients)
      files.push_back({client->socket.get(),
                       static_cast<short>(client->out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    poll(files.data(), files.size(), -1);
    if (files[0].revents != 0)
      return;
    for (std::size_t index = 2; index < files.size(); ++index)
      attend(*clients[index - 2], files[index].revents);
    std::erase_if(clients, [](const auto &client) { return client->gone; });
    if (files[1].revents != 0)
      accept();
  }
}

void TcpStoreServer::accept() {
  const int file = accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (file >= 0)
    clients.push_back(std::make_unique<Client>(OwnedFile(file)));
  else if (errno == EMFILE || errno == ENFILE) // the listener stays readable: do not spin on it
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void TcpStoreServer::attend(Client &client, short events) {
  if (client.gone)
    return;
  if ((events & ~POLLOUT) != 0)
    client.gone = !receive(client) || !answerAll(client);
  if (client.gone || client.out.empty())
    return;
  const ssize_t sent =
      send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
  if (sent > 0)
    client.out.erase(0, static_cast<std::size_t>(sent));
  client.gone = (sent < 0 && errno != EAGAIN && errno != EINTR) || client.out.size() > kMaxPending;
}

bool TcpStoreServer::receive(Client &client) {
  char bytes[16384];
  const ssize_t count = recv(client.socket.get(), bytes, sizeof bytes, 0);
  if (count < 0)
    return errno == EAGAIN || errno == EINTR;
  client.in.append(bytes, static_cast<std::size_t>(count));
  return count > 0 && client.in.size() <= kMaxPending;
}

/// False when the client is to be dropped.
bool TcpStoreServer::answerAll(Client &client) {
  std::size_t done = 0;
  while (done < client.in.size()) {
    QueryReader query(std::string_view(client.in).substr(done));
    if (!answer(client, query)) {
      if (!query.isShort())
        return false;
      break;
    }
    done += query.size();
  }
  client.in.erase(0, done);
  return true;
}

bool TcpStoreServer::answer(Client &client, QueryReader &query) {
  const auto kind = static_cast<store::Query>(query.number<std::uint8_t>().value_or(0xFF));
  if (!client.known && kind != store::Query::Validate)
    return false;
  switch (kind) {
  case store::Query::Validate:
    return client.known = query.number<std::uint32_t>() == store::kMagic;
  case store::Query::Set:
    return answerSet(client, query);
  case store::Query::Get:
    return answerGet(client, query);
  case store::Query::Add:
    return answerAdd(client, query);
  case store::Query::Check:
    return answerKeys(client, query, /*waits=*/false);
  case store::Query::Wait:
    return answerKeys(client, query, /*waits=*/true);
  case store::Query::CancelWait:
    client.awaited.clear();
    append(client.out, store::WaitAnswer::Cancelled);
    return true;
  case store::Query::Ping:
    if (const std::optional<std::uint32_t> token = query.number<std::uint32_t>())
      return append(client.out, *token), true;
    return false;
  }
  return false;
}

bool TcpStoreServer::answerSet(Client &, QueryReader &query) {
  const std::optional<std::string> key = query.text(store::kMaxKeyBytes);
  std::optional<std::string> value = key ? query.text(store::kMaxValueBytes) : std::nullopt;
  if (!value)
    return false;
  store(*key, std::move(*value));
  return true;
}

bool TcpStoreServer::answerGet(Client &client, QueryReader &query) {
  const std::optional<std::string> key = query.text(store::kMaxKeyBytes);
  const auto found = key ? values.find(*key) : values.end();
  if (found == values.end())
    return false;
  append(client.out, std::uint64_t(found->second.size()));
  client.out += found->second;
  return true;
}

bool TcpStoreServer::answerAdd(Client &client, QueryReader &query) {
  const std::optional<std::string> key = query.text(store::kMaxKeyBytes);
  const std::optional<std::int64_t> amount = key ? query.number<std::int64_t>() : std::nullopt;
  if (!amount)
    return false;
  std::int64_t sum = 0;
  if (const auto found = values.find(*key); found != values.end()) {
    const std::string &text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sum);
    if (error != std::errc() || end != text.data() + text.size())
      return false;
  }
  if (__builtin_add_overflow(sum, *amount, &sum))
    return false;
  store(*key, std::to_string(sum));
  append(client.out, sum);
  return true;
}

bool TcpStoreServer::answerKeys(Client &client, QueryReader &query, bool waits) {
  const std::optional<std::uint64_t> count = query.number<std::uint64_t>();
  if (!count || *count > store::kMaxKeys)
    return false;
  std::vector<std::string> missing;
  for (std::uint64_t index = 0; index < *count; ++index) {
    std::optional<std::string> key = query.text(store::kMaxKeyBytes);
    if (!key)
      return false;
    if (!values.contains(*key))
      missing.push_back(std::move(*key));
  }
  if (!waits)
    append(client.out, missing.empty() ? store::Presence::All : store::Presence::NotAll);
  else if (missing.empty())
    append(client.out, store::WaitAnswer::AllThere);
  else
    client.awaited = std::move(missing);
  return true;
}

/// Sets a value and answers whoever waits for nothing else.
void TcpStoreServer::store(const std::string &key, std::string value) {
  values[key] = std::move(value);
  for (const auto &client : clients)
    if (std::erase(client->awaited, key) != 0 && client->awaited.empty())
      append(client->out, store::WaitAnswer::AllThere);
}

} // namespace vime
