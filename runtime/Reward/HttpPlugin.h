// HTTP plug-in: opens libvime_http.so, the only library of vime that links libcurl, when a run is
// scored by a service (runtime/Base/Plugin.h): libcurl brings three dozen other libraries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/Base/Plugin.h"

namespace vime {

struct HttpReply {
  enum class Kind : std::uint8_t { Answered, TimedOut, Unreachable, Cancelled };
  Kind kind = Kind::Answered;
  int status = 0; // of what was answered
  std::string body;
  std::string why; // it was not reached
};

/// A connection that is kept from one request to the next.
class HttpConnection {
public:
  virtual ~HttpConnection() = default;
  /// A body of JSON. Redirections are not followed.
  virtual HttpReply post(const std::string &body) = 0;
};

struct HttpTarget {
  std::string url; // http or https
  double timeoutSeconds = 0;
  int cancelDescriptor = -1; // readable: requests end
};

/// `Unacceptable` when the plug-in is missing, `InvalidInput` when the address is none.
StatusOr<std::unique_ptr<HttpConnection>> connectHttp(const HttpTarget &target);

/// The plug-in's one function, and what its other symbol must be.
using HttpEntry = HttpConnection *(*)(const HttpTarget &target, Status &status);
constexpr const char *kHttpEntry = "vimeConnectHttp", *kHttpInterfaceSymbol = "vimeHttpInterface";
constexpr std::uint64_t kHttpInterface =
    interfaceOf<HttpReply, HttpConnection, HttpTarget, Status>(1);

} // namespace vime
