// Rigid connections: recognised, and kept by a force that is found at every macro step (docs/theory/constraints.md).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "assembly/terminals.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "support/estimated_run.hpp"
#include "support/facts.hpp"
#include "support/linear_networks.hpp"
#include "support/matrix_of.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace constraint_test {

using test::matrix;

/// angle' = w, J w' = tau + load - c angle - d w; returns w.
struct Rotor {
  double inertia = 1.0;
  double stiffness = 0.0;
  double damping = 0.0;
  double angle = 0.0;
  double speed = 0.0;
};

class RotorModel final : public subsystem::LinearModel {
 public:
  /// `start`: of its torque.
  explicit RotorModel(const Rotor& rotor, std::optional<double> start = 0.0)
      : LinearModel(table(rotor, start)), rotor_(rotor) {}
  void configure(std::span<const Value>) override {
    const auto& [inertia, stiffness, damping, angle, speed] = rotor_;
    set_matrices({matrix(2, 2, {0, 1, -stiffness / inertia, -damping / inertia}),
                  matrix(2, 2, {0, 0, 1 / inertia, 1 / inertia}), matrix(1, 2, {0, 1}), matrix(1, 2, {0, 0})});
  }

 private:
  static VariableTable table(const Rotor& rotor, std::optional<double> start) {
    VariableTable result;
    result.inputs = {subsystem::real("tau", "N.m", "", 0.0), subsystem::real("load", "N.m", "", 0.0)};
    if (!start) result.inputs[0].start.reset();
    result.outputs = {subsystem::real("w", "rad/s", "")};
    result.states = {subsystem::real("angle", "rad", "", rotor.angle),
                     subsystem::real("speed", "rad/s", "", rotor.speed)};
    return result;
  }
  Rotor rotor_;
};

ModelFactory rotors(const Rotor& a, const Rotor& b) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return std::make_unique<RotorModel>(a);
    if (name == "b") return std::make_unique<RotorModel>(b);
    return nullptr;
  };
}

SystemDescription shaft(double step, double stop, const std::string& rest = {}) {
  auto description = test::system_from(fmt::format(R"([run]
stop = {}
step = {}
method = "jacobi"
[subsystems.a]
model = "a"
[subsystems.b]
model = "b"
{})",
                                                   stop, step, rest));
  return description;
}

SystemDescription rigid(double step, double stop) {
  return shaft(step, stop, "[constraints]\nshaft = [\"a.w\", \"b.w\", \"a.tau\", \"b.tau\"]\n");
}

struct End {
  double angle_a, angle_b, speed_a, speed_b;
  RunSummary summary;
};

End end_of(const SystemDescription& description, const ModelFactory& models) {
  Simulation simulation(description, {}, models);
  const RunSummary summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return {simulation.value("a.angle"), simulation.value("b.angle"), simulation.value("a.speed"),
          simulation.value("b.speed"), summary};
}

/// One inertia, one spring, one damper: the closed form of what both together are.
std::array<double, 2> merged(const Rotor& a, const Rotor& b, double t) {
  const double inertia = a.inertia + b.inertia;
  const double decay = (a.damping + b.damping) / (2 * inertia);
  const double frequency = std::sqrt((a.stiffness + b.stiffness) / inertia - decay * decay);
  const double sine = (a.speed + decay * a.angle) / frequency;
  const double fade = std::exp(-decay * t);
  const double c = std::cos(frequency * t);
  const double s = std::sin(frequency * t);
  return {fade * (a.angle * c + sine * s),
          fade * ((sine * frequency - decay * a.angle) * c - (a.angle * frequency + decay * sine) * s)};
}

/// One has the spring, the other the damper: the force between them is never zero.
const Rotor kSprung{1.0, 40.0, 0.0, 0.5, 0.0};
const Rotor kDamped{3.0, 0.0, 0.8, 0.5, 0.0};

/// Root mean square of the speed of one over the run, against the closed form.
TEST(Constraints, make_two_rotors_move_as_one_with_order_two) {
  double errors[2] = {};
  for (int i = 0; i < 2; ++i) {
    const double step = i == 0 ? 0.02 : 0.01;
    Simulation simulation(rigid(step, 4.0), {}, rotors(kSprung, kDamped));
    MemoryRecorder recorder({"a.w"});
    simulation.observe(recorder);
    const RunSummary summary = simulation.run();
    EXPECT_TRUE(test::has_fact(summary.notes, FactCode::ConstraintKept, "shaft"));
    const auto speeds = recorder.column("a.w");
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      const double miss = speeds[k] - merged(kSprung, kDamped, static_cast<double>(k) * step)[1];
      errors[i] += miss * miss / static_cast<double>(speeds.size());
    }
    errors[i] = std::sqrt(errors[i]);
    EXPECT_NEAR(simulation.value("a.speed"), simulation.value("b.speed"), 1e-3);
    EXPECT_NEAR(simulation.value("a.angle"), simulation.value("b.angle"), 1e-3);
  }
  EXPECT_LT(errors[1], 2e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.3);
}

/// The positions do not drift apart in a long run, though speeds alone are made equal.
TEST(Constraints, keep_the_integrals_of_both_sides_together) {
  const Rotor undamped{3.0, 0.0, 0.0, 0.5, 0.0};
  double drifts[2] = {};
  for (int i = 0; i < 2; ++i) {
    const auto end = end_of(rigid(0.01, i == 0 ? 5.0 : 50.0), rotors(kSprung, undamped));
    drifts[i] = test::number_of(end.summary.notes, FactCode::ConstraintKept, "drift", "shaft");
  }
  EXPECT_LT(drifts[1], 1.2 * drifts[0]) << "no growth with the length of the run";
  EXPECT_LT(drifts[1], 1e-3);
}

/// Speeds that differ at the start meet in the first step, and the angular momentum stays.
TEST(Constraints, begin_with_an_inelastic_impact) {
  const Rotor fast{1.0, 0.0, 0.0, 0.0, 4.0};
  const Rotor slow{3.0, 0.0, 0.0, 0.0, 0.0};
  const auto end = end_of(rigid(0.01, 1.0), rotors(fast, slow));
  EXPECT_NEAR(end.speed_a, 1.0, 1e-9);
  EXPECT_NEAR(end.speed_b, 1.0, 1e-9);
}

/// What acts on one accelerates both.
TEST(Constraints, pass_a_load_on) {
  auto description = rigid(0.01, 1.0);
  description.subsystems[0].start["load"] = {6.0, {}};
  const auto end = end_of(description, rotors({1.0}, {2.0}));
  EXPECT_NEAR(end.speed_a, 2.0, 1e-9);
  EXPECT_NEAR(end.speed_b, 2.0, 1e-9);
  EXPECT_NEAR(end.angle_b, 1.0, 1e-9);
  EXPECT_NEAR(test::number_of(end.summary.notes, FactCode::ConstraintKept, "force"), 4.0, 1e-9);
}

TEST(Constraints, go_on_from_a_checkpoint_with_the_same_bits) {
  Simulation simulation(rigid(0.01, 2.0), {}, rotors(kSprung, kDamped));
  simulation.run_until(0.7);
  const auto here = simulation.checkpoint();
  (void)simulation.run();
  const double once = simulation.value("b.speed");
  simulation.restore(*here);
  (void)simulation.run();
  EXPECT_EQ(simulation.value("b.speed"), once);
}

TEST(Constraints, that_cannot_be_kept_are_refused_before_the_run) {
  const auto models = rotors(kSprung, kDamped);
  const auto codes = [&](const SystemDescription& description) {
    std::map<FactCode, std::size_t> found;
    for (const auto& fact : test::problem_facts(description, models)) {
      if (kind_of(fact.code) == FactKind::Error) ++found[fact.code];
    }
    return found;
  };
  const std::map<FactCode, std::size_t> refused{{FactCode::ConstraintNotPossible, 1}};
  auto implicit = rigid(0.01, 1.0);
  implicit.method.value = "missiles";
  EXPECT_EQ(codes(implicit), refused);
  auto bare = rigid(0.01, 1.0);
  bare.subsystems[1].linearization = {false, {}};
  EXPECT_EQ(codes(bare), refused);
  auto fed = rigid(0.01, 1.0);
  fed.connections.push_back({"b.w", "a.tau", {}});
  fed.connections.back().convert_units = false;
  EXPECT_EQ(codes(fed), refused);
  EXPECT_EQ(codes(shaft(0.01, 1.0, "[constraints]\nshaft = [\"a.w\", \"a.w\", \"a.tau\", \"b.tau\"]\n")), refused);
  EXPECT_TRUE(codes(rigid(0.01, 1.0)).empty());
}

/// A force that acts on nothing.
TEST(Constraints, without_effect_end_the_run) {
  const auto heavy = rotors({HUGE_VAL, 0.0, 0.0, 0.0, 1.0}, {HUGE_VAL});
  Simulation simulation(rigid(0.01, 1.0), {}, heavy);
  const RunSummary summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::ConstraintSingular);
}

/// What it couples needs neither a connection nor a start value of the inputs, and has an error.
TEST(Constraints, are_a_coupling) {
  const auto description = rigid(0.01, 1.0);
  const auto models = rotors(kSprung, kDamped);
  const auto run = test::estimated_run(description, models);
  EXPECT_FALSE(test::has_fact(run.summary.warnings, FactCode::NothingConnected));
  EXPECT_FALSE(test::has_fact(run.estimate.reasons, FactCode::EstimateNoCoupling));
  EXPECT_GT(run.output("a.w").error, 0.0);
  const auto finer = test::estimated_run(rigid(1e-4, 1.0), models);
  const double truth = test::true_error(run, finer.recorder, "a.w").rms;
  EXPECT_LT(run.output("a.w").error, 3.0 * truth);
  EXPECT_GT(run.output("a.w").error, truth / 3.0);
}

TEST(Constraints, need_no_start_value_of_the_inputs_that_they_name) {
  const auto without_start = [](std::string_view) -> std::unique_ptr<Model> {
    return std::make_unique<RotorModel>(kSprung, std::nullopt);
  };
  EXPECT_FALSE(test::has_fact(test::problem_facts(rigid(0.01, 1.0), without_start), FactCode::InputNotConnected));
  EXPECT_TRUE(
      test::has_fact(test::problem_facts(shaft(0.01, 1.0), without_start), FactCode::InputNotConnected, "a.tau"));
}

/// Which of both pulls is not determined.
TEST(Constraints, that_stand_twice_are_refused) {
  const auto description = shaft(0.01, 1.0,
                                 "[constraints]\none = [\"a.w\", \"b.w\", \"a.tau\", \"b.tau\"]\n"
                                 "two = [\"b.w\", \"a.w\", \"a.load\", \"b.load\"]\n");
  for (const double speed : {0.0, 0.5}) {
    const auto models = rotors(kSprung, {3.0, 7.0, 0.8, 0.5, speed});
    Simulation simulation(description, {}, models);
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.termination, Termination::Failed);
    EXPECT_EQ(test::failure_of(summary).code, FactCode::ConstraintSingular);
    EXPECT_EQ(test::failure_of(summary).subjects, std::vector<std::string>{"two"});
  }
}

TEST(RigidConnections, are_recognised_by_units_of_outputs_and_inputs) {
  const auto found =
      test::problem_facts(shaft(0.01, 1.0, "[connections]\n\"a.w\" = \"b.w\"\n"), rotors(kSprung, kDamped));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, FactCode::RigidConnection);
  EXPECT_EQ(found[0].subjects, (std::vector<std::string>{"a.w", "b.w"}));
  EXPECT_EQ(found[0].text("efforts"), "'a.tau' and 'b.tau'");
  EXPECT_FALSE(found[0].remedy.empty());
}

/// Of bare FMUs without units, by what their terminals give and take.
TEST(RigidConnections, are_recognised_by_terminals) {
  VariableTable table;
  table.inputs = {subsystem::real("tau", "", "", 0.0)};
  table.outputs = {subsystem::real("w", "", "")};
  Terminal flange;
  flange.name = "flange";
  flange.rule = "plug";
  flange.members = {{"speed", "w"}, {"torque", "tau"}};
  table.terminals = {flange};
  auto other = table;
  ConnectionDescription written{"a.flange", "b.flange", {}};
  std::vector<Problem> problems;
  EXPECT_TRUE(assembly::terminal_connections(written, &table, &other, problems)->empty());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].fact.code, FactCode::RigidConnection);
  EXPECT_EQ(problems[0].fact.text("efforts"), "'a.tau' and 'b.tau'");
  std::swap(other.inputs, other.outputs);  // in the other causality
  problems.clear();
  EXPECT_EQ(assembly::terminal_connections(written, &table, &other, problems)->size(), 2U);
  EXPECT_TRUE(problems.empty());
}

TEST(Constraints, are_written_as_they_were_read) {
  const auto description = rigid(0.01, 1.0);
  const auto again = test::system_from(system_text(description));
  ASSERT_EQ(again.constraints.size(), 1U);
  EXPECT_EQ(again.constraints[0].name, "shaft");
  EXPECT_EQ(again.constraints[0].variables[3].value, "b.tau");
}

}  // namespace constraint_test
}  // namespace entrain
