// What travels between a run and a worker: one call for each step, with everything that is read behind it.
#include <gtest/gtest.h>

#include "worker/isolated_subsystem.hpp"

namespace entrain {
namespace worker_calls_test {

class WorkerCalls : public testing::Test {
 protected:
  WorkerCalls() : process_(std::make_shared<worker::WorkerProcess>()) {
    worker::MakeRequest request;
    request.description.name = "mass";
    request.description.model = "chain.mass";
    request.stop = 1.0;
    std::vector<Problem> problems;
    subsystem_ = worker::make_isolated(process_, request, {}, problems);
    EXPECT_TRUE(problems.empty());
    static_cast<void>(subsystem_->capabilities());
    facets_ = subsystem_->facets();
    subsystem_->initialize(0.0, 1.0);
  }
  /// What a method with slopes and states asks for at the end of a step.
  void read_everything() {
    facets_.states->states(states_);
    facets_.states->derivatives(states_);
    facets_.output_derivatives->output_derivatives(outputs_);
  }
  void step() {
    EXPECT_EQ(subsystem_->step({time_, 0.125, {inputs_.data(), 0, 3}}, outputs_).outcome, StepOutcome::Completed);
    time_ += 0.125;
  }
  template <class Work>
  std::uint32_t calls_of(Work&& work) const {
    const std::uint32_t before = process_->calls();
    work();
    return process_->calls() - before;
  }

  std::shared_ptr<worker::WorkerProcess> process_;
  std::unique_ptr<Subsystem> subsystem_;
  Facets facets_;
  Time time_ = 0.0;
  std::array<double, 3> inputs_{}, outputs_{};
  std::array<double, 2> states_{};
};

TEST_F(WorkerCalls, of_a_step_with_states_and_slopes_are_one) {
  step();
  EXPECT_EQ(calls_of([&] { read_everything(); }), 3U);  // the first time; from then on they come with the step
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(calls_of([&] {
                step();
                read_everything();
              }),
              1U);
  }
}

TEST_F(WorkerCalls, of_a_trial_are_one_more_for_the_saved_state) {
  step();
  read_everything();
  StateId saved{};
  EXPECT_EQ(calls_of([&] { saved = facets_.rollback->save(); }), 1U);
  for (int i = 0; i < 3; ++i) {
    time_ = 0.125;
    EXPECT_EQ(calls_of([&] {
                facets_.rollback->restore(saved);
                step();
                read_everything();
              }),
              1U);
  }
  EXPECT_EQ(calls_of([&] { facets_.rollback->release(saved); }), 0U);  // with the next step
  EXPECT_EQ(calls_of([&] { step(); }), 1U);
}

}  // namespace worker_calls_test
}  // namespace entrain
