// The control channel of a run: pause, step, set, watch and stop from outside, and nothing of it in the results of a
// run that is only watched.
#include "entrain/control.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "control/control_socket.hpp"
#include "entrain/run.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace control_test {

SystemDescription prey(double stop = 1000.0) {
  return test::changed(test::example("lotka_volterra"), {.step = 0.001, .stop = stop});
}

/// A run in another thread that lasts until it is stopped, unless the test is broken.
class LongRun {
 public:
  explicit LongRun(const SystemDescription& description, std::optional<RealTimeOptions> pace = RealTimeOptions{}) {
    RunDirectoryOptions options;
    options.folder = folder_ / "out";
    options.run.real_time = pace;
    options.run.interrupt = &interrupt_;
    options.estimate = false;
    std::promise<void> begun;
    auto has_begun = begun.get_future();
    options.progress.begun = [&](const RunResult&) { begun.set_value(); };
    options.watchdog = false;
    run_ = std::async(std::launch::async, [description, options] { return run(description, options); });
    while (has_begun.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
      if (run_.wait_for(std::chrono::milliseconds(5)) == std::future_status::ready) run_.get();  // it threw
    }
  }
  ~LongRun() {
    interrupt_ = true;
    if (run_.valid()) run_.wait();
  }
  LongRun(const LongRun&) = delete;
  LongRun& operator=(const LongRun&) = delete;

  std::filesystem::path folder() const { return folder_ / "out"; }
  void interrupt() { interrupt_ = true; }
  RunResult result() { return run_.get(); }

 private:
  test::TemporaryFolder folder_;
  std::atomic<bool> interrupt_{false};
  std::future<RunResult> run_;
};

TEST(Control, pauses_steps_and_resumes) {
  LongRun run(prey());
  RunControl control(run.folder());
  const auto paused = control.pause();
  EXPECT_EQ(paused.state, "paused");
  EXPECT_EQ(paused.stop, 1000.0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(control.status().macro_steps, paused.macro_steps);
  const auto stepped = control.step(3);
  EXPECT_EQ(stepped.macro_steps, paused.macro_steps + 3);
  EXPECT_NEAR(stepped.time, paused.time + 0.003, 1e-12);
  EXPECT_EQ(stepped.state, "paused");
  EXPECT_EQ(control.resume().state, "running");
  EXPECT_TRUE(test::eventually([&] { return control.status().macro_steps > stepped.macro_steps + 3; }));
  control.stop();
  const auto result = run.result();
  EXPECT_EQ(result.summary.termination, Termination::Interrupted);
  EXPECT_TRUE(result.recorded_until);
  EXPECT_EQ(*result.recorded_until, result.summary.reached);
}

TEST(Control, pause_is_no_overrun_of_a_paced_run) {
  LongRun run(prey(), RealTimeOptions{.factor = 0.01, .overrun = OverrunRule::Stop});  // 0.1 s for a step
  RunControl control(run.folder());
  ASSERT_TRUE(test::eventually([&] { return control.status().macro_steps > 0; }));  // the pace has begun
  control.pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const auto before = control.resume();
  EXPECT_TRUE(test::eventually([&] { return control.status().macro_steps > before.macro_steps + 1; }));
  control.stop();
  const auto summary = run.result().summary;
  EXPECT_EQ(summary.termination, Termination::Interrupted) << summary.message;
  EXPECT_GE(summary.pacing->behind, 0.39);
}

TEST(Control, sets_values_that_are_recorded_as_changes) {
  LongRun run(prey());
  RunControl control(run.folder());
  control.pause();
  const auto at = control.set("prey.alpha", Value(0.25));
  control.resume();
  control.stop();
  const auto result = run.result();
  ASSERT_EQ(result.summary.changes.size(), 1U);
  EXPECT_EQ(result.summary.changes[0].name, "prey.alpha");
  EXPECT_EQ(std::get<double>(result.summary.changes[0].value), 0.25);
  EXPECT_EQ(result.summary.changes[0].time, at.time);
  const auto json = nlohmann::json::parse(test::text_of(run.folder() / "run.json"));
  EXPECT_EQ(json["changes"][0]["variable"], "prey.alpha");
}

TEST(Control, refuses_what_cannot_be_done_and_goes_on) {
  LongRun run(prey());
  RunControl control(run.folder());
  const auto refused = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.fact().code == FactCode::ControlRefused;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { control.set("prey.alpah", Value(1.0)); }));
  EXPECT_TRUE(refused([&] { control.set("prey.u", Value(1.0)); }));  // another subsystem feeds it
  EXPECT_TRUE(refused([&] { control.step(); }));                     // it is not paused
  EXPECT_TRUE(refused([&] { control.subscribe({"prey.q"}, 0.01, [](const auto&) { return false; }); }));
  const auto answer = [&](const char* line) { return nlohmann::json::parse(control.request(line)); };
  for (const char* line :
       {"what?", "[]", "{}", "{\"command\": 1}", "{\"command\": \"dance\"}", "{\"command\": \"step\", \"steps\": 0}",
        "{\"command\": \"step\", \"steps\": -1}", "{\"command\": \"set\"}",
        "{\"command\": \"set\", \"variable\": \"prey.alpha\"}",
        "{\"command\": \"set\", \"variable\": \"prey.alpha\", \"value\": [1]}",
        "{\"command\": \"subscribe\", \"signals\": 3}", "{\"command\": \"subscribe\", \"every\": -1}"}) {
    EXPECT_EQ(answer(line)["ok"], false) << line;
  }
  EXPECT_EQ(answer("{\"id\": \"mine\", \"command\": \"status\"}")["id"], "mine");
  EXPECT_EQ(control.status().state, "running");
}

TEST(Control, sends_samples_to_subscribers) {
  LongRun run(prey());
  RunControl control(run.folder());
  std::vector<ControlledSample> samples;
  EXPECT_TRUE(control.subscribe({"predator.P", "prey.p"}, 0.002, [&](const ControlledSample& sample) {
    samples.push_back(sample);
    return samples.size() < 5;
  }));
  ASSERT_EQ(samples.size(), 5U);
  for (std::size_t i = 1; i < samples.size(); ++i) EXPECT_GT(samples[i].time, samples[i - 1].time);
  ASSERT_EQ(samples[0].values.size(), 2U);
  EXPECT_TRUE(std::isfinite(samples[0].values[0]) && std::isfinite(samples[0].values[1]));
  std::thread later([&] { RunControl(run.folder()).stop(); });
  EXPECT_FALSE(control.subscribe({}, 0.01, [](const ControlledSample&) { return true; }));  // the run ends
  later.join();
}

TEST(Control, of_a_run_that_is_only_watched_leaves_the_bits_alone) {
  const auto bits = [](bool watched) {
    LongRun run(prey(3.0), RealTimeOptions{.factor = 3.0});
    std::size_t samples = 0;
    std::optional<RunControl> control;
    if (watched) {
      control.emplace(run.folder());
      control->pause();
      control->step(2);
      control->resume();
      control->subscribe({}, 0.001, [&](const auto&) { return ++samples > 0; });
      EXPECT_GT(samples, 3U);
    }
    const auto result = run.result();
    EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
    return test::text_of(run.folder() / "results.csv");
  };
  EXPECT_EQ(bits(true), bits(false));
}

TEST(Control, ends_with_the_run_also_while_it_is_paused) {
  LongRun run(prey());
  {
    RunControl control(run.folder());
    control.pause();
  }  // it stays paused without a connection
  EXPECT_EQ(RunControl(run.folder()).status().state, "paused");
  run.interrupt();  // Ctrl-C
  const auto result = run.result();
  EXPECT_EQ(result.summary.termination, Termination::Interrupted);
  EXPECT_TRUE(result.recorded_until);
  EXPECT_FALSE(std::filesystem::exists(run.folder() / kControlSocket));
  try {
    RunControl again(run.folder());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::ControlNotReached);
  }
}

TEST(Control, socket_is_for_the_user_alone_and_lies_in_folders_of_any_length) {
  const test::TemporaryFolder folder;
  const auto deep = folder / std::string(120, 'a') / std::string(120, 'b');
  std::filesystem::create_directories(deep);
  const int listening = control::listen_in(deep);
  ASSERT_GE(listening, 0);
  struct stat file {};
  ASSERT_EQ(::stat((deep / kControlSocket).c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777U, 0700U);
  const int connected = control::connect_to(deep);
  EXPECT_GE(connected, 0);
  ::close(connected);
  ::close(listening);
  const int again = control::listen_in(deep);  // what a killed run left is no obstacle
  EXPECT_GE(again, 0);
  ::close(again);
}

TEST(Control, of_a_folder_without_sockets_is_a_warning_and_the_run_goes_on) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "out" / kControlSocket / "in the way");
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(prey(0.1), options);
  EXPECT_EQ(result.summary.termination, Termination::Completed);
  EXPECT_TRUE(test::has_fact(result.summary.warnings, FactCode::ControlUnavailable));
}

TEST(Control, outlives_connections_that_break_the_protocol) {
  LongRun run(prey());
  for (int i = 0; i < 40; ++i) {
    const int descriptor = control::connect_to(run.folder());
    ASSERT_GE(descriptor, 0);
    const std::string noise(i % 2 == 0 ? 200'000 : 10, i % 3 == 0 ? '\n' : '{');
    [[maybe_unused]] const auto sent = ::send(descriptor, noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(descriptor);
  }
  EXPECT_EQ(RunControl(run.folder()).status().state, "running");
}

}  // namespace control_test
}  // namespace entrain
