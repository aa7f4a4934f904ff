// The contract between analysis and masters: the step matrix is what the engine does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/linearize.hpp"
#include "analysis/measures.hpp"
#include "coupling/engine.hpp"
#include "description/system_file.hpp"
#include "session/prepare.hpp"
#include "support/explicit_stepper.hpp"
#include "support/facts.hpp"
#include "support/linear_networks.hpp"

namespace entrain {
namespace step_matrix_test {

/// A system under way with an explicit method.
class EngineRun {
 public:
  EngineRun(const test::LinearSystem& system, const SystemDescription& description) {
    std::vector<Problem> problems;
    prepared_ = session::prepare(description, 1, system.models(), problems);
    if (!prepared_.system) throw Error(problems);
    prepared_.system->engine().initialize(0.0, prepared_.settings.stop);
    method().start(*prepared_.system, prepared_.settings);
  }
  Method& method() { return *prepared_.method; }
  CoupledSystem& system() { return *prepared_.system; }
  void advance(std::uint64_t steps) {
    for (std::uint64_t k = 0; k < steps; ++k) (void)method().advance(system());
  }

  /// z as the program has it: states, outputs, and the samples that the method itself keeps.
  std::vector<double> vector(int degree, bool plain_hold) {
    std::vector<double> z(system().states());
    system().read_states(z);
    z.insert(z.end(), system().outputs().begin(), system().outputs().end());
    if (plain_hold) {
      z.insert(z.end(), system().inputs().begin(), system().inputs().end());
      return z;
    }
    for (const auto& history : test::stepper_of(method()).histories()) {
      z.insert(z.end(), history.value.begin(), history.value.begin() + degree + 1);
    }
    return z;
  }

 private:
  session::Prepared prepared_;
};

/// A random way to couple a system: the method with its options, and the same as a choice.
struct Coupling {
  std::string method;
  std::vector<std::string> options;
  CouplingChoice choice;
};

Coupling random_coupling(std::mt19937& random, const test::LinearSystem& system, double step) {
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const std::size_t count = system.parts.size();
  const int degree = whole(0, 3);
  Coupling coupling{"jacobi", {"degree=" + std::to_string(degree)}, method::parallel_choice(count, degree, step)};
  const int kind = whole(0, 3);
  if (kind == 0) return coupling;
  std::vector<std::size_t> sequence(count);
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  std::shuffle(sequence.begin(), sequence.end(), random);
  coupling.choice = method::sequential_choice(sequence, degree, step);
  if (kind == 3) {  // some of them at once
    auto& stages = coupling.choice.stages;
    for (std::size_t k = 1; k < stages.size();) {
      if (whole(0, 1) == 0) {
        ++k;
        continue;
      }
      stages[k - 1].push_back(stages[k].front());
      stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  std::string names;
  for (const auto& stage : coupling.choice.stages) {
    std::string entry;
    for (const std::size_t s : stage) entry += (entry.empty() ? "s" : " + s") + std::to_string(s);
    names += (names.empty() ? "\"" : ", \"") + entry + "\"";
  }
  coupling.method = kind == 2 ? "nepce" : "gauss-seidel";
  coupling.options.push_back("sequence=[" + names + "]");
  if (kind != 2) return coupling;
  std::string gains;
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t i = 0; i < system.parts[s].sources.size(); ++i) {
      const double gain = 0.1 * whole(-3, 6);
      coupling.choice.gains.push_back(gain);
      gains += (gains.empty() ? "\"s" : ", \"s") + std::to_string(s) + ".u" + std::to_string(i) +
               "\" = " + std::to_string(gain);
    }
  }
  coupling.options.push_back("gains={" + gains + "}");
  return coupling;
}

double norm(const std::vector<double>& vector) {
  return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

struct Situation {
  test::LinearSystem system;
  Coupling coupling;
  double step = 0.0;
};

/// `cycles` of a real run against the matrix to that power, both from the run's own vector after `before` cycles (0 =
/// from the start). Relative to the vector it began with: a stable run decays.
void expect_matrix_equals_engine(const Situation& at, std::uint64_t before, int cycles) {
  constexpr double kFarStop = 3e4;  // a multiple of every step of the test
  auto description = at.system.description(at.coupling.method, at.step, kFarStop);
  for (const auto& option : at.coupling.options) apply_option(description, option);
  if (at.coupling.choice.constant_start) apply_option(description, "start=\"constant\"");
  EngineRun run(at.system, description);
  const auto linear = analysis::linearized(run.system());
  ASSERT_TRUE(linear.network) << linear.obstacles.front();
  const auto steps = analysis::subsystem_steps(*linear.network, at.step, at.coupling.choice.degree);
  const analysis::StepProgram program(*linear.network, steps, at.coupling.choice);
  const bool plain_hold = at.coupling.choice.degree == 0 && at.coupling.method != "nepce";
  run.advance(before * program.cycle());
  auto z = run.vector(at.coupling.choice.degree, plain_hold);
  const double size = norm(z);
  const Matrix phi = analysis::step_matrix(program);
  for (int k = 0; k < cycles; ++k) {
    run.advance(program.cycle());
    std::vector<double> next(z.size(), 0.0);
    for (std::size_t i = 0; i < z.size(); ++i) {
      for (std::size_t j = 0; j < z.size(); ++j) next[i] += phi(i, j) * z[j];
    }
    z = next;
    ASSERT_LE(distance(z, run.vector(at.coupling.choice.degree, plain_hold)), 1e-10 * size)
        << at.coupling.method << ", degree " << at.coupling.choice.degree << ", cycle " << k;
  }
}

double random_step(std::mt19937& random) {
  constexpr double kSteps[] = {0.0625, 0.125, 0.25, 0.5};
  return kSteps[std::uniform_int_distribution<std::size_t>(0, 3)(random)];
}

TEST(StepMatrix, equals_the_engine_on_random_networks) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    Situation at{test::random_linear_system(random), {}, random_step(random)};
    at.coupling = random_coupling(random, at.system, at.step);
    // From the macro step on in which the histories are full; nepce has something to filter from the second on.
    const int before = std::max(at.coupling.choice.degree, at.coupling.method == "nepce" ? 1 : 0);
    expect_matrix_equals_engine(at, static_cast<std::uint64_t>(before), 8);
  }
}

TEST(StepMatrix, equals_the_engine_from_the_start_when_the_history_is_constant) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    Situation at{test::random_linear_system(random), {}, random_step(random)};
    at.coupling = random_coupling(random, at.system, at.step);
    if (at.coupling.choice.degree == 0 && at.coupling.method != "nepce") continue;  // nothing is remembered
    at.coupling.choice.constant_start = true;
    expect_matrix_equals_engine(at, 0, 8);
  }
}

TEST(StepMatrix, equals_the_engine_with_imposed_steps_and_limited_inputs) {
  std::mt19937 random(3);
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    Situation at{test::random_linear_system(random), {}, random_step(random)};
    for (auto& part : at.system.parts) {
      part.input_degree = whole(0, 3);
      part.substeps = whole(1, 3);
      const int rhythm = whole(0, 5);
      if (rhythm < 2) part.imposed_step = at.step * (2 + rhythm);  // 2 or 3 macro steps
      if (rhythm == 2) part.imposed_step = at.step / 2;
      if (part.imposed_step > 0.0) part.substeps = 1;
    }
    at.coupling = random_coupling(random, at.system, at.step);
    expect_matrix_equals_engine(at, static_cast<std::uint64_t>(at.coupling.choice.degree) + 2, 5);
  }
}

TEST(StepMatrix, first_steps_of_a_run_are_programs_of_their_own) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const auto system = test::random_linear_system(random);
    const auto coupling = random_coupling(random, system, 0.25);
    auto description = system.description(coupling.method, 0.25, 1e4);
    for (const auto& option : coupling.options) apply_option(description, option);
    EngineRun run(system, description);
    const auto linear = analysis::linearized(run.system());
    ASSERT_TRUE(linear.network);
    const auto steps = analysis::subsystem_steps(*linear.network, 0.25, coupling.choice.degree);
    auto z = run.vector(coupling.choice.degree, coupling.choice.degree == 0 && coupling.method != "nepce");
    std::vector<double> scratch;
    for (std::uint64_t k = 0; k < 5; ++k) {
      analysis::StepProgram(*linear.network, steps, coupling.choice, k).apply(z, 1, scratch);
      run.advance(1);
      const auto outputs = run.system().outputs();
      const auto first = static_cast<std::ptrdiff_t>(run.system().states());
      for (std::size_t y = 0; y < outputs.size(); ++y) {
        ASSERT_NEAR(*(z.begin() + first + static_cast<std::ptrdiff_t>(y)), outputs[y], 1e-12);
      }
    }
  }
}

}  // namespace step_matrix_test
}  // namespace entrain
