// A worker of a reward that does as it is told: a request a line in, an answer a line out.
//
//   reward_worker good                     the score is the length of the response
//   reward_worker first FILE MODE          the first worker that comes to FILE has the mode, others
//   are good
//
// Modes: hang, die, twice, late, foreign, junk, infinite, flood, close, deaf, family, poison.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

void say(const Json &id, const Json &score) {
  std::cout << Json{{"id", id}, {"score", score}}.dump() << std::endl;
}

[[noreturn]] void die() {
  std::cerr << "first words\nout of luck\n";
  std::_Exit(3);
}

/// Another process of its group, that would outlive it.
void bear() {
  if (fork() == 0) {
    std::cerr << "child " << getpid() << std::endl;
    for (;;)
      pause();
  }
}

void answer(const std::string &mode, const Json &request) {
  const Json &id = request["id"];
  const double score = double(request["response_ids"].size());
  if (mode == "hang" || mode == "family") {
    if (mode == "family")
      bear();
    for (;;)
      pause();
  }
  if (mode == "die" || (mode == "poison" && request["response"] == "poison"))
    die();
  if (mode == "foreign")
    return say(id.get<std::uint64_t>() + 100000, score);
  if (mode == "junk")
    return void(std::cout << "loading the model …" << std::endl);
  if (mode == "infinite")
    return void(std::cout << "{\"id\": " << id << ", \"score\": NaN}" << std::endl);
  if (mode == "late" && id.get<std::uint64_t>() > 1)
    say(id.get<std::uint64_t>() - 1, -1); // of what was asked before
  say(id, score);
  if (mode == "twice")
    say(id, -1);
}

} // namespace

int main(int, char **arguments) {
  std::string mode = arguments[1];
  if (mode == "first") {
    const int file = open(arguments[2], O_CREAT | O_EXCL | O_WRONLY, 0600);
    mode = file >= 0 ? arguments[3] : "good";
  }
  if (mode == "close") {
    close(1);
    pause();
  }
  if (mode == "flood")
    for (;;)
      std::cout << std::string(1 << 16, 'x');
  if (mode == "deaf")
    for (;;)
      pause();
  for (std::string line; std::getline(std::cin, line);)
    answer(mode, Json::parse(line));
}
