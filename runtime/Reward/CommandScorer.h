// CommandScorer: a worker that is a process: a request a line on its standard input, an answer a
// line on its standard output.
//
// Answers to what was asked before, and second ones, are passed over. What it says on its standard
// error stream is kept for the message of its end. One that answers too late, answers what nobody
// asked, or ends, is lost.
#pragma once

#include <memory>

#include "runtime/Reward/CancelEvent.h"
#include "runtime/Reward/ChildProcess.h"
#include "runtime/Reward/Scorer.h"

namespace vime {

class CommandScorer final : public Scorer {
public:
  CommandScorer(std::unique_ptr<ChildProcess> child, double timeoutSeconds,
                const CancelEvent &cancel)
      : child(std::move(child)), timeout(timeoutSeconds), cancel(cancel) {}
  ~CommandScorer() override;

  ScorerAnswer ask(std::uint64_t id, const std::string &request) override;

private:
  /// Each: whether there is an answer already, which is none.
  bool exchange(int waitMilliseconds, ScorerAnswer &answer);
  bool write(ScorerAnswer &answer);
  bool read(ScorerAnswer &answer);
  bool take(std::string_view line, ScorerAnswer &answer);
  void readErrors();
  ScorerAnswer lost(StatusCode code, std::string why, double grace);

  const std::unique_ptr<ChildProcess> child;
  const double timeout;
  const CancelEvent &cancel;
  std::uint64_t asked = 0;
  std::string unsent, unread; // rest of the request, beginning of a line
  bool hasScore = false;
  double score = 0;
  std::string lastErrors;
  bool errorsEnded = false;
};

} // namespace vime
