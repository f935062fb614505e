#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/reward/AskedRewards.h"
#include "tests/reward/TinyService.h"

namespace vime {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;
using Way = ServiceReply::Way;

ServiceReply right(const std::string &body) {
  const Json request = Json::parse(body);
  return {.body = Json{{"id", request["id"]}, {"score", request["response_ids"].size()}}.dump()};
}

plan::RewardSettings settings(const std::string &url) {
  return {.kind = plan::RewardKind::Http, .what = url, .timeoutSeconds = 20, .workers = 2};
}

StatusOr<std::vector<double>> score(const plan::RewardSettings &settings, std::size_t count = 12) {
  auto reward = makeReward(settings, "");
  if (!reward.ok())
    return reward.status();
  return (*reward)->score(AskedRewards::ofLengths(count).requests);
}

void expectLengths(const StatusOr<std::vector<double>> &scores) {
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(*scores, AskedRewards::ofLengths(scores->size()).lengths());
}

TEST(HttpReward, PostsJsonOverConnectionsThatItKeeps) {
  Json seen;
  TinyService service([&](int, const std::string &body) {
    seen = Json::parse(body);
    return right(body);
  });
  expectLengths(score(settings(service.url())));
  EXPECT_EQ(service.requests(), 12);
  EXPECT_LE(service.connections(), 2);
  EXPECT_EQ(seen["prompt"], "1+1=");
  EXPECT_EQ(seen["answer"], "2");
  EXPECT_EQ(seen["metadata"]["level"], 3);
}

TEST(HttpReward, TriesAgainWhatMayPass) {
  TinyService service([](int request, const std::string &body) -> ServiceReply {
    switch (request) {
    case 0:
      return {.status = 503, .body = "busy"};
    case 1:
      return {.status = 429};
    case 2:
      return {.way = Way::Drop};
    case 3:
      return {.body = "no JSON"};
    case 4:
      return {.body = "{\"id\": 0, \"score\": 9}"}; // of nothing that was asked
    default:
      return right(body);
    }
  });
  plan::RewardSettings patient = settings(service.url());
  patient.retries = 5;
  expectLengths(score(patient));
  EXPECT_GE(service.requests(), 16);
}

TEST(HttpReward, GivesUpInTheEnd) {
  TinyService service(
      [](int, const std::string &) { return ServiceReply{.status = 500, .body = "oh\nno"}; });
  const auto scores = score(settings(service.url()), 1);
  EXPECT_EQ(scores.status().code(), StatusCode::RankFailed);
  EXPECT_EQ(scores.status().message(), "no reward for sample 1 of draw 10 after 3 attempts: the "
                                       "last answered with status 500: `oh no`");
  EXPECT_EQ(service.requests(), 3);
}

TEST(HttpReward, ScoresAreFiniteNumbers) {
  for (const char *score : {"NaN", "1e999", "null", "\"1\""}) {
    TinyService service([&](int, const std::string &body) {
      return ServiceReply{.body = "{\"id\": " + Json::parse(body)["id"].dump() +
                                  ", \"score\": " + score + "}"};
    });
    EXPECT_FALSE(vime::score(settings(service.url()), 1).ok()) << score;
  }
}

TEST(HttpReward, OtherErrorsAreForGood) {
  TinyService service(
      [](int, const std::string &) { return ServiceReply{.status = 404, .body = "where?"}; });
  EXPECT_EQ(score(settings(service.url()), 1).status().message(),
            "no reward for sample 1 of draw 10: it answered with status 404: `where?`");
  EXPECT_EQ(service.requests(), 1);
}

TEST(HttpReward, HangsEndInTime) {
  TinyService service([](int request, const std::string &body) -> ServiceReply {
    return request == 0 ? ServiceReply{.way = Way::Hang} : right(body);
  });
  plan::RewardSettings impatient = settings(service.url());
  impatient.timeoutSeconds = 0.5;
  expectLengths(score(impatient));
  TinyService deaf([](int, const std::string &) { return ServiceReply{.way = Way::Hang}; });
  impatient.what = deaf.url();
  impatient.retries = 0;
  const auto scores = score(impatient);
  EXPECT_EQ(scores.status().code(), StatusCode::Hang);
  EXPECT_THAT(scores.status().message(), HasSubstr("gave no answer within 0.5 s"));
}

TEST(HttpReward, NobodyThere) {
  plan::RewardSettings nobody = settings("http://127.0.0.1:1/");
  nobody.retries = 0;
  EXPECT_THAT(score(nobody, 1).status().message(), HasSubstr("was not reached: Failed to connect"));
}

TEST(HttpReward, AddressesThatAreNone) {
  for (const char *url : {"", "file:///etc/passwd", "ftp://a/b", "http://", "not an address"})
    EXPECT_EQ(score(settings(url), 1).status().code(), StatusCode::InvalidInput) << url;
}

TEST(HttpReward, AnswersOfAnyLengthAreNotKept) {
  TinyService service(
      [](int, const std::string &) { return ServiceReply{.body = std::string(3 << 20, 'x')}; });
  plan::RewardSettings once = settings(service.url());
  once.retries = 0;
  EXPECT_THAT(score(once, 1).status().message(), HasSubstr("longer than 1048576 bytes"));
}

TEST(HttpReward, CancelledFromAnotherThread) {
  TinyService service([](int, const std::string &) { return ServiceReply{.way = Way::Hang}; });
  auto reward = makeReward(settings(service.url()), "");
  ASSERT_TRUE(reward.ok()) << reward.status().message();
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (*reward)->cancel();
  });
  const AskedRewards asked = AskedRewards::ofLengths(5);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ((*reward)->score(asked.requests).status().code(), StatusCode::Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  canceller.join();
}

} // namespace
} // namespace vime
