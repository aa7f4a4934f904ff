// Over several processes an estimator is where its subsystem lives, and what it makes of a step comes to all
// (docs/adr/0126). The processes are threads here.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>

#include "coupling/engine.hpp"
#include "methods/hermite/coupling_equations.hpp"
#include "ranks/distributed_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/linear_networks.hpp"
#include "support/thread_ranks.hpp"
#include "trials/trials.hpp"

namespace entrain {
namespace estimates_at_home_test {

constexpr std::size_t kStates = 100;
constexpr std::size_t kPorts = 2;
constexpr Duration kStep = 0.1;

/// Stable, every state fed by its neighbour; with feedthrough, so that outputs must follow inputs.
Linearization large(double decay) {
  Linearization l{Matrix(kStates, kStates), Matrix(kStates, kPorts), Matrix(kPorts, kStates), Matrix(kPorts, kPorts)};
  for (std::size_t i = 0; i < kStates; ++i) {
    l.A(i, i) = -decay;
    if (i > 0) l.A(i, i - 1) = 0.5;
    l.B(i, i % kPorts) = 0.1;
    l.C(i % kPorts, i) = 0.1;
  }
  l.D(0, 0) = 0.2;
  return l;
}

/// Two of them in a ring; of the subsystems of one process, or of one of several.
class Ring {
 public:
  explicit Ring(ranks::RankLink* link) {
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    std::vector<Problem> problems;
    if (link != nullptr) shared_ = std::make_shared<ranks::DistributedSystem>(*link, std::vector{0, 1}, Logging{});
    for (std::size_t s = 0; s < 2; ++s) {
      const std::vector<double> start(kStates, s == 0 ? 1.0 : 0.0);
      const auto name = std::string(1, static_cast<char>('a' + s));
      std::unique_ptr<Subsystem> made = subsystem::make_native_subsystem(
          name, std::make_unique<test::AnyLinearModel>(large(1.0 + static_cast<double>(s)), start,
                                                       std::vector<std::string>{}));
      if (shared_ && !shared_->is_here(SubsystemId{s})) made.reset();
      if (shared_) made = ranks::share_subsystem(shared_, SubsystemId{s}, name, std::move(made), problems);
      subsystems.push_back(std::move(made));
    }
    for (const auto& subsystem : subsystems) static_cast<void>(subsystem->capabilities());
    Feedthrough feedthrough(kPorts, kPorts, false);
    feedthrough.set(0, 0, true);
    const std::vector<std::string> inputs{"u0", "u1"};
    const std::vector<std::string> outputs{"y0", "y1"};
    // What feeds a.u0 has no feedthrough: no loop.
    std::vector<Connection> connections{
        {OutputId{0}, InputId{2}}, {OutputId{1}, InputId{3}}, {OutputId{3}, InputId{0}}, {OutputId{2}, InputId{1}}};
    Graph graph({{"a", inputs, outputs, feedthrough}, {"b", inputs, outputs, feedthrough}}, connections);
    system_.emplace(
        std::make_unique<coupling::Engine>(coupling::Engine::Setup{.subsystems = std::move(subsystems),
                                                                   .graph = std::move(graph),
                                                                   .start_inputs = std::vector<double>(2 * kPorts, 0.0),
                                                                   .shared = shared_}));
    system_->engine().initialize(0.0, 1.0);
    trials_.emplace(*system_, std::vector(2, coupling::TrialKind::Costarica), trials::EstimatorOptions{});
    block_ = trials_->make_block();
    slopes_ = block_.slopes;
  }

  /// Under straight inputs: an estimate, then the step.
  void step() {
    trials_->begin(t_, kStep, slopes_);
    std::vector<double> values(system_->signals().begin(), system_->signals().end());
    trials_->follow_inputs(t_, values, slopes_);
    std::vector<StepTask> tasks;
    for (std::size_t s = 0; s < 2; ++s) {
      const SubsystemId id{s};
      const auto inputs = system_->graph().inputs_of(id);
      for (std::size_t i = 0; i < kPorts; ++i) {
        system_->coefficients(id, 1, 0)[i] = system_->incoming(InputId{inputs.first + i});
        system_->coefficients(id, 1, 1)[i] = 0.5;
      }
      tasks.push_back({id, t_, kStep, 1, 1, t_ + kStep});
    }
    trials_->run(tasks, block_);
    keep(values);
    keep(slopes_);
    keep(block_.signals);
    keep(block_.slopes);
    for (std::size_t y = 0; y < 2 * kPorts; ++y) seen_.push_back(trials_->size_of_terms(OutputId{y}));
    trials_->commit(tasks, block_);
    keep(block_.signals);
    t_ += kStep;
  }

  const std::vector<double>& seen() const { return seen_; }
  std::uint64_t bytes_sent() const { return shared_->bytes_sent(); }
  trials::Trials& trials() { return *trials_; }
  std::uint64_t linearizations(std::size_t s) const { return system_->counters(SubsystemId{s}).linearizations; }

 private:
  void keep(const std::vector<double>& numbers) { seen_.insert(seen_.end(), numbers.begin(), numbers.end()); }

  std::shared_ptr<ranks::DistributedSystem> shared_;
  std::optional<CoupledSystem> system_;
  std::optional<trials::Trials> trials_;
  trials::TrialBlock block_;
  std::vector<double> slopes_, seen_;
  Time t_ = 0.0;
};

constexpr int kSteps = 3;

std::vector<double> alone() {
  Ring ring(nullptr);
  for (int k = 0; k < kSteps; ++k) ring.step();
  return ring.seen();
}

void expect_nothing_thrown(const std::vector<std::exception_ptr>& thrown) {
  for (const auto& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
}

TEST(EstimatesAtHome, are_known_everywhere_to_the_last_bit) {
  const auto expected = alone();
  expect_nothing_thrown(test::ThreadRanks(2).run([&](ranks::RankLink& link) {
    Ring ring(&link);
    for (int k = 0; k < kSteps; ++k) ring.step();
    EXPECT_EQ(ring.seen(), expected) << "rank " << link.rank();
    for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(ring.linearizations(s), static_cast<std::uint64_t>(kSteps));
  }));
}

TEST(EstimatesAtHome, have_their_estimators_there_alone) {
  expect_nothing_thrown(test::ThreadRanks(2).run([&](ranks::RankLink& link) {
    Ring ring(&link);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(ring.trials().estimator(SubsystemId{s}) != nullptr, static_cast<int>(s) == link.rank());
    }
  }));
}

/// 100 states have 10 000 numbers in A alone, 80 000 bytes.
TEST(EstimatesAtHome, exchange_far_less_than_a_linearization) {
  constexpr std::uint64_t kLinearization = sizeof(double) * kStates * (kStates + 2 * kPorts);
  expect_nothing_thrown(test::ThreadRanks(2).run([&](ranks::RankLink& link) {
    Ring ring(&link);
    const auto before = ring.bytes_sent();
    ring.step();
    EXPECT_LT(ring.bytes_sent() - before, 600U);
    EXPECT_GT(kLinearization, 80'000U);
  }));
}

TEST(EstimatesAtHome, of_a_checkpoint_are_those_of_one_process) {
  Ring one(nullptr);
  one.step();
  const auto expected = base::to_bytes(one.trials().memory());
  one.step();
  const auto seen = one.seen();
  expect_nothing_thrown(test::ThreadRanks(2).run([&](ranks::RankLink& link) {
    Ring ring(&link);
    ring.step();
    const auto memory = ring.trials().memory();
    EXPECT_EQ(base::to_bytes(memory), expected) << "rank " << link.rank();
    ring.trials().restore(memory);
    ring.step();
    EXPECT_EQ(ring.seen(), seen) << "rank " << link.rank();
  }));
}

}  // namespace estimates_at_home_test
}  // namespace entrain
