// Threads that are not asked for: used when they pay, and only then. The subsystems sleep in their steps, so that two
// of them take no longer than one even where a single processor is free.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/thread_pool.hpp"
#include "coupling/engine.hpp"
#include "run/thread_choice.hpp"
#include "session/session.hpp"
#include "support/example_fmus.hpp"
#include "support/facts.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace {

using std::chrono::microseconds;

constexpr microseconds kLong(5000);  // beside what a busy machine adds to a step

/// A chain of subsystems whose steps take so long.
SystemDescription sleepers(std::size_t count, double stop) {
  std::string text = fmt::format("[run]\nstop = {}\nstep = 1e-3\nmethod = \"jacobi\"\n", stop);
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("[subsystems.s{}]\nmodel = \"sleeper\"\n", i);
  text += "[connections]\n";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("\"s{}.y\" = \"s{}.u\"\n", i, (i + 1) % count);
  return test::system_from(text);
}

Extensions taking(microseconds time) {
  return Extensions(ModelFactory([time](std::string_view) -> std::unique_ptr<Model> {
    return std::make_unique<test::StaticModel>([](Time t, double u) { return 0.5 * u + t; },
                                               [time](Time) {
                                                 if (time.count() > 0) std::this_thread::sleep_for(time);
                                               });
  }));
}

struct ChoiceCase {
  int threads = 1;
  std::vector<std::vector<double>> values;
  RunSummary summary;
};

ChoiceCase run_with(int most, std::size_t count, double stop, microseconds time) {
  session::Session session(sleepers(count, stop), {}, taking(time));
  ChoiceCase run;
  running::ThreadChoice choice(most, [&](int threads, double without, double with) {
    EXPECT_LT(with, without);
    EXPECT_EQ(threads, session.system().engine().executor().threads());
  });
  session.watch(choice);
  run.summary = session.run();
  run.threads = session.system().engine().executor().threads();
  const auto outputs = session.system().outputs();
  run.values.emplace_back(outputs.begin(), outputs.end());
  return run;
}

TEST(ThreadChoice, uses_as_many_as_there_are_subsystems_where_steps_take_long) {
  const auto run = run_with(4, 2, 0.05, kLong);
  EXPECT_EQ(run.summary.termination, Termination::Completed);
  EXPECT_EQ(run.threads, 2);
}

TEST(ThreadChoice, uses_one_where_steps_are_light) {
  EXPECT_EQ(run_with(4, 2, 200.0, microseconds(0)).threads, 1);  // long enough to be measured
}

TEST(ThreadChoice, uses_one_where_there_may_be_one) {
  EXPECT_EQ(run_with(1, 2, 0.1, microseconds(400)).threads, 1);
}

TEST(ThreadChoice, uses_one_where_the_run_ends_before_it_is_known) {
  EXPECT_EQ(run_with(4, 2, 0.01, microseconds(400)).threads, 1);
}

TEST(ThreadChoice, results_are_the_same_bits) {
  EXPECT_EQ(run_with(1, 3, 0.3, microseconds(300)).values, run_with(3, 3, 0.3, microseconds(300)).values);
}

/// One after the other: what one thread makes of a batch is no faster with two.
TEST(ThreadChoice, uses_one_where_subsystems_wait_for_each_other) {
  auto description = sleepers(2, 0.3);
  description.method.value = "gauss-seidel";
  session::Session session(description, {.threads = 0}, taking(microseconds(400)));
  const auto& summary = session.run();
  EXPECT_EQ(summary.termination, Termination::Completed);
  EXPECT_EQ(session.system().engine().executor().threads(), 1);
  EXPECT_FALSE(test::has_fact(summary.notes, FactCode::ThreadsChosen));
}

TEST(ThreadChoice, is_reported_with_its_times) {
  session::Session session(sleepers(2, 0.05), {.threads = 0}, taking(kLong));
  const auto& summary = session.run();
  const bool has_processors = std::thread::hardware_concurrency() > 1;
  ASSERT_EQ(test::has_fact(summary.notes, FactCode::ThreadsChosen), has_processors);
  if (!has_processors) return;
  EXPECT_EQ(test::number_of(summary.notes, FactCode::ThreadsChosen, "threads"), 2.0);
  EXPECT_GT(test::number_of(summary.notes, FactCode::ThreadsChosen, "without"),
            test::number_of(summary.notes, FactCode::ThreadsChosen, "with"));
}

TEST(ThreadChoice, leaves_two_fmus_of_one_file_to_the_user) {
  const auto pair = [](const std::string& second) {
    return test::system_from(
        fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.a]\nfmu = "
                    "\"{0}\"\n[subsystems.b]\nfmu = \"{1}\"\n",
                    test::fmu_folder() + "/2/chain_mass.fmu", test::fmu_folder() + second));
  };
  const auto allowed = [](const SystemDescription& description) {
    const session::Session session(description, {}, {});
    std::vector<std::filesystem::path> files;
    for (const auto& subsystem : description.subsystems) files.emplace_back(subsystem.fmu);
    return running::threads_allowed(const_cast<session::Session&>(session).system(), files);
  };
  EXPECT_EQ(allowed(pair("/2/chain_mass.fmu")), 1);
  EXPECT_EQ(allowed(pair("/2/oscillator_motion_side.fmu")), 2);
}

TEST(ThreadPool, has_other_threads_from_one_batch_to_the_next) {
  base::ThreadPool pool(1);
  constexpr std::size_t kTasks = 100;
  for (const int threads : {3, 1, 2, 2, 4, 1, 3}) {
    pool.set_threads(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<std::atomic<int>> made(kTasks);
      pool.for_each(kTasks, [&](std::size_t i) { ++made[i]; });
      for (const auto& times : made) EXPECT_EQ(times.load(), 1);
    }
  }
}

}  // namespace
}  // namespace entrain
