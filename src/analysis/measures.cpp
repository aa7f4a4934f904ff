#include "analysis/measures.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/passed_on.hpp"
#include "numerics/eigenvalues.hpp"

namespace entrain::analysis {
namespace {

using Eigen::Index;

Matrix unit_matrix(std::size_t size) {
  Matrix unit(size, size);
  for (std::size_t i = 0; i < size; ++i) unit(i, i) = 1.0;
  return unit;
}

/// z of a consistent start for every unit state: x, y = Y x, all samples alike.
Matrix constant_start(const StepProgram& program, const ExactCoupling& exact) {
  const std::size_t columns = program.outputs_at();
  Matrix z(program.size(), columns);
  for (std::size_t i = 0; i < columns; ++i) z(i, i) = 1.0;
  std::copy(exact.outputs.values.begin(), exact.outputs.values.end(),
            z.values.begin() + static_cast<std::ptrdiff_t>(columns * columns));
  std::size_t row = program.samples_at();
  for (const auto& subsystem : program.network().subsystems) {
    for (const auto& input : subsystem.inputs) {
      for (std::size_t m = 0; m < program.samples_per_input(); ++m, ++row) {
        for (std::size_t c = 0; c < columns; ++c) z(row, c) = input.factor * exact.outputs(input.source, c);
      }
    }
  }
  return z;
}

/// z on the exact motion, for every unit state at the time of the oldest sample. Forward from there: backward a stiff
/// motion would overflow.
Matrix exact_start(const StepProgram& program, const ExactCoupling& exact) {
  const auto& ages = program.ages_before();
  double oldest = 0.0;
  for (const double age : ages) oldest = std::min(oldest, age);
  const Matrix one_step = numerics::exponential(exact.dynamics, program.choice().step);
  const Index states = numerics::index(program.outputs_at());
  numerics::RowMajor x = numerics::RowMajor::Identity(states, states);
  numerics::RowMajor z = numerics::RowMajor::Zero(numerics::index(program.size()), states);
  for (double at = oldest;; ++at) {
    const numerics::RowMajor outputs = numerics::view(exact.outputs) * x;
    const numerics::RowMajor passed = passed_on(program.network(), outputs);
    for (std::size_t w = 0; w < ages.size(); ++w) {
      if (ages[w] != at) continue;
      z.row(numerics::index(program.samples_at() + w)) = passed.row(numerics::index(w / program.samples_per_input()));
    }
    if (at == 0.0) {
      z.topRows(states) = x;
      z.middleRows(states, outputs.rows()) = outputs;
      return numerics::to_matrix(z);
    }
    x = (numerics::view(one_step) * x).eval();
  }
}

/// A constant history is exact for held inputs, and so the paper has it. After it inputs of a higher degree have a
/// kink, which would hide their higher accuracy.
Matrix consistent_start(const StepProgram& program, const ExactCoupling& exact) {
  return program.choice().degree == 0 ? constant_start(program, exact) : exact_start(program, exact);
}

}  // namespace

Matrix step_matrix(const StepProgram& program) {
  Matrix phi = unit_matrix(program.size());
  std::vector<double> scratch;
  program.apply(phi.values, program.size(), scratch);
  return phi;
}

double step_radius(const StepProgram& program) {
  double radius = 0.0;
  if (program.size() <= kLargestDense) {
    radius = numerics::spectral_radius(step_matrix(program));
  } else {
    radius = numerics::spectral_radius(program.sparse());
  }
  return program.cycle() == 1 ? radius : std::pow(radius, 1.0 / static_cast<double>(program.cycle()));
}

double relative_consistency(const StepProgram& program, const ExactCoupling& exact) {
  Matrix z = consistent_start(program, exact);
  std::vector<double> scratch;
  program.apply(z.values, z.cols, scratch);
  program.apply(z.values, z.cols, scratch);
  Matrix ends(program.network().input_count(), z.cols);
  program.input_ends(z.values, z.cols, ends.values);
  const auto outputs = numerics::view(z).middleRows(numerics::index(program.outputs_at()),
                                                    numerics::index(program.network().outputs.size()));
  return (numerics::view(ends) - passed_on(program.network(), outputs)).norm();
}

Initialisation fixed_point_initialisation(const StepProgram& program) {
  // No time goes by between the sweeps: the samples are alike, and there is nothing to continue from one to the next.
  CouplingChoice held = program.choice();
  held.degree = 0;
  const auto steps = subsystem_steps(program.network(), held.step, held.degree);
  const StepProgram sweep(program.network(), steps, held);
  // The states stay: only what signals do to signals can grow.
  const std::size_t states = sweep.outputs_at();
  const std::size_t signals = sweep.size() - states;
  Matrix z(sweep.size(), signals);
  for (std::size_t i = 0; i < signals; ++i) z(states + i, i) = 1.0;
  std::vector<double> scratch;
  sweep.apply_without_integration(z.values, signals, scratch);
  Initialisation result;
  result.radius =
      numerics::spectral_radius(numerics::to_matrix(numerics::view(z).bottomRows(numerics::index(signals))));
  result.converges = result.radius < 1.0;
  return result;
}

}  // namespace entrain::analysis
