// Counts every allocation of this program, those of C libraries too; the hot path must make none.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "models/chain_system.hpp"
#include "support/facts.hpp"
#include "support/linear_networks.hpp"
#include "support/matrix_of.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_models.hpp"

namespace {
std::atomic<long> allocations{0};
thread_local long allocations_here = 0;

void count_one() {
  ++allocations;
  ++allocations_here;
}
}  // namespace

// glibc's own entry points behind the replaced ones.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(std::size_t size) {
  count_one();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  count_one();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  count_one();
  return __libc_realloc(memory, size);
}
}

namespace entrain {
namespace {

/// Allocations between the first and the last macro step of a call of run_until. What follows the last one, a summary
/// with the names of connections and the statistics of a pace, is not the hot path.
class AllocationsBetweenSteps : public Observer {
 public:
  /// `here`: those of the thread of the run alone.
  explicit AllocationsBetweenSteps(bool here) : here_(here) {}
  void communicated(const Sample& /*sample*/, const RunSummary& /*summary*/) override {
    last_ = here_ ? allocations_here : allocations.load();
    if (steps_++ == 0) first_ = last_;
  }
  void forget() { steps_ = 0; }
  long steps() const { return steps_; }
  long count() const { return last_ - first_; }

 private:
  bool here_;
  long steps_ = 0;
  long first_ = 0;
  long last_ = 0;
};

/// `here`: on the thread of the run; the one that writes results may grow its buffers when it comes to it.
void expect_no_allocation_per_step(Simulation& simulation, bool here = false) {
  AllocationsBetweenSteps between(here);
  simulation.observe(between);
  simulation.run_until(0.2);  // the degree has grown, caches are warm
  between.forget();
  simulation.run_until(5.0);
  ASSERT_EQ(simulation.summary().termination, Termination::Running) << simulation.summary().message;
  EXPECT_GT(between.steps(), 50);
  EXPECT_EQ(between.count(), 0);
}

class NoAllocation : public testing::TestWithParam<test::Change> {};

TEST_P(NoAllocation, after_the_first_macro_steps) {
  Simulation simulation(test::changed(models::chain_system(5), GetParam()));
  expect_no_allocation_per_step(simulation);
}

TEST_P(NoAllocation, with_several_threads) {
  Simulation simulation(test::changed(models::chain_system(5), GetParam()), {.threads = 3, .interrupt = nullptr});
  expect_no_allocation_per_step(simulation);
}

TEST_P(NoAllocation, with_imposed_steps) {
  auto description = test::changed(models::chain_system(5), GetParam());
  description.subsystems[1].step = {0.02, {}};
  description.subsystems[2].step = {0.005, {}};
  description.subsystems[3].input_degree = {0, {}};
  Simulation simulation(description);
  expect_no_allocation_per_step(simulation);
}

TEST_P(NoAllocation, while_results_are_written) {
  const test::TemporaryFolder folder;
  Simulation simulation(test::changed(models::chain_system(5), GetParam()));
  Recorder recorder(folder / "results.csv");
  simulation.observe(recorder);
  expect_no_allocation_per_step(simulation, true);
}

TEST_P(NoAllocation, at_the_pace_of_the_wall_clock_while_results_are_written) {
  const test::TemporaryFolder folder;
  RunOptions options;
  options.real_time = RealTimeOptions{.factor = 100.0};
  Simulation simulation(test::changed(models::chain_system(5), GetParam()), options);
  Recorder recorder(folder / "results.csv");
  recorder.never_wait();
  simulation.observe(recorder);
  expect_no_allocation_per_step(simulation, true);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, NoAllocation,
    testing::Values(test::Change{.method = "jacobi", .step = 0.01},
                    test::Change{.method = "jacobi", .step = 0.01, .options = {"degree=2"}},
                    test::Change{.method = "gauss-seidel", .step = 0.01, .options = {"degree=1"}},
                    test::Change{.method = "nepce", .step = 0.01},
                    // One size of steps: a model may allocate for a new one.
                    test::Change{.method = "f3ornits", .step = 0.01, .options = {"min_step=0.01", "max_step=0.01"}}));

class NoAllocationInTrials : public testing::TestWithParam<std::tuple<TrialChoice, const char*>> {};

TEST_P(NoAllocationInTrials, of_a_chain_whose_linearization_stays) {
  const auto [trials, solver] = GetParam();
  auto description =
      test::changed(models::chain_system(5),
                    {.method = "ifosmondi", .step = 0.01, .options = {std::string("solver=\"") + solver + "\""}});
  for (auto& subsystem : description.subsystems) subsystem.trials = {trials, {}};
  Simulation simulation(description);
  expect_no_allocation_per_step(simulation);
}

INSTANTIATE_TEST_SUITE_P(Ifosmondi, NoAllocationInTrials,
                         testing::Combine(testing::Values(TrialChoice::Rollback, TrialChoice::Costarica),
                                          testing::Values("anderson", "newton-krylov", "fixed-point")),
                         [](const auto& tested) {
                           std::string name =
                               std::string(to_word(std::get<0>(tested.param))) + "_" + std::get<1>(tested.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Models without states: those with states allocate for a step of a new size.
TEST(NoAllocationAsynchronous, with_imposed_and_free_steps) {
  const ModelFactory models = [](std::string_view) {
    return std::make_unique<test::StaticModel>([](Time t, double u) { return std::sin(t) + 0.1 * u; });
  };
  const auto description = test::changed(test::system_from(R"(
    [run]
    stop = 10.0
    [subsystems.a]
    model = "wave"
    step = 0.03
    [subsystems.b]
    model = "wave"
    step = 0.05
    input_degree = 0
    [subsystems.c]
    model = "wave"
    [subsystems.reader]
    model = "wave"
    [connections]
    "a.y" = ["b.u", "reader.u"]
    "b.y" = "c.u"
    "c.y" = "a.u"
  )"),
                                         {.method = "f3ornits", .step = 0.01, .options = {"smooth=true"}});
  Simulation simulation(description, {}, models);
  expect_no_allocation_per_step(simulation);
}

TEST(NoAllocationInMissiles, of_a_chain_whose_linearization_stays) {
  Simulation simulation(test::changed(models::chain_system(5), {.method = "missiles", .step = 0.01}));
  expect_no_allocation_per_step(simulation);
}

/// The force between two masses that are one.
TEST(NoAllocationOfCorrections, for_a_rigid_connection) {
  Simulation simulation(test::changed(test::system_from(R"(
    [run]
    stop = 10.0
    [subsystems.a]
    model = "mechanical.left"
    [subsystems.b]
    model = "mechanical.left"
    start = { m1 = 7.0, c1 = 3.0 }
    [constraints]
    one = ["a.v", "b.v", "a.F", "b.F"]
  )"),
                                      {.method = "jacobi", .step = 0.01}));
  expect_no_allocation_per_step(simulation);
}

/// A mass against a spring that integrates its velocity, as it does: measured, looked at again and corrected.
TEST(NoAllocationOfCorrections, for_the_drift_of_an_integral) {
  using test::matrix;
  test::LinearSystem system;
  system.parts = {
      {{matrix(2, 2, {0, 1, 0, 0}), matrix(2, 1, {0, 0.5}), matrix(1, 2, {0, 1}), matrix(1, 1, {0})}, {0.0, 1.0}, {}},
      {{matrix(1, 1, {0}), matrix(1, 1, {1}), matrix(1, 1, {-50}), matrix(1, 1, {-8})}, {0.0}, {}}};
  system.parts[0].sources = {{1, 0}};
  system.parts[1].sources = {{0, 0}};
  auto description = system.description("jacobi", 0.01, 10.0);
  description.correct_drift = {true, {}};
  Simulation simulation(description, {}, system.models());
  expect_no_allocation_per_step(simulation);
  Simulation whole(description, {}, system.models());
  EXPECT_TRUE(test::has_fact(whole.run().notes, FactCode::IntegralDrift));
}

TEST(Allocation, the_counter_counts) {
  const long before = allocations;
  std::free(std::calloc(3, 8));
  const auto number = std::make_unique<double>(1.0);
  EXPECT_GE(allocations - before, 2);
  EXPECT_EQ(*number, 1.0);
}

}  // namespace
}  // namespace entrain
