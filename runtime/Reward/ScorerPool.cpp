#include "runtime/Reward/ScorerPool.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "runtime/Reward/RewardMessage.h"

namespace vime {
namespace {

constexpr double kFirstPause = 0.05, kLongestPause = 5; // seconds, before a request is asked again

Status cancelled() { return {StatusCode::Interrupted, "rewards were cancelled"}; }

class ScorerPool final : public Reward {
public:
  ScorerPool(const plan::RewardSettings &settings, MakeScorer make)
      : settings(settings), make(std::move(make)) {}
  ~ScorerPool() override {
    {
      const std::lock_guard lock(mutex);
      isClosing = true;
    }
    work.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  Status start() {
    for (std::uint32_t worker = 0; worker < settings.workers; ++worker)
      threads.emplace_back([this, worker] { run(worker); });
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return started == settings.workers; });
    return failure;
  }

  StatusOr<std::vector<double>> score(std::span<const RewardRequest> asked) override {
    std::unique_lock lock(mutex);
    requests = asked;
    scores.assign(asked.size(), 0);
    left = asked.size();
    for (std::size_t place = 0; place < asked.size(); ++place)
      waiting.push_back({.place = place});
    work.notify_all();
    done.wait(lock, [&] { return busy == 0 && (left == 0 || !failure.ok()); });
    waiting.clear();
    if (!failure.ok())
      return failure;
    return std::move(scores);
  }

  void cancel() override { fail(cancelled()); }

private:
  struct Job {
    std::size_t place = 0;
    std::uint32_t attempts = 0; // so far
  };

  void run(std::uint32_t worker) {
    blockBrokenPipes();
    StatusOr<std::unique_ptr<Scorer>> scorer = make(event);
    if (!scorer.ok())
      fail(scorer.status());
    {
      const std::lock_guard lock(mutex);
      ++started;
      alive += scorer.ok();
    }
    done.notify_all();
    while (scorer.ok()) {
      std::optional<Job> job = take();
      if (!job || !serve(worker, **scorer, *job))
        break;
    }
  }

  /// Writing to a worker that has ended is an error like others, not a signal.
  static void blockBrokenPipes() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

  std::optional<Job> take() {
    std::unique_lock lock(mutex);
    work.wait(lock, [&] { return isClosing || (failure.ok() && !waiting.empty()); });
    if (isClosing)
      return std::nullopt;
    const Job job = waiting.front();
    waiting.pop_front();
    ++busy;
    return job;
  }

  /// Whether the scorer is of further use.
  bool serve(std::uint32_t worker, Scorer &scorer, Job job) {
    std::uint64_t id;
    {
      const std::lock_guard lock(mutex);
      id = nextId++;
    }
    const ScorerAnswer answer = scorer.ask(id, describeRequest(id, requests[job.place]));
    ++job.attempts;
    if (answer.kind == ScorerAnswer::Kind::Again && job.attempts <= settings.retries)
      event.waitFor(std::min(kFirstPause * double(1 << std::min(job.attempts - 1, 10u)),
                             kLongestPause)); // still counts as busy
    const std::lock_guard lock(mutex);
    settle(worker, job, answer);
    --busy;
    done.notify_all();
    return answer.kind != ScorerAnswer::Kind::Lost;
  }

  void settle(std::uint32_t worker, const Job &job, const ScorerAnswer &answer) {
    switch (answer.kind) {
    case ScorerAnswer::Kind::Score:
      scores[job.place] = answer.score;
      --left;
      return;
    case ScorerAnswer::Kind::Cancelled:
      return failHeld(cancelled());
    case ScorerAnswer::Kind::Refused:
      return failHeld({answer.code, fmt::format("no reward for {}: it {}",
                                                nameOf(requests[job.place]), answer.why)});
    case ScorerAnswer::Kind::Lost:
      --alive;
      losses += fmt::format("\nreward worker {}, asked for {}: it {}", worker,
                            nameOf(requests[job.place]), answer.why);
      if (alive < std::max(settings.minWorkers, 1u))
        return failHeld({answer.code,
                         fmt::format("{} of {} reward workers are left, {} are needed{}", alive,
                                     settings.workers, std::max(settings.minWorkers, 1u), losses)});
      break;
    case ScorerAnswer::Kind::Again:
      break;
    }
    if (job.attempts > settings.retries)
      return failHeld(
          {answer.code, fmt::format("no reward for {} after {} attempts: the last {}",
                                    nameOf(requests[job.place]), job.attempts, answer.why)});
    waiting.push_back(job);
    work.notify_one();
  }

  void fail(const Status &status) {
    const std::lock_guard lock(mutex);
    failHeld(status);
  }
  /// The first failure is for good: questions under way end, and nothing more is asked.
  void failHeld(const Status &status) {
    if (failure.ok())
      failure = status;
    event.set();
    done.notify_all();
  }

  const plan::RewardSettings settings;
  const MakeScorer make;
  CancelEvent event;

  std::mutex mutex; // guards what follows
  std::condition_variable work, done;
  std::span<const RewardRequest> requests; // of the call under way
  std::vector<double> scores;
  std::deque<Job> waiting;
  std::size_t left = 0; // requests without a score
  std::uint64_t nextId = 1;
  std::uint32_t started = 0, alive = 0, busy = 0;
  bool isClosing = false;
  Status failure;
  std::string losses;

  std::vector<std::thread> threads; // last: they use all of it
};

} // namespace

StatusOr<std::unique_ptr<Reward>> makePool(const plan::RewardSettings &settings, MakeScorer make) {
  if (settings.workers == 0 || settings.minWorkers > settings.workers)
    return Status(StatusCode::InvalidInput, fmt::format("{} reward workers, of which {} are needed",
                                                        settings.workers, settings.minWorkers));
  auto pool = std::make_unique<ScorerPool>(settings, std::move(make));
  if (Status status = pool->start(); !status.ok())
    return status;
  return std::unique_ptr<Reward>(std::move(pool));
}

} // namespace vime
