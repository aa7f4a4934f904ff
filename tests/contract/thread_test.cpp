#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <vector>

#include "base/thread_pool.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace thread_test {

TEST(Threads, executor_runs_every_task_exactly_once) {
  base::ThreadPool executor(4);
  for (const std::size_t count : {0U, 1U, 2U, 3U, 1000U}) {
    std::vector<int> done(count, 0);
    for (int round = 0; round < 50; ++round) executor.for_each(count, [&](std::size_t i) { ++done[i]; });
    for (const int times : done) EXPECT_EQ(times, 50);
  }
}

// Each subsystem waits inside its step for the other: with one thread, or with batches run one by one, this hangs (and
// the time limit of the test ends it).
TEST(Threads, two_subsystems_really_run_at_the_same_time) {
  std::barrier barrier(2);
  std::atomic<int> arrivals{0};
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name != "meets") return nullptr;
    return std::make_unique<test::StaticModel>([](Time, double u) { return u; },
                                               [&](Time) {
                                                 barrier.arrive_and_wait();
                                                 ++arrivals;
                                               });
  };
  auto description = test::system_from(R"(
    [run]
    stop = 1.0
    step = 0.1
    [subsystems.a]
    model = "meets"
    step = 0.1
    [subsystems.b]
    model = "meets"
    step = 0.1
  )");
  for (const char* method : {"jacobi", "f3ornits"}) {
    arrivals = 0;
    description.method.value = method;
    Simulation simulation(description, {.threads = 2, .interrupt = nullptr}, models);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_EQ(arrivals, 20) << method;
  }
}

TEST(Threads, the_first_failing_subsystem_in_file_order_is_named) {
  const ModelFactory models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name != "fails") return nullptr;
    return std::make_unique<test::StaticModel>([](Time, double u) { return u; },
                                               [](Time) { throw std::runtime_error("broken"); });
  };
  std::string toml = "[run]\nstop = 1.0\nstep = 0.1\n";
  for (const char* name : {"first", "second", "third", "fourth"}) {
    toml += std::string("[subsystems.") + name + "]\nmodel = \"fails\"\n";
  }
  for (int repetition = 0; repetition < 20; ++repetition) {
    Simulation simulation(test::system_from(toml), {.threads = 4, .interrupt = nullptr}, models);
    EXPECT_EQ(simulation.run().termination, Termination::Failed);
    EXPECT_EQ(test::place_of_failure(simulation.summary()).subsystem, "first");
  }
}

}  // namespace thread_test
}  // namespace entrain
