// The vehicle of examples/drivetrain: seven parts with different abilities against the same equations in one
// integrator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "entrain/judged_run.hpp"
#include "entrain/recording.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace drivetrain_test {

constexpr Time kStop = 30.0;  // the first hill of the cycle: starting, driving, braking, standing

/// A signal over the time, by the microsecond: methods with steps of their own meet the others at whole steps.
using Curve = std::map<long, double>;

std::map<std::string, Curve> curves(SystemDescription description, const std::string& method,
                                    const std::vector<std::string>& signals) {
  Simulation simulation(test::changed(std::move(description), {.method = method, .stop = kStop}));
  MemoryRecorder recorder(signals);
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  if (summary.termination != Termination::Completed) throw std::runtime_error(summary.message);
  std::map<std::string, Curve> result;
  for (const auto& signal : signals) {
    const auto& values = recorder.column(signal);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isfinite(values[k])) result[signal][std::lround(recorder.times[k] * 1e6)] = values[k];
    }
  }
  return result;
}

const std::string kShaft = "gearbox.torque";

/// Root mean square of the difference at common times, as a part of the range of `exact`.
double error(const Curve& ours, const Curve& exact) {
  double sum = 0.0;
  double lowest = exact.begin()->second;
  double highest = lowest;
  std::size_t count = 0;
  for (const auto& [time, value] : exact) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    const auto same = ours.find(time);
    if (same == ours.end()) continue;
    sum += (same->second - value) * (same->second - value);
    ++count;
  }
  EXPECT_GT(count, exact.size() / 2);
  return std::sqrt(sum / static_cast<double>(count)) / (highest - lowest);
}

class Drivetrain : public testing::Test {
 protected:
  static const Curve& exact(const std::string& signal) {
    static const auto result = curves(load(test::examples_folder() + "/drivetrain/reference.toml"), "monolithic",
                                      {kShaft, "battery.soc", "motor.I", "cooling.I"});
    return result.at(signal);
  }
  static double error_in_the_shaft(const SystemDescription& description, const std::string& method) {
    return error(curves(description, method, {kShaft}).at(kShaft), exact(kShaft));
  }
};

TEST_F(Drivetrain, swings_with_held_inputs_and_not_with_f3ornits) {
  const auto delivered = load(test::examples_folder() + "/drivetrain/delivered.toml");
  const double held = error_in_the_shaft(delivered, "jacobi");
  EXPECT_GT(held, 0.03) << "visible";
  EXPECT_LT(error_in_the_shaft(delivered, "f3ornits"), held / 20.0);
}

TEST_F(Drivetrain, is_trusted_as_it_is_shipped_and_rightly_so) {
  const auto shipped = test::example("drivetrain");
  MemoryRecorder recorder;
  JudgedRunOptions options;
  options.observers = {recorder};
  const auto run = run_judged(shipped, options);
  EXPECT_EQ(run.verdict.grade, Grade::Trusted) << render(run.verdict.reasons, "; ");

  auto all_equations = load(test::examples_folder() + "/drivetrain/reference.toml");
  all_equations.step = shipped.step;
  Simulation reference(all_equations);
  MemoryRecorder exact;
  reference.observe(exact);
  ASSERT_EQ(reference.run().termination, Termination::Completed);
  ASSERT_EQ(exact.times.size(), recorder.times.size());
  const auto tolerances = tolerances_of(shipped);
  for (const auto& output : run.estimate.outputs) {
    const auto& truth = exact.column(output.name);
    const auto& ours = recorder.column(output.name);
    const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
    double sum = 0.0;
    for (std::size_t k = 0; k < truth.size(); ++k) sum += (ours[k] - truth[k]) * (ours[k] - truth[k]);
    const double error = std::sqrt(sum / static_cast<double>(truth.size())) / (*most - *least);
    EXPECT_LE(error, tolerances.of(output.name)) << output.name;
  }
}

TEST_F(Drivetrain, missiles_is_exact_to_a_hundred_thousandth_with_full_capabilities) {
  const auto native = load(test::examples_folder() + "/drivetrain/reference.toml");
  EXPECT_LT(error_in_the_shaft(native, "missiles"), 1e-5);
}

TEST_F(Drivetrain, the_charge_that_the_battery_loses_is_what_was_drawn) {
  double drawn = 0.0;  // A s, by Simpson's rule over pairs of steps of 10 ms
  for (long k = 0; k + 20'000 <= std::lround(kStop * 1e6); k += 20'000) {
    const auto current = [&](long at) { return exact("motor.I").at(at) + exact("cooling.I").at(at); };
    drawn += 0.02 / 6.0 * (current(k) + 4.0 * current(k + 10'000) + current(k + 20'000));
  }
  constexpr double kCapacity = 216e3;  // A s, the default of the model
  const Curve& charge = exact("battery.soc");
  const double lost = kCapacity * (charge.begin()->second - charge.rbegin()->second);
  EXPECT_NEAR(drawn / lost, 1.0, 1e-4);  // where the torque turns, within 5 ms, the rule sees too little
}

}  // namespace drivetrain_test
}  // namespace entrain
