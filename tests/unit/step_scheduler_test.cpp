#include "methods/asynchronous/step_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace entrain {
namespace step_scheduler_test {

using Constraints = method::StepScheduler::Constraints;

Constraints imposed(Duration step, Duration offset = 0.0) {
  return {step, offset, 0.0, kNever};
}
Constraints variable(Duration min_step = 1e-6, Duration max_step = kNever) {
  return {std::nullopt, 0.0, min_step, max_step};
}

/// Subsystems with one input and one output each; `from` feeds `to`.
struct Wire {
  std::size_t from, to;
};
Graph graph_of(std::size_t size, const std::vector<Wire>& wires) {
  std::vector<Graph::Node> nodes;
  for (std::size_t s = 0; s < size; ++s) nodes.push_back({std::string(1, static_cast<char>('a' + s)), {}, {"y"}, {}});
  std::vector<std::size_t> inputs(size, 0);
  std::vector<Connection> connections;
  for (const auto& wire : wires) {
    nodes[wire.to].inputs.push_back("u" + std::to_string(++inputs[wire.to]));
    nodes[wire.to].feedthrough = Feedthrough(1, nodes[wire.to].inputs.size());
  }
  std::vector<std::size_t> first(size, 0);
  for (std::size_t s = 1; s < size; ++s) first[s] = first[s - 1] + inputs[s - 1];
  for (const auto& wire : wires) connections.push_back({OutputId{wire.from}, InputId{first[wire.to]++}});
  return {std::move(nodes), std::move(connections)};
}

/// Communication times of each subsystem when every subsystem always requests the same.
std::vector<std::vector<Time>> times_of(const Graph& graph, std::vector<Constraints> constraints, Time stop,
                                        const std::vector<method::StepScheduler::Request>& requests) {
  method::StepScheduler scheduler;
  std::vector<std::vector<Time>> times(graph.subsystems());
  scheduler.start(graph, std::move(constraints), 0.0, stop);
  std::vector<SubsystemId> due;
  for (std::size_t s = 0; s < graph.subsystems(); ++s) due.emplace_back(s);
  Time now = 0.0;
  while (now < kNever) {
    scheduler.plan(now, due, requests);
    const Time before = now;
    now = scheduler.next(due);
    if (!(now > before)) throw std::logic_error("a step of no length");
    for (const SubsystemId s : due) times[s].push_back(now);
  }
  return times;
}

method::StepScheduler::Request request(Duration proposal, Time event = kNever) {
  return {proposal, event};
}

TEST(StepScheduler, imposed_times_come_from_a_counter_and_do_not_drift) {
  const auto graph = graph_of(1, {});
  const auto times = times_of(graph, {imposed(0.1)}, 10000.0, {request(kNever)});
  ASSERT_EQ(times[0].size(), 100000U);
  EXPECT_EQ(times[0][12344], 12345 * 0.1);
  EXPECT_EQ(times[0].back(), 10000.0);
}

TEST(StepScheduler, imposed_times_may_have_an_offset) {
  const auto times = times_of(graph_of(1, {}), {imposed(0.4, 0.1)}, 1.3, {request(kNever)});
  ASSERT_EQ(times[0].size(), 4U);
  EXPECT_DOUBLE_EQ(times[0][0], 0.1);
  EXPECT_DOUBLE_EQ(times[0][1], 0.5);
  EXPECT_EQ(times[0].back(), 1.3);  // 0.1 + 3 * 0.4 up to rounding
}

TEST(StepScheduler, an_imposed_step_that_does_not_fit_before_the_stop_is_not_made) {
  const auto times = times_of(graph_of(2, {}), {imposed(0.3), variable()}, 1.0, {request(kNever), request(kNever)});
  EXPECT_EQ(times[0].size(), 3U);
  EXPECT_EQ(times[1], std::vector<Time>{1.0});
}

TEST(StepScheduler, imposed_steps_that_are_no_multiples_of_each_other_meet_where_they_can) {
  const auto times =
      times_of(graph_of(2, {{0, 1}, {1, 0}}), {imposed(0.03), imposed(0.05)}, 0.3, {request(kNever), request(kNever)});
  EXPECT_EQ(times[0].size(), 10U);
  EXPECT_EQ(times[1].size(), 6U);
  EXPECT_EQ(times[0][4], times[1][2]);  // 0.15, to the last bit
  EXPECT_EQ(times[0].back(), 0.3);
  EXPECT_EQ(times[1].back(), 0.3);
}

TEST(StepScheduler, a_free_subsystem_meets_its_sources_and_its_consumers) {
  // b reads a and is read by c.
  const auto times = times_of(graph_of(3, {{0, 1}, {1, 2}, {2, 0}}), {imposed(0.03), variable(), imposed(0.05)}, 0.15,
                              {request(kNever), request(1.0), request(kNever)});
  const std::vector<Time> expected{0.03, 0.05, 2 * 0.03, 3 * 0.03, 2 * 0.05, 4 * 0.03, 0.15};
  ASSERT_EQ(times[1].size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_DOUBLE_EQ(times[1][k], expected[k]);
}

TEST(StepScheduler, the_time_to_a_synchronization_point_is_divided_evenly) {
  // A proposal of 0.6 leaves 0.4 to the synchronization point at 1: two halves instead.
  const auto times =
      times_of(graph_of(2, {{0, 1}, {1, 0}}), {imposed(1.0), variable()}, 2.0, {request(kNever), request(0.6)});
  EXPECT_EQ(times[1], (std::vector<Time>{0.5, 1.0, 1.5, 2.0}));
}

TEST(StepScheduler, a_synchronization_point_nearer_than_the_minimal_step_is_missed) {
  const auto times =
      times_of(graph_of(3, {{0, 1}, {1, 0}, {2, 1}, {1, 2}}), {imposed(1.0), variable(0.3), imposed(1.0, 0.9)}, 2.0,
               {request(kNever), request(5.0), request(kNever)});
  // From 0.9 on, 1.0 is too near; so is 2.0 from 1.9 on, but nothing is longer than the run.
  EXPECT_DOUBLE_EQ(times[1][0], 0.9);
  EXPECT_GE(times[1][1] - times[1][0], 0.3 * (1 - 1e-9));
  EXPECT_EQ(times[1].back(), 2.0);
}

TEST(StepScheduler, connected_subsystems_that_choose_together_take_the_earliest_end) {
  // a - b - c are connected, d stands alone.
  const auto times = times_of(graph_of(4, {{0, 1}, {1, 2}, {2, 0}}), std::vector<Constraints>(4, variable()), 1.0,
                              {request(0.5), request(0.9), request(0.25), request(0.2)});
  EXPECT_EQ(times[0], times[2]);
  EXPECT_EQ(times[1], times[2]);
  EXPECT_EQ(times[2], (std::vector<Time>{0.25, 0.5, 0.75, 1.0}));
  EXPECT_EQ(times[3].size(), 5U);
}

TEST(StepScheduler, events_and_the_stop_are_met_exactly_without_short_remainders) {
  const auto graph = graph_of(1, {});
  const auto times = times_of(graph, {variable(0.1)}, 1.05, {request(0.3)});
  EXPECT_EQ(times[0].back(), 1.05);
  Time before = 0.0;
  for (const Time t : times[0]) {
    EXPECT_GE(t - before, 0.1);  // 1.05 - 3 * 0.3 is long enough, so the steps stay as proposed
    before = t;
  }
  const auto remainder = times_of(graph, {variable(0.1)}, 0.95, {request(0.3)});
  EXPECT_EQ(remainder[0].back(), 0.95);
  EXPECT_NEAR(remainder[0][2], 0.775, 1e-15);  // half of the 0.35 that are left: 0.3 would leave 0.05

  method::StepScheduler scheduler;
  scheduler.start(graph, {variable()}, 0.0, 1.0);
  std::vector<SubsystemId> due{SubsystemId{0}};
  scheduler.plan(0.0, due, std::vector{request(0.7, 0.123)});
  EXPECT_EQ(scheduler.next(due), 0.123);
}

TEST(StepScheduler, subsystem_that_only_reads_steps_with_its_sources_and_none_waits_for_it) {
  const auto graph = graph_of(3, {{0, 1}, {1, 0}, {0, 2}});
  const auto times =
      times_of(graph, {variable(), variable(), variable()}, 1.0, {request(0.25), request(0.5), request(0.01)});
  EXPECT_EQ(times[0], (std::vector<Time>{0.25, 0.5, 0.75, 1.0}));
  EXPECT_EQ(times[2], times[0]);
  method::StepScheduler scheduler;
  scheduler.start(graph, {variable(), variable(), variable()}, 0.0, 1.0);
  EXPECT_TRUE(scheduler.only_reads(SubsystemId{2}));
  EXPECT_FALSE(scheduler.only_reads(SubsystemId{0}));
}

/// Shortest and longest step, the way from 0 included.
std::pair<Duration, Duration> extremes(const std::vector<Time>& times) {
  std::pair<Duration, Duration> result{times[0], times[0]};
  for (std::size_t k = 1; k < times.size(); ++k) {
    result.first = std::min(result.first, times[k] - times[k - 1]);
    result.second = std::max(result.second, times[k] - times[k - 1]);
  }
  return result;
}

TEST(StepScheduler, steps_are_never_below_the_minimum_however_short_the_steps_of_others_and_the_rest_of_the_run) {
  // b requests 0.06 and a follows as far as it can; 2.0 is no multiple of anything.
  for (const double stop : {1.9, 1.95, 2.0, 2.03}) {
    const auto times =
        times_of(graph_of(2, {{0, 1}, {1, 0}}), {variable(0.08), variable(0.001)}, stop, {request(0.1), request(0.06)});
    EXPECT_GE(extremes(times[0]).first, 0.08 * (1 - 1e-9)) << stop;
    EXPECT_EQ(times[0].back(), stop);
    EXPECT_EQ(times[1].back(), stop);
  }
  // A subsystem that only reads has limits too.
  const auto readers =
      times_of(graph_of(2, {{0, 1}}), {variable(0.001), variable(0.08, 0.2)}, 2.0, {request(0.06), request(1.0)});
  EXPECT_GE(extremes(readers[1]).first, 0.08 * (1 - 1e-9));
  EXPECT_LE(extremes(readers[1]).second, 0.2 * (1 + 1e-9));
  EXPECT_EQ(readers[1].back(), 2.0);
}

TEST(StepScheduler, an_event_nearer_than_the_minimal_step_is_not_met) {
  method::StepScheduler scheduler;
  scheduler.start(graph_of(1, {}), {variable(0.1)}, 0.0, 1.0);
  std::vector<SubsystemId> due{SubsystemId{0}};
  scheduler.plan(0.0, due, std::vector{request(0.3, 0.05)});
  EXPECT_EQ(scheduler.next(due), 0.3);
  scheduler.plan(0.3, due, std::vector{request(0.9, 0.95)});  // 0.05 would be left behind it
  EXPECT_EQ(scheduler.next(due), 1.0);
}

TEST(StepScheduler, limits_that_do_not_fill_the_run_leave_the_rest_of_it_to_a_shorter_step_where_one_can_be_made) {
  // Neither two nor three such steps make 1.0.
  const auto filled = times_of(graph_of(1, {}), {variable(0.4, 0.45)}, 1.0, {request(0.43)});
  EXPECT_EQ(filled[0].size(), 3U);
  EXPECT_EQ(filled[0].back(), 1.0);
  const Constraints strict{std::nullopt, 0.0, 0.4, 0.45, 0.4};
  const auto times = times_of(graph_of(1, {}), {strict}, 1.0, {request(0.43)});
  EXPECT_EQ(times[0].size(), 2U);
  EXPECT_GE(extremes(times[0]).first, 0.4);
  EXPECT_LE(extremes(times[0]).second, 0.45);
}

TEST(StepScheduler, takes_a_plan_back) {
  const auto graph = graph_of(3, {{0, 1}, {1, 2}, {2, 0}});
  method::StepScheduler scheduler;
  scheduler.start(graph, {imposed(0.03), variable(), imposed(0.05)}, 0.0, 1.0);
  std::vector<SubsystemId> due{SubsystemId{0}, SubsystemId{1}, SubsystemId{2}};
  std::vector<method::StepScheduler::Request> requests{request(kNever), request(0.04), request(kNever)};
  scheduler.plan(0.0, due, requests);
  Time now = scheduler.next(due);  // 0.03: the first two
  auto before = scheduler.memory();
  const auto begun = due;
  scheduler.plan(now, due, requests);
  EXPECT_EQ(scheduler.next(due), 0.05);  // the last two
  scheduler.take_back(begun, due);
  auto after = scheduler.memory();  // but for the ends of steps that are planned anew
  EXPECT_EQ(after.count, before.count);
  std::sort(before.queue.begin(), before.queue.end());
  std::sort(after.queue.begin(), after.queue.end());
  EXPECT_EQ(after.queue, before.queue);
  requests[1].proposal = 0.005;
  due = begun;
  scheduler.plan(now, due, requests);
  EXPECT_DOUBLE_EQ(scheduler.next(due), 0.035);
}

TEST(StepScheduler, goes_on_from_what_it_remembered) {
  const auto graph = graph_of(3, {{0, 1}, {1, 2}, {2, 0}});
  const std::vector<Constraints> constraints{imposed(0.03), variable(), imposed(0.05)};
  const std::vector<method::StepScheduler::Request> requests{request(kNever), request(0.02), request(kNever)};
  method::StepScheduler first;
  first.start(graph, constraints, 0.0, 1.0);
  std::vector<SubsystemId> due{SubsystemId{0}, SubsystemId{1}, SubsystemId{2}};
  Time now = 0.0;
  for (int k = 0; k < 20; ++k) {
    first.plan(now, due, requests);
    now = first.next(due);
  }
  method::StepScheduler second;
  second.start(graph, constraints, 0.0, 1.0);
  second.restore(first.memory());
  auto due_again = due;
  Time again = now;
  for (int k = 0; k < 20; ++k) {
    first.plan(now, due, requests);
    second.plan(again, due_again, requests);
    now = first.next(due);
    again = second.next(due_again);
    EXPECT_EQ(again, now);
    EXPECT_EQ(due_again, due);
  }
}

}  // namespace step_scheduler_test
}  // namespace entrain
