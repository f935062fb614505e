#include "runtime/Transport/RollCall.h"

#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "tests/transport/StoreFixture.h"

namespace vime {
namespace {

using namespace std::chrono_literals;

class RollCall : public StoreTest {
protected:
  /// What each rank hears when `change` makes one of them another.
  std::vector<Status> heard(
      std::uint32_t ranks, const std::function<void(Attendance &)> &change = [](Attendance &) {}) {
    std::vector<Status> statuses(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        Attendance self{rank, ranks, "vime 1.2.3", "cafe", "10.0.0.1"};
        change(self);
        TcpStore store = client();
        statuses[rank] = callRoll(store, self, in(20s));
      });
    for (std::thread &thread : threads)
      thread.join();
    return statuses;
  }

  void expectAll(const std::vector<Status> &statuses, StatusCode code, const std::string &message) {
    for (const Status &status : statuses) {
      EXPECT_EQ(status.code(), code);
      EXPECT_EQ(status.message(), message);
    }
  }
};

TEST_F(RollCall, RanksOfOneMindGoOn) {
  for (const Status &status : heard(5))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(RollCall, TheHostOfTheStoreStaysUntilARefusalIsHeard) {
  Attendance host{.rank = 0, .ranks = 2, .planId = "cafe", .hostsStore = true};
  Attendance other{.rank = 1, .ranks = 2, .planId = "beef"};
  TcpStore late = client();
  ASSERT_TRUE(late.set("attendance/1", "\n2\nbeef\n").ok());
  std::atomic<bool> heard{false}, gone{false};
  std::thread rankZero([&] {
    TcpStore store = client();
    EXPECT_EQ(callRoll(store, host, in(20s)).message(), "rank 1 runs another plan than rank 0");
    EXPECT_TRUE(heard);
    gone = true;
  });
  EXPECT_EQ(*late.get("verdict", in(20s)), "4\nrank 1 runs another plan than rank 0");
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(gone);
  heard = true;
  EXPECT_FALSE(callRoll(late, other, in(20s)).ok());
  rankZero.join();
}

TEST_F(RollCall, OneRankGoesOn) { EXPECT_TRUE(heard(1)[0].ok()); }

TEST_F(RollCall, AnotherPlanIsNamedByEverybody) {
  const auto statuses = heard(3, [](Attendance &self) {
    if (self.rank == 2)
      self.planId = "beef";
  });
  expectAll(statuses, StatusCode::Unacceptable, "rank 2 runs another plan than rank 0");
}

TEST_F(RollCall, AnotherVersionIsNamedByEverybody) {
  const auto statuses = heard(3, [](Attendance &self) {
    if (self.rank == 1)
      self.program = "vime 1.3.0";
  });
  expectAll(statuses, StatusCode::Unacceptable, "rank 1 runs vime 1.3.0, rank 0 runs vime 1.2.3");
}

TEST_F(RollCall, AnotherWorldSizeIsNamedByEverybody) {
  const auto statuses = heard(2, [](Attendance &self) {
    if (self.rank == 1)
      self.ranks = 3;
  });
  expectAll(statuses, StatusCode::Unacceptable,
            "rank 1 was started as one of 3 ranks, rank 0 as one of 2");
}

TEST_F(RollCall, AnAddressThatOthersCannotReachIsNamedWithTheRemedy) {
  const auto statuses = heard(2, [](Attendance &self) {
    if (self.rank == 1)
      self.address = "127.0.1.1";
  });
  expectAll(statuses, StatusCode::Unacceptable,
            "rank 1 listens at 127.0.1.1 and rank 0 at 10.0.0.1, which cannot reach each other\n"
            "help: name the network interface with `--interface`, or an address of it with "
            "`MASTER_ADDR`");
}

TEST_F(RollCall, ARankThatIsTakenIsRefused) {
  TcpStore store = client();
  ASSERT_TRUE(store.add("place/0", 1).ok());
  const Status status = callRoll(store, {.rank = 0, .ranks = 2}, in(20s));
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_EQ(status.message(), "another process is rank 0 of this run already");
}

TEST_F(RollCall, ARankThatDoesNotComeIsNamed) {
  Status own, other;
  std::thread first([&] {
    TcpStore store = client();
    own = callRoll(store, {.rank = 0, .ranks = 3}, in(200ms));
  });
  std::thread second([&] {
    TcpStore store = client();
    other = callRoll(store, {.rank = 1, .ranks = 3}, in(200ms));
  });
  first.join();
  second.join();
  expectAll({own, other}, StatusCode::RankFailed, "rank 2 did not come in time");
}

TEST_F(RollCall, AnExcuseEndsTheWaitOfAll) {
  for (const std::uint32_t absent : {0u, 1u}) {
    const std::string prefix = absent == 0 ? "a/" : "b/";
    const Attendance here{.rank = 1 - absent, .ranks = 2}, missing{.rank = absent, .ranks = 2};
    std::thread late([&] {
      TcpStore store = client(prefix);
      excuse(store, missing, Status(StatusCode::File, "cannot open `x`"));
    });
    TcpStore store = client(prefix);
    const Status status = callRoll(store, here, in(20s));
    late.join();
    expectAll({status}, StatusCode::RankFailed,
              "rank " + std::to_string(absent) + " failed: cannot open `x`");
  }
}

TEST_F(RollCall, AVerdictThatIsNoneIsRefused) {
  TcpStore store = client();
  for (const std::string verdict : {"", "seven\nall is well", "99999999999999999\n", "3\nx"}) {
    ASSERT_TRUE(store.set("verdict", verdict).ok());
    TcpStore other = client();
    ASSERT_TRUE(other.set("place/1", "0").ok());
    EXPECT_EQ(callRoll(other, {.rank = 1, .ranks = 2}, in(20s)).code(), StatusCode::Unacceptable);
  }
}

} // namespace
} // namespace vime
