#include "runtime/Reward/HttpPlugin.h"

namespace vime {

StatusOr<std::unique_ptr<HttpConnection>> connectHttp(const HttpTarget &target) {
  StatusOr<void *> entry = openPlugin({.what = "rewards by a service are",
                                       .file = "libvime_http.so",
                                       .entry = kHttpEntry,
                                       .interfaceSymbol = kHttpInterfaceSymbol,
                                       .interfaceIs = kHttpInterface});
  if (!entry.ok())
    return entry.status();
  Status status;
  std::unique_ptr<HttpConnection> connection(reinterpret_cast<HttpEntry>(*entry)(target, status));
  if (!connection)
    return status;
  return connection;
}

} // namespace vime
