// The plug-in: HTTP by libcurl, which pools connections, speaks TLS and knows proxies.
#include <memory>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>

#include "runtime/Reward/HttpPlugin.h"

namespace vime {
namespace {

constexpr std::size_t kLongestBody = 1 << 20;

template <auto function> struct Cleanup {
  template <typename Handle> void operator()(Handle *handle) const { function(handle); }
};

std::size_t appendBody(char *bytes, std::size_t, std::size_t count, void *body) {
  auto &text = *static_cast<std::string *>(body);
  if (text.size() + count > kLongestBody)
    return 0; // ends the transfer
  text.append(bytes, count);
  return count;
}

class CurlConnection final : public HttpConnection {
public:
  explicit CurlConnection(const HttpTarget &target) : cancelDescriptor(target.cancelDescriptor) {
    for (const char *header : {"Content-Type: application/json", "Expect:"})
      headers.reset(curl_slist_append(headers.release(), header));
    CURL *handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_URL, target.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(target.timeoutSeconds * 1000));
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, appendBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &received);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, fault);
  }

  HttpReply post(const std::string &body) override {
    received.clear();
    fault[0] = '\0';
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_multi_add_handle(multi.get(), easy.get());
    HttpReply reply = transfer();
    curl_multi_remove_handle(multi.get(), easy.get()); // the connection stays
    return reply;
  }

private:
  HttpReply transfer() {
    for (int running = 1; running > 0;) {
      curl_waitfd cancel{.fd = cancelDescriptor, .events = CURL_WAIT_POLLIN, .revents = 0};
      if (curl_multi_perform(multi.get(), &running) != CURLM_OK)
        return {.kind = HttpReply::Kind::Unreachable, .why = "libcurl cannot go on"};
      if (running > 0)
        curl_multi_poll(multi.get(), &cancel, 1, 1000, nullptr);
      if (cancel.revents != 0)
        return {.kind = HttpReply::Kind::Cancelled};
    }
    int others = 0;
    const CURLMsg *message = curl_multi_info_read(multi.get(), &others);
    return outcome(message ? message->data.result : CURLE_FAILED_INIT);
  }

  HttpReply outcome(CURLcode code) const {
    if (code == CURLE_OPERATION_TIMEDOUT)
      return {.kind = HttpReply::Kind::TimedOut};
    if (code == CURLE_WRITE_ERROR)
      return {.kind = HttpReply::Kind::Unreachable,
              .why = fmt::format("its answer is longer than {} bytes", kLongestBody)};
    if (code != CURLE_OK)
      return {.kind = HttpReply::Kind::Unreachable,
              .why = fault[0] != '\0' ? fault : curl_easy_strerror(code)};
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return {.status = static_cast<int>(status), .body = received};
  }

  const int cancelDescriptor;
  std::string received;
  char fault[CURL_ERROR_SIZE] = "";
  std::unique_ptr<curl_slist, Cleanup<curl_slist_free_all>> headers;
  std::unique_ptr<CURLM, Cleanup<curl_multi_cleanup>> multi{curl_multi_init()};
  std::unique_ptr<CURL, Cleanup<curl_easy_cleanup>> easy{curl_easy_init()};
};

HttpConnection *connect(const HttpTarget &target, Status &status) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURLU, Cleanup<curl_url_cleanup>> url(curl_url());
  char *scheme = nullptr;
  const bool isAddress =
      curl_url_set(url.get(), CURLUPART_URL, target.url.c_str(), 0) == CURLUE_OK &&
      curl_url_get(url.get(), CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;
  const std::string found = scheme ? scheme : "";
  curl_free(scheme);
  if (!isAddress || (found != "http" && found != "https")) {
    status = Status(StatusCode::InvalidInput,
                    fmt::format("`{}` is no address of a service, as `http://127.0.0.1:8000/score`",
                                target.url));
    return nullptr;
  }
  return new CurlConnection(target);
}

} // namespace
} // namespace vime

extern "C" {
extern const std::uint64_t vimeHttpInterface;
const std::uint64_t vimeHttpInterface = vime::kHttpInterface;
}

extern "C" vime::HttpConnection *vimeConnectHttp(const vime::HttpTarget &target,
                                                 vime::Status &status) {
  return vime::connect(target, status);
}
