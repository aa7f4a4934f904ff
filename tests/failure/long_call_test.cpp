#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/long_calls.hpp"
#include "entrain/fact_codes.hpp"
#include "support/scripted_fmus.hpp"
#include "worker/isolated_subsystem.hpp"

// Calls of FMUs that take long, by the real program: named while they last whatever makes them, ended by one Ctrl-C
// where they have a process of their own, and never blamed on an FMU whose calls are short.

namespace entrain {
namespace long_call_test {

constexpr const char* kReport = "has been in ";

class LongCall : public test::ScriptedFmus {
 protected:
  std::string shown() const { return test::text_of(folder_ / "stderr.txt"); }
  std::size_t reports() const {
    const std::string text = shown();
    std::size_t count = 0;
    for (auto at = text.find(kReport); at != std::string::npos; at = text.find(kReport, at + 1)) ++count;
    return count;
  }
  bool is_reported() const {
    return test::eventually([&] { return reports() > 0; });
  }
  /// The note of run.json.
  nlohmann::json longest_call() const {
    const auto notes = summary()["notes"];
    for (const auto& note : notes) {
      if (note["code"] == "call-takes-long") return note;
    }
    return {};
  }
};

struct Verb {
  const char* name;
  std::vector<std::string> arguments;
};
std::ostream& operator<<(std::ostream& out, const Verb& verb) {
  return out << verb.name;
}

class LongCallOf : public LongCall, public testing::WithParamInterface<Verb> {};

TEST_P(LongCallOf, verb_is_named_and_ended_by_one_interruption) {
  write_system(write(test::scripted_description("")), Hang);
  test::Program program(folder_, GetParam().arguments);
  ASSERT_TRUE(is_reported()) << shown();
  for (const char* part : {"'part' has been in fmi2DoStep for", "t = 0.5 s", "Ctrl-C ends the run"}) {
    test::expect_text(shown(), part);
  }
  program.send(SIGINT);
  EXPECT_GE(program.wait().exit_code, 0) << "by itself";
}
INSTANTIATE_TEST_SUITE_P(Every, LongCallOf,
                         testing::Values(Verb{"verify", {"verify", "s.toml", "--isolate"}},
                                         Verb{"advise", {"advise", "s.toml", "--isolate"}}),
                         [](const auto& test) { return test.param.name; });

TEST_F(LongCall, of_a_case_of_a_sweep_is_named_with_the_case) {
  write_system(write(test::scripted_description("")), Hang, "isolate = true");
  test::Program program(folder_, {"sweep", "s.toml", "--vary", "part.offset=1", "--out", "out"});
  ASSERT_TRUE(is_reported()) << shown();
  for (const char* part : {"'part' has been in fmi2DoStep for", "in case 0", "Ctrl-C"})
    test::expect_text(shown(), part);
  program.send(SIGINT);
  EXPECT_GT(program.wait().exit_code, 0);
}

/// The run itself has ended by then.
TEST_F(LongCall, of_a_companion_is_named) {
  write_system(write(test::scripted_description("")), HangInLongSteps, "isolate = true");
  test::write_text(folder_ / "s.toml",
                   test::text_of(folder_ / "s.toml") + "[connections]\n\"part.y\" = \"second.u\"\n");
  test::Program program(folder_, {"run", "s.toml", "--out", "out", "--method", "jacobi"});
  ASSERT_TRUE(is_reported()) << shown();
  test::expect_text(shown(), "'part' has been in fmi2DoStep for");
  EXPECT_EQ(summary()["termination"], "completed");
  program.send(SIGINT);
  program.wait();
  EXPECT_EQ(summary()["termination"], "completed");
}

/// With --quiet, too.
class LongCallIn : public LongCall, public testing::WithParamInterface<const char*> {};

TEST_P(LongCallIn, process_is_named_and_a_note_of_the_summary) {
  const bool own = std::string(GetParam()) == "own";
  write_system(write(test::scripted_description("")), Hang, own ? "isolate = true" : "isolate = false");
  test::Program program(folder_, {"run", "s.toml", "--out", "out", "--quiet"});
  ASSERT_TRUE(is_reported()) << shown();
  const char* end = own ? "Ctrl-C ends the run" : "Ctrl-C twice ends it";
  for (const char* part : {"'part' has been in fmi2DoStep for", "t = 0.5 s", end}) test::expect_text(shown(), part);
  program.send(SIGINT);
  if (!own) {
    ASSERT_TRUE(test::eventually([&] { return shown().find("a second signal") != std::string::npos; }));
    program.send(SIGINT);
  }
  EXPECT_EQ(program.wait().exit_code, 1);
  EXPECT_EQ(summary()["termination"], "interrupted");
  const auto note = longest_call();
  ASSERT_FALSE(note.is_null()) << summary()["notes"];
  EXPECT_EQ(note["subjects"][0], "part");
  EXPECT_EQ(note["values"]["function"], "fmi2DoStep");
  EXPECT_EQ(note["values"]["process"], GetParam());
  EXPECT_GE(note["values"]["seconds"], 10.0);
}
INSTANTIATE_TEST_SUITE_P(Either, LongCallIn, testing::Values("own", "run"),
                         [](const auto& test) { return std::string(test.param); });

/// One exchange with a worker takes longer than ten seconds, and than the timeout; none of its calls does.
TEST_F(LongCall, is_no_sum_of_short_ones) {
  const auto fmu = write(test::scripted_description("", "slow"));
  test::write_text(folder_ / "s.toml", fmt::format(R"([run]
stop = 0.2
step = 0.1
method = "jacobi"
[subsystems.part]
fmu = "{}"
isolate = true
probe = false
timeout = 8.5
)",
                                                   fmu.filename().string()));
  const auto result = run_here({"run", "s.toml", "--out", "out", "--no-estimate", "--require", "any"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find(kReport), std::string::npos) << result.err;
  EXPECT_TRUE(longest_call().is_null());
}

/// Of one process, from two threads: one is queued behind a call that does not return, and is in none.
TEST_F(LongCall, names_no_neighbour_that_waits_for_the_same_process) {
  std::atomic<bool> interrupted = false;
  std::mutex mutex;
  std::vector<std::string> reported;
  const base::LongCalls calls([&](const Fact& call) {
    const std::lock_guard lock(mutex);
    reported.push_back(call.subjects.front());
    interrupted = true;
  });
  Logging log;
  log.interrupted = [&] { return interrupted.load(); };
  const auto process = std::make_shared<worker::WorkerProcess>();
  const auto made = [&](const char* name, const char* guid) {
    worker::MakeRequest request;
    request.description.name = name;
    request.description.fmu = write(test::scripted_description("", guid)).string();
    request.description.probe = Written<bool>{false, {}};
    std::vector<Problem> problems;
    auto subsystem = worker::make_isolated(process, request, log, problems);
    subsystem->initialize(0.0, 1.0);
    return subsystem;
  };
  const auto blamed = [](auto&& work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      return error.fact().code == FactCode::CallInterrupted ? error.fact().subjects.front() : error.what();
    }
    return "none";
  };
  const auto second = made("second", "scripted");
  const std::vector<double> inputs(second->variables().inputs.size());
  std::vector<double> outputs(second->variables().outputs.size());
  std::string by_part;
  std::thread first([&] { by_part = blamed([&] { made("part", "hang"); }); });
  std::string by_second = "none";  // as long as the call that does not return has not begun
  EXPECT_TRUE(test::eventually([&] {
    by_second = blamed([&] { second->evaluate(inputs, outputs); });
    return by_second != "none";
  }));
  EXPECT_EQ(by_second, "part");
  first.join();
  EXPECT_EQ(by_part, "part");
  EXPECT_EQ(reported, std::vector<std::string>{"part"});
}

}  // namespace long_call_test
}  // namespace entrain
