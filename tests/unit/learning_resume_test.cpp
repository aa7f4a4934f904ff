// Learning that was interrupted goes on to the bits of one that was not.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace learning_resume_test {

SystemDescription oscillator() {
  auto description = test::example("learning");
  description.stop = {0.3, {}};
  return description;
}

LearnOptions options_of(LearnInputs inputs, int iterations) {
  LearnOptions options;
  options.inputs = inputs;
  options.iterations = iterations;
  options.tolerance = 0.0;
  return options;
}

/// Interrupts the run behind this one, in its first macro step.
LearnResult interrupted_after(int runs, LearnOptions options) {
  std::atomic<bool> interrupt{false};
  options.interrupt = &interrupt;
  LearnProgress progress;
  progress.iterated = [&](const LearnIteration& iteration) { interrupt = iteration.number + 1 >= runs; };
  return learn(oscillator(), options, progress);
}

void expect_same(const LearnResult& one, const LearnResult& other) {
  EXPECT_EQ(one.end, other.end);
  EXPECT_EQ(one.best, other.best);
  EXPECT_EQ(one.learned.steps, other.learned.steps);
  EXPECT_EQ(one.learned.error, other.learned.error);
  EXPECT_EQ(one.learned.corrections, other.learned.corrections);
  EXPECT_EQ(one.full_runs, other.full_runs);
  ASSERT_EQ(one.iterations.size(), other.iterations.size());
  for (std::size_t i = 0; i < one.iterations.size(); ++i) {
    EXPECT_EQ(one.iterations[i].error, other.iterations[i].error) << i;
    EXPECT_EQ(one.iterations[i].gamma, other.iterations[i].gamma) << i;
  }
}

bool is_refused(const LearnOptions& options, FactCode code) {
  return test::has_fact(test::thrown_by([&] { learn(oscillator(), options); }), code);
}

struct Case {
  LearnInputs inputs;
  int memory;
  ProgressiveLearning progressive;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << to_word(of.inputs) << " memory " << of.memory << ' ' << to_word(of.progressive);
}

class ResumedLearning : public testing::TestWithParam<Case> {};

TEST_P(ResumedLearning, has_the_bits_of_one_that_was_not_interrupted) {
  const test::TemporaryFolder folder;
  auto options = options_of(GetParam().inputs, 6);
  options.memory = GetParam().memory;
  options.progressive = GetParam().progressive;
  options.horizon = 0.1;
  if (options.progressive == ProgressiveLearning::Always) options.tolerance = 1e-3;  // so that the horizon grows
  const auto whole = learn(oscillator(), options);
  options.state = folder / "learning.state";
  const auto part = interrupted_after(4, options);
  EXPECT_EQ(part.end, LearnEnd::Interrupted);
  EXPECT_LT(part.iterations.size(), whole.iterations.size());
  options.resumes = true;
  const auto resumed = learn(oscillator(), options);
  EXPECT_EQ(test::number_of(resumed.notes, FactCode::LearningResumed, "runs"), 4.0)
      << "the run that was interrupted is made again";
  expect_same(resumed, whole);
}

INSTANTIATE_TEST_SUITE_P(Laws, ResumedLearning,
                         testing::Values(Case{LearnInputs::Held, 0, ProgressiveLearning::Never},
                                         Case{LearnInputs::Held, 3, ProgressiveLearning::Never},
                                         Case{LearnInputs::Linear, 3, ProgressiveLearning::Never},
                                         Case{LearnInputs::Hermite, 0, ProgressiveLearning::Never},
                                         Case{LearnInputs::Linear, 0, ProgressiveLearning::Always}));

TEST(LearningState, of_learning_out_of_iterations_goes_on_with_more) {
  const test::TemporaryFolder folder;
  const auto whole = learn(oscillator(), options_of(LearnInputs::Linear, 5));
  auto options = options_of(LearnInputs::Linear, 3);
  options.state = folder / "learning.state";
  EXPECT_EQ(learn(oscillator(), options).end, LearnEnd::Iterations);
  options.resumes = true;
  EXPECT_TRUE(is_refused(options, FactCode::LearningEnded));
  options.iterations = 5;
  expect_same(learn(oscillator(), options), whole);
}

TEST(LearningState, of_learning_that_has_converged_is_refused) {
  const test::TemporaryFolder folder;
  auto options = options_of(LearnInputs::Linear, 5);
  options.tolerance = 0.1;
  options.state = folder / "learning.state";
  ASSERT_EQ(learn(oscillator(), options).end, LearnEnd::Converged);
  options.resumes = true;
  const auto facts = test::thrown_by([&] { learn(oscillator(), options); });
  EXPECT_EQ(test::word_of(facts, FactCode::LearningEnded, "end"), to_string(LearnEnd::Converged));
}

TEST(LearningState, of_another_learning_is_refused_with_what_differs) {
  const test::TemporaryFolder folder;
  auto options = options_of(LearnInputs::Linear, 3);
  options.state = folder / "learning.state";
  interrupted_after(2, options);
  options.resumes = true;
  auto other = options;
  other.gain = 0.5;
  const auto differs = [&](const LearnOptions& with, const SystemDescription& description) {
    return test::word_of(test::thrown_by([&] { learn(description, with); }), FactCode::LearningStateOther,
                         "difference");
  };
  EXPECT_EQ(differs(other, oscillator()), "gain was 1, now it is 0.5");
  auto heavier = oscillator();
  heavier.subsystems[0].start["c1"] = {20.0, {}};
  EXPECT_NE(differs(options, heavier).find("c1"), std::string::npos);
}

TEST(LearningState, that_is_cut_or_damaged_or_something_else_is_refused) {
  const test::TemporaryFolder folder;
  auto options = options_of(LearnInputs::Linear, 3);
  options.state = folder / "learning.state";
  interrupted_after(2, options);
  options.resumes = true;
  const auto size = std::filesystem::file_size(options.state);
  {
    std::fstream file(options.state, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put('x').put('y');
  }
  EXPECT_TRUE(is_refused(options, FactCode::LearningStateUnusable));
  std::filesystem::resize_file(options.state, 4);
  EXPECT_TRUE(is_refused(options, FactCode::LearningStateUnusable));
  std::filesystem::remove(options.state);
  EXPECT_TRUE(is_refused(options, FactCode::NoSuchFile));
}

}  // namespace learning_resume_test
}  // namespace entrain
