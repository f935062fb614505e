// HttpScorer: a worker that is a connection to a service: a request is a POST, its answer the body.
//
// Asked again: what was not answered in time or at all, answers that are none, and those of status
// 408, 429 and 5xx. Any other status says that there will be no score.
#pragma once

#include <memory>

#include "runtime/Reward/HttpPlugin.h"
#include "runtime/Reward/Scorer.h"

namespace vime {

class HttpScorer final : public Scorer {
public:
  HttpScorer(std::unique_ptr<HttpConnection> connection, double timeoutSeconds)
      : connection(std::move(connection)), timeout(timeoutSeconds) {}
  ScorerAnswer ask(std::uint64_t id, const std::string &request) override;

private:
  const std::unique_ptr<HttpConnection> connection;
  const double timeout;
};

} // namespace vime
