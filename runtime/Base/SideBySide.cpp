#include "runtime/Base/SideBySide.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace vime {
namespace {

class Work {
public:
  Work(std::size_t count, const std::function<void(std::size_t)> &task)
      : count(count), task(task) {}

  void run() {
    for (std::size_t index; (index = next.fetch_add(1)) < count;) {
      try {
        task(index);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure)
          failure = std::current_exception();
        next = count;
      }
    }
  }

  void rethrow() const {
    if (failure)
      std::rethrow_exception(failure);
  }

private:
  const std::size_t count;
  const std::function<void(std::size_t)> &task;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
};

} // namespace

std::size_t availableThreads() { return std::max(std::thread::hardware_concurrency(), 1u); }

void sideBySide(std::size_t count, const std::function<void(std::size_t)> &task, std::size_t most) {
  Work work(count, task);
  std::vector<std::thread> threads;
  try {
    for (std::size_t more = 1; more < std::min(count, most); ++more)
      threads.emplace_back([&work] { work.run(); });
  } catch (const std::system_error &) { // those that there are do it
  }
  work.run();
  for (std::thread &thread : threads)
    thread.join();
  work.rethrow();
}

} // namespace vime
