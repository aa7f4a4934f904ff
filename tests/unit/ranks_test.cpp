#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "base/facts/error_record.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "ranks/placement.hpp"
#include "support/thread_ranks.hpp"

namespace entrain {
namespace ranks_test {

std::vector<double> loads(const std::vector<int>& placement, const std::vector<double>& seconds, int ranks) {
  std::vector<double> loads(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t s = 0; s < placement.size(); ++s) loads[static_cast<std::size_t>(placement[s])] += seconds[s];
  return loads;
}

TEST(Placement, heaviest_subsystems_go_to_different_ranks) {
  ranks::PlacementTask task;
  task.seconds = {1.0, 8.0, 1.0, 7.0, 2.0, 1.0};
  task.ranks = 2;
  const auto found = loads(ranks::placed(task), task.seconds, 2);
  EXPECT_DOUBLE_EQ(found[0], 10.0);  // 20 in all: the best there is
  EXPECT_DOUBLE_EQ(found[1], 10.0);
}

TEST(Placement, no_rank_exceeds_the_bound_of_graham) {
  for (int seed = 1; seed <= 50; ++seed) {
    ranks::PlacementTask task;
    task.ranks = 2 + seed % 5;
    std::uint32_t state = static_cast<std::uint32_t>(seed);
    for (int s = 0; s < 30; ++s) {
      state = state * 1664525U + 1013904223U;
      task.seconds.push_back(1e-3 + static_cast<double>(state >> 16U) * 1e-6);
      task.connections.emplace_back(static_cast<std::size_t>(s), static_cast<std::size_t>((s * 7 + seed) % 30));
    }
    const auto found = loads(ranks::placed(task), task.seconds, task.ranks);
    const double sum = std::accumulate(task.seconds.begin(), task.seconds.end(), 0.0);
    const double least = std::max(sum / task.ranks, *std::max_element(task.seconds.begin(), task.seconds.end()));
    const double factor = 4.0 / 3.0 - 1.0 / (3.0 * task.ranks) + 0.05;
    EXPECT_LE(*std::max_element(found.begin(), found.end()), factor * least) << "seed " << seed;
  }
}

TEST(Placement, connected_subsystems_share_a_rank_where_it_costs_nothing) {
  ranks::PlacementTask task;
  task.seconds = {1.0, 1.0, 1.0, 1.0};
  task.connections = {{0, 2}, {1, 3}};
  task.ranks = 2;
  const auto placement = ranks::placed(task);
  EXPECT_EQ(placement[0], placement[2]);
  EXPECT_EQ(placement[1], placement[3]);
  EXPECT_NE(placement[0], placement[1]);
}

TEST(Placement, given_ranks_are_kept_and_count) {
  ranks::PlacementTask task;
  task.seconds = {5.0, 1.0, 1.0};
  task.given = {1, std::nullopt, std::nullopt};
  task.ranks = 2;
  EXPECT_EQ(ranks::placed(task), (std::vector<int>{1, 0, 0}));
}

TEST(Placement, ranks_beyond_the_subsystems_are_idle) {
  ranks::PlacementTask task;
  task.seconds = {std::nan(""), std::nan("")};
  task.connections = {{0, 1}};
  task.ranks = 4;
  EXPECT_EQ(ranks::idle_ranks(ranks::placed(task), 4).size(), 2U);
}

ranks::Peer peer(const std::string& node, const std::string& processor, std::vector<int> processors) {
  return {"1.0", node, node, 1, processor, std::move(processors)};
}

TEST(Processors, of_different_kinds_are_named) {
  const std::vector<ranks::Peer> peers{peer("a", "Xeon", {0, 1}), peer("a", "Xeon", {0, 1}), peer("b", "EPYC", {0})};
  const auto facts = ranks::about_processors(peers);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].code, FactCode::RanksCpusDiffer);
  EXPECT_EQ(facts[0].subjects, (std::vector<std::string>{"EPYC", "Xeon"}));
}

TEST(Processors, shared_by_more_ranks_than_there_are_name_the_node) {
  // Two ranks may use the same two processors; three, bound to one each, have two.
  std::vector<ranks::Peer> peers{peer("a", "Xeon", {0, 1}), peer("a", "Xeon", {0, 1}), peer("b", "Xeon", {4}),
                                 peer("b", "Xeon", {4}), peer("b", "Xeon", {5})};
  const auto facts = ranks::about_processors(peers);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].code, FactCode::RanksShareProcessors);
  EXPECT_EQ(facts[0].subjects, std::vector<std::string>{"b"});
  peers.pop_back();
  peers.pop_back();
  EXPECT_TRUE(ranks::about_processors(peers).empty());
}

/// The variables of a launcher, for one test.
class Launcher : public testing::Test {
 protected:
  Launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"}) ::unsetenv(name);
  }
  ~Launcher() override {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"}) ::unsetenv(name);
  }
};

TEST_F(Launcher, of_open_mpi_is_known_by_its_variable) {
  EXPECT_FALSE(ranks::launched());
  EXPECT_EQ(ranks::launched_size(), 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  EXPECT_TRUE(ranks::launched());
  EXPECT_EQ(ranks::launched_size(), 3);
}

TEST_F(Launcher, of_slurm_with_pmix_is_known_by_its_variables) {
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);  // also of a program that srun starts without MPI
  EXPECT_FALSE(ranks::launched());
  EXPECT_EQ(ranks::launched_size(), 1);
  ::setenv("PMIX_RANK", "0", 1);
  EXPECT_TRUE(ranks::launched());
  EXPECT_EQ(ranks::launched_size(), 4);
}

base::Bytes text(const std::string& words) {
  return base::to_bytes(words);
}

/// Through memory of the node, and through MPI alone, as between nodes.
class Exchange : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Transports, Exchange, testing::Bool(),
                         [](const auto& which) { return which.param ? "memory" : "mpi"; });

TEST_P(Exchange, every_rank_gets_the_bytes_of_all) {
  for (const std::size_t size : {1U, 300U, 100'000U}) {  // with room, with more than there is at first, far more
    const auto thrown = test::ThreadRanks(3, GetParam()).run([&](ranks::RankLink& link) {
      for (int round = 0; round < 3; ++round) {
        const std::string own(size + static_cast<std::size_t>(link.rank() * round),
                              static_cast<char>('a' + link.rank()));
        const auto all = link.gather(text(own));
        for (std::size_t r = 0; r < 3; ++r) {
          std::string there;
          base::from_bytes(all[r], there);
          EXPECT_EQ(there, std::string(size + r * static_cast<std::size_t>(round), static_cast<char>('a' + r)));
        }
      }
    });
    for (const auto& each : thrown) EXPECT_EQ(each, nullptr);
  }
}

FactCode code_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error.fact().code;
  }
  return FactCode::Custom;
}

std::string words_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_P(Exchange, rank_with_another_decision_is_named_everywhere) {
  const auto thrown = test::ThreadRanks(3, GetParam()).run([](ranks::RankLink& link) {
    link.exchange(ranks::Purpose::Section, 5, {});
    link.exchange(ranks::Purpose::Section, link.rank() == 1 ? 7 : 6, {});
    ADD_FAILURE() << "rank " << link.rank() << " went on";
  });
  for (const auto& each : thrown) {
    EXPECT_EQ(code_of(each), FactCode::RanksParted);
    EXPECT_NE(words_of(each).find("rank 1"), std::string::npos) << words_of(each);
  }
}

TEST_P(Exchange, error_of_one_rank_ends_the_others_with_its_words) {
  const auto thrown = test::ThreadRanks(3, GetParam()).run([](ranks::RankLink& link) {
    link.exchange(ranks::Purpose::Section, 5, {});
    if (link.rank() == 2) return link.leave(Error(ErrorCode::FileFailed, std::string("no such table")));
    link.exchange(ranks::Purpose::Call, 6, text(std::string(1000, 'x')));
    ADD_FAILURE() << "rank " << link.rank() << " went on";
  });
  EXPECT_EQ(thrown[2], nullptr);
  for (const std::size_t r : {0U, 1U}) {
    EXPECT_EQ(code_of(thrown[r]), FactCode::RankFailed);
    EXPECT_NE(words_of(thrown[r]).find("rank 2"), std::string::npos) << words_of(thrown[r]);
    EXPECT_NE(words_of(thrown[r]).find("no such table"), std::string::npos) << words_of(thrown[r]);
  }
}

TEST_P(Exchange, what_the_first_rank_cannot_make_is_an_error_of_all) {
  const auto thrown = test::ThreadRanks(2, GetParam()).run([](ranks::RankLink& link) {
    link.from_first([]() -> base::Bytes { throw Error(ErrorCode::InvalidSystem, std::string("no method serves")); });
    ADD_FAILURE() << "rank " << link.rank() << " went on";
  });
  for (const auto& each : thrown) EXPECT_NE(words_of(each).find("no method serves"), std::string::npos);
}

TEST_P(Exchange, wish_of_one_rank_to_end_is_known_to_all_after_the_same_exchange) {
  const std::atomic<bool> asked{true};
  const auto thrown = test::ThreadRanks(3, GetParam())
                          .run(
                              [](ranks::RankLink& link) {
                                EXPECT_TRUE(link.interrupt().load());  // they have met
                                EXPECT_EQ(link.is_interrupted_here(), link.rank() == 1);
                              },
                              {nullptr, &asked});
  for (const auto& each : thrown) EXPECT_EQ(each, nullptr);
}

TEST_P(Exchange, rank_that_does_not_come_is_given_up_after_the_limit) {
  std::atomic<bool> given_up{false};
  const auto thrown = test::ThreadRanks(2, GetParam()).run([&](ranks::RankLink& link) {
    link.set_limit(0.05);
    if (link.rank() == 0) {
      try {
        link.exchange(ranks::Purpose::Section, 5, {});
      } catch (const Error&) {
        given_up = true;
        throw;
      }
    }
    while (!given_up) std::this_thread::yield();
    throw Error(ErrorCode::SubsystemFailed, std::string("too late"));
  });
  EXPECT_EQ(code_of(thrown[0]), FactCode::RankSilent);
}

TEST_P(Exchange, goes_through_the_memory_of_the_node_where_it_may) {
  const auto thrown =
      test::ThreadRanks(2, GetParam()).run([](ranks::RankLink& link) { EXPECT_EQ(link.shares_memory(), GetParam()); });
  for (const auto& each : thrown) EXPECT_EQ(each, nullptr);
}

// What was sent before may still be under way in MPI.
TEST(SharedMemory, rank_that_waits_for_it_lets_mpi_go_on) {
  test::ThreadRanks all(2);
  all.run([&](ranks::RankLink& link) {
    const auto most = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (link.rank() == 1 && all.progressed() == 0 && std::chrono::steady_clock::now() < most)
      std::this_thread::yield();
    link.exchange(ranks::Purpose::Section, 5, {});
  });
  EXPECT_GT(all.progressed(), 0);
}

TEST(Node, is_a_boot_of_a_machine_whatever_its_name) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  ASSERT_FALSE(boot.empty());
  EXPECT_NE(ranks::this_node().find(boot), std::string::npos) << ranks::this_node();
  EXPECT_EQ(ranks::this_node(), ranks::this_node());
}

/// Two ranks, the other of which answers as this one does, but for what is changed in it.
class Echo final : public ranks::Communicator {
 public:
  using Change = std::function<void(std::span<std::byte>)>;
  explicit Echo(const Change& change) : change_(change) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void gather(const std::byte* own, const int* counts, const int* places, std::byte* all) override {
    for (const std::size_t r : {0U, 1U}) std::copy_n(own, counts[0], all + places[r]);
    if (change_) change_({all + places[1], static_cast<std::size_t>(counts[1])});
  }
  bool poll() override { return true; }
  void progress() override {}
  void send(int, std::span<const std::byte>) override {}
  std::optional<Message> receive() override { return std::nullopt; }
  void end() override {}

 private:
  const Change& change_;
};

TEST(OtherRank, of_another_version_is_named) {
  const std::string version(entrain::version());
  const Echo::Change other = [&](std::span<std::byte> block) {
    const auto* first = reinterpret_cast<const std::byte*>(version.data());
    const auto place = std::search(block.begin(), block.end(), first, first + version.size());
    if (place != block.end()) *place = std::byte{'9'};
  };
  try {
    const ranks::RankLink link(std::make_unique<Echo>(other), nullptr);
    FAIL() << "they have met";
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::RanksDiffer);
    EXPECT_NE(std::string(error.what()).find("Entrain 9" + version.substr(1)), std::string::npos) << error.what();
  }
}

TEST(OtherRank, with_more_bytes_than_mpi_counts_is_named) {
  constexpr std::size_t kPlaceOfSize = 24;  // in the head
  Echo::Change change;
  ranks::RankLink link(std::make_unique<Echo>(change), nullptr, false);
  change = [](std::span<std::byte> block) {
    const std::uint64_t size = std::uint64_t{3} << 30U;
    std::memcpy(block.data() + kPlaceOfSize, &size, sizeof size);
  };
  try {
    link.exchange(ranks::Purpose::Data, 5, {});
    FAIL() << "it was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::RankFailed);
    EXPECT_NE(std::string(error.what()).find("3 GiB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
  }
}

}  // namespace ranks_test
}  // namespace entrain
