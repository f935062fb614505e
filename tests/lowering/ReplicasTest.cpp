// Replicas: what a plan holds of them, and whom a rank has to meet.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/lowering/Lowered.h"

namespace vime {
namespace {

using namespace plan;

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

void add(Pairs &pairs, std::uint32_t one, std::uint32_t other) {
  pairs.emplace(std::min(one, other), std::max(one, other));
}

/// Asked of every lane of every rank, one by one.
Pairs whoTalks(const Plan &plan) {
  Pairs pairs;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    for (const Lane &lane : programOf(plan, rank)->lanes) {
      if (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive)
        add(pairs, rank, resolvePeer(plan.mesh, rank, lane.peer));
      if (lane.kind != LaneKind::Group)
        continue;
      const Group &group = plan.groups[lane.group];
      const std::uint32_t own = memberIndex(plan.mesh, rank, group.axes);
      for (std::uint32_t other = 0; other < memberCount(plan.mesh, group.axes); ++other)
        if (other != own && talk(group.operation, group.root, own, other))
          add(pairs, rank, memberRank(plan.mesh, rank, group.axes, other));
    }
  return pairs;
}

Pairs whoConnects(const Plan &plan) {
  Pairs pairs;
  for (const ConnectRound &round : plan.connect)
    for (std::uint32_t turn = 0; turn < turnsOf(plan.mesh, round); ++turn)
      for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
        if (const auto peer = peerIn(plan.mesh, round, turn, rank)) {
          EXPECT_EQ(peerIn(plan.mesh, round, turn, *peer), rank) << "both meet in one turn";
          add(pairs, rank, *peer);
        }
  return pairs;
}

TEST(ConnectRounds, CoverEveryPairThatTalksAndNoOther) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 8u})
    for (const std::uint32_t replicas : {1u, 2u, 3u, 8u}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << replicas << " replicas");
      const Plan plan = lowered({.ranks = ranks, .microbatches = 8, .replicas = replicas});
      EXPECT_EQ(whoConnects(plan), whoTalks(plan));
    }
}

TEST(ConnectRounds, OfSharedModelsSayThatAllReplicasMeet) {
  for (const std::uint32_t replicas : {2u, 3u, 4u, 7u, 8u}) {
    SCOPED_TRACE(testing::Message() << replicas << " replicas");
    const Plan plan = lowered({.microbatches = 4, .replicas = replicas, .sharded = true});
    EXPECT_EQ(whoConnects(plan), whoTalks(plan));
    const ConnectRound &all = plan.connect.back();
    EXPECT_TRUE(all.allReplicas);
    // One replica rests in each turn if their number is odd.
    EXPECT_EQ(turnsOf(plan.mesh, all), replicas - (replicas + 1) % 2);
    for (std::uint32_t turn = 0; turn < turnsOf(plan.mesh, all); ++turn) {
      std::uint32_t rests = 0;
      for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
        rests += !peerIn(plan.mesh, all, turn, rank);
      EXPECT_EQ(rests, replicas % 2 * plan.mesh.pipeline);
    }
  }
}

TEST(ConnectRounds, LeaveEveryRankButTheFirstFewPartnersInOtherReplicas) {
  const Plan plan = lowered({.ranks = 4, .replicas = 64});
  std::vector<std::uint32_t> partners(plan.mesh.ranks(), 0);
  for (const auto &[low, high] : whoConnects(plan))
    if (replicaOf(plan.mesh, low) != replicaOf(plan.mesh, high))
      ++partners[low], ++partners[high];
  EXPECT_EQ(partners[0], 63u) << "it decides for all replicas";
  EXPECT_LE(*std::max_element(partners.begin() + 1, partners.end()), 3u);
}

TEST(Replicas, ShareProgramsAndLayouts) {
  const Plan trains = lowered({.ranks = 4, .replicas = 8});
  // The first rank of the leading replica coordinates; all others are like those of its like.
  EXPECT_EQ(trains.programOf, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(trains.layoutOf, trains.programOf);
  const Plan exports = lowered({.ranks = 2, .exportTo = "out", .replicas = 8});
  EXPECT_EQ(exports.programOf, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Replicas, CostAPlanNothingButTables) {
  const JobShape shape{.ranks = 8, .microbatches = 32, .replicas = 2};
  JobShape larger = shape;
  larger.replicas = 1024;
  const Plan two = lowered(shape), many = lowered(larger);
  EXPECT_EQ(two.programs, many.programs);
  EXPECT_EQ(two.programOf, many.programOf);
  std::size_t pairs = 0;
  for (const ConnectRound &round : many.connect)
    pairs += round.pairs.size() + 1;
  // A pair has eight bytes, a round five.
  EXPECT_LT(serializePlan(many).size(), serializePlan(two).size() + 13 * pairs);
}

TEST(Replicas, ThatShareTheModelCostAPlanNoTableEither) {
  const JobShape shape{.ranks = 8, .microbatches = 32, .replicas = 2, .sharded = true};
  JobShape larger = shape;
  larger.replicas = 1024;
  const Plan two = lowered(shape), many = lowered(larger);
  EXPECT_EQ(two.connect, many.connect);
  EXPECT_LT(serializePlan(many).size(), serializePlan(two).size() + 256);
}

TEST(Replicas, AGroupRunsOnceForEachCoordinateAlongTheOtherAxis) {
  const Mesh mesh{.pipeline = 4, .data = 3};
  EXPECT_EQ(representatives(mesh), 8u);
  EXPECT_EQ(representativeOf(mesh, 11), 7u);
  EXPECT_EQ(representativeOf(mesh, 3), 3u);
  EXPECT_EQ(representatives({.pipeline = 4}), 4u);
  const std::uint8_t pipeline = bitOf(Axis::Pipeline), data = bitOf(Axis::Data);
  EXPECT_EQ(memberCount(mesh, pipeline), 4u);
  EXPECT_EQ(memberCount(mesh, data), 3u);
  EXPECT_EQ(memberCount(mesh, pipeline | data), 12u);
  for (std::uint32_t rank = 0; rank < mesh.ranks(); ++rank)
    for (const std::uint8_t axes : {pipeline, data, static_cast<std::uint8_t>(pipeline | data)})
      EXPECT_EQ(memberRank(mesh, rank, axes, memberIndex(mesh, rank, axes)), rank);
  EXPECT_EQ(memberRank(mesh, 6, pipeline, 0), 4u);
  EXPECT_EQ(memberRank(mesh, 6, data, 0), 2u);
}

TEST(Replicas, TheMirrorOfARankIsInItsReplica) {
  const Mesh mesh{.pipeline = 4, .data = 3};
  const std::uint8_t mirror = bitOf(Axis::Mirror);
  EXPECT_EQ(memberCount(mesh, mirror), 2u);
  for (const auto &[rank, lower, upper] :
       {std::tuple(0u, 0u, 3u), std::tuple(3u, 0u, 3u), std::tuple(6u, 5u, 6u)}) {
    EXPECT_EQ(memberRank(mesh, rank, mirror, 0), lower);
    EXPECT_EQ(memberRank(mesh, rank, mirror, 1), upper);
    EXPECT_EQ(memberIndex(mesh, rank, mirror), rank == lower ? 0u : 1u);
  }
}

TEST(ConnectRounds, CoverThePairsOfCopies) {
  for (const std::uint32_t replicas : {1u, 3u}) {
    const Plan plan =
        lowered({.schedule = "chimera", .ranks = 6, .microbatches = 6, .replicas = replicas});
    EXPECT_EQ(whoConnects(plan), whoTalks(plan));
  }
}

} // namespace
} // namespace vime
