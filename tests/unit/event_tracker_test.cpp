#include "methods/event_tracker.hpp"
#include "coupling/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace entrain {
namespace event_tracker_test {

/// Does nothing, and announces events at given times.
class Eventful final : public Subsystem, public Events {
 public:
  explicit Eventful(std::vector<Time> at) : at_(std::move(at)) { can_.announces_events = !at_.empty(); }

  std::string_view name() const noexcept override { return "eventful"; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override {
    Facets facets;
    facets.events = this;
    return facets;
  }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double>) override {}
  StepReport step(const Step& step, std::span<double>) override { return {step.from + step.size}; }
  Time next_event(Time t) override {
    const auto next = std::find_if(at_.begin(), at_.end(), [t](Time event) { return event > t; });
    return next == at_.end() ? kNever : *next;
  }
  void announce(Time t) {
    at_.push_back(t);
    std::sort(at_.begin(), at_.end());
  }

 private:
  std::vector<Time> at_;
  VariableTable table_;
  Capabilities can_;
};

class Announced : public testing::Test {
 protected:
  Announced() {
    auto first = std::make_unique<Eventful>(std::vector<Time>{1.0, 4.0});
    first_ = first.get();
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    subsystems.push_back(std::move(first));
    subsystems.push_back(std::make_unique<Eventful>(std::vector<Time>{2.0, 3.0}));
    subsystems.push_back(std::make_unique<Eventful>(std::vector<Time>{}));
    Graph graph({{"first", {}, {}, {}}, {"second", {}, {}, {}}, {"third", {}, {}, {}}}, {});
    system_ = std::make_unique<CoupledSystem>(
        std::make_unique<coupling::Engine>(coupling::Engine::Setup{std::move(subsystems), std::move(graph), {}}));
    system_->engine().initialize(0.0, 10.0);
    tracker_.start(*system_, 0.0);
  }

  static constexpr SubsystemId kFirst{0}, kSecond{1}, kThird{2};
  Eventful* first_ = nullptr;
  std::unique_ptr<CoupledSystem> system_;
  method::EventTracker tracker_;
};

TEST_F(Announced, event_is_passed_once_and_the_earliest_follows) {
  EXPECT_TRUE(tracker_.any());
  EXPECT_EQ(tracker_.earliest(), 1.0);
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 0.5), std::nullopt);
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 1.5), 1.0);
  EXPECT_EQ(tracker_.next(kFirst), 4.0);
  EXPECT_EQ(tracker_.earliest(), 2.0);
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 1.5), std::nullopt);
  EXPECT_EQ(tracker_.pass(*system_, kThird, 1.5), std::nullopt);
}

TEST_F(Announced, event_announced_within_a_step_is_seen_after_it) {
  first_->announce(0.75);
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 0.5), std::nullopt);
  EXPECT_EQ(tracker_.next(kFirst), 0.75);
  EXPECT_EQ(tracker_.earliest(), 0.75);
}

TEST_F(Announced, all_events_reached_together_are_passed) {
  tracker_.pass_all(*system_, 2.0);
  EXPECT_EQ(tracker_.next(kFirst), 4.0);
  EXPECT_EQ(tracker_.next(kSecond), 3.0);
  EXPECT_EQ(tracker_.earliest(), 3.0);
}

TEST_F(Announced, taken_back_subsystem_meets_its_event_again) {
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 1.0), 1.0);
  tracker_.put_back(kFirst, 1.0);
  EXPECT_EQ(tracker_.earliest(), 1.0);
  EXPECT_EQ(tracker_.pass(*system_, kFirst, 1.0), 1.0);
}

TEST_F(Announced, restored_tracker_knows_the_earliest) {
  const auto memory = tracker_.memory();
  tracker_.pass_all(*system_, 5.0);
  EXPECT_EQ(tracker_.earliest(), kNever);
  tracker_.restore(memory);
  EXPECT_EQ(tracker_.earliest(), 1.0);
}

}  // namespace event_tracker_test
}  // namespace entrain
