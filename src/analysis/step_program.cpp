#include "analysis/step_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/dense.hpp"
#include "numerics/exponential.hpp"
#include "numerics/polynomial.hpp"

namespace entrain::analysis {
namespace {

using Eigen::Index;
using RowMap = Eigen::Map<numerics::RowMajor>;
constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();

RowMap block(std::span<double> rows, std::size_t first, std::size_t count, std::size_t columns) {
  return {rows.data() + first * columns, numerics::index(count), numerics::index(columns)};
}

/// The end of a step of `size` in `parts` under u = s^power, one part after the other.
void step_in_parts(const LinearSubsystem& subsystem, Duration size, int parts, int degree, SubsystemStep& result) {
  const int taken = std::min(degree, subsystem.capabilities.input_degree);
  const auto part = numerics::exact_step_matrices(subsystem.matrices.A, subsystem.matrices.B, size / parts, taken);
  const auto states = numerics::index(subsystem.matrices.A.rows);
  numerics::RowMajor whole = numerics::RowMajor::Identity(states, states);
  for (int k = 0; k < parts; ++k) whole = (numerics::view(part.exponential) * whole).eval();
  result.exponential = numerics::to_matrix(whole);
  for (int power = 0; power <= degree; ++power) {
    numerics::RowMajor x = numerics::RowMajor::Zero(states, numerics::index(subsystem.inputs.size()));
    double end = 0.0;
    for (int k = 0; k < parts; ++k) {
      std::array<double, kMaxInputDegree + 1> polynomial{};
      polynomial[static_cast<std::size_t>(power)] = 1.0;
      const numerics::PolynomialBlock one{polynomial.data(), 1, degree};
      numerics::shift_origin(one, size / parts * k);
      numerics::project(one, taken, size / parts);
      x = (numerics::view(part.exponential) * x).eval();
      for (int p = 0; p <= taken; ++p) x += one.at(p, 0) * numerics::view(part.gamma[static_cast<std::size_t>(p)]);
      end = InputBlock(polynomial.data(), 1, taken).value(0, size / parts);
    }
    result.powers.push_back(numerics::to_matrix(x));
    result.ends.push_back(end);
  }
}

}  // namespace

std::vector<SubsystemStep> subsystem_steps(const LinearNetwork& network, Duration macro_step, int degree) {
  std::vector<SubsystemStep> steps;
  for (const auto& subsystem : network.subsystems) {
    const auto& can = subsystem.capabilities;
    auto& step = steps.emplace_back();
    step.rhythm = method::rhythm_of(can, macro_step);
    const Duration size = macro_step * step.rhythm.span;
    // Where the degree is lowered the user may have asked for sub-steps.
    const int parts = degree > can.input_degree ? std::max(step.rhythm.parts, can.substeps) : step.rhythm.parts;
    step_in_parts(subsystem, size, parts, degree, step);
  }
  return steps;
}

/// The macro steps to which the samples of every input belong, as ExtrapolatedInputs keeps them.
class StepProgram::History {
 public:
  History(std::size_t inputs, std::size_t samples, bool constant_start)
      : samples_(samples), at_(inputs * samples, kNotThere) {
    if (!constant_start) return;
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t m = 0; m < samples; ++m) at_[i * samples + m] = -static_cast<double>(m);
    }
  }
  bool empty(std::size_t input) const { return std::isnan(at_[input * samples_]); }
  /// True when the older samples move up.
  bool take(std::size_t input, double step) {
    double* at = at_.data() + input * samples_;
    const bool moves = empty(input) || step > at[0];
    if (moves) std::copy_backward(at, at + samples_ - 1, at + samples_);
    at[0] = step;
    return moves;
  }
  std::span<const double> of(std::size_t input) const {
    const double* at = at_.data() + input * samples_;
    std::size_t count = 0;
    while (count < samples_ && !std::isnan(at[count])) ++count;
    return {at, count};
  }
  std::vector<double> ages(double now) const {
    std::vector<double> result = at_;
    for (double& at : result) at -= now;
    return result;
  }

 private:
  std::size_t samples_;
  std::vector<double> at_;  // newest first; NaN = not there
};

StepProgram::StepProgram(const LinearNetwork& network, std::span<const SubsystemStep> steps,
                         const CouplingChoice& choice, std::uint64_t first)
    : network_(network), choice_(choice), samples_(static_cast<std::size_t>(choice.degree) + 1), steps_(steps) {
  lay_out();
  for (const auto& step : steps) {
    cycle_ = std::lcm(cycle_, std::uint64_t{step.rhythm.span});
    if (cycle_ > kLongestCycle) {
      throw Error(ErrorCode::InvalidSystem, {FactCode::CycleTooLong, {}, {{"steps", kLongestCycle}}});
    }
  }
  // After as many cycles as there are samples no history reaches back to the start.
  record(first == kSteadyState ? cycle_ * (samples_ + 1) : first);
}

void StepProgram::lay_out() {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  for (const auto& subsystem : network_.subsystems) {
    first_state_.push_back(states_);
    first_output_.push_back(outputs);
    first_input_.push_back(inputs);
    states_ += subsystem.matrices.A.rows;
    outputs += subsystem.matrices.C.rows;
    inputs += subsystem.inputs.size();
  }
  size_ = states_ + outputs + inputs * samples_;
}

/// Lets the calendar of a run go by; what happens from macro step `first` on, over one cycle, becomes the program.
void StepProgram::record(std::uint64_t first) {
  History history(network_.input_count(), samples_, choice_.constant_start);
  // Per output: the macro step it belongs to.
  std::vector<double> reached(network_.outputs.size(), 0.0);
  for (std::uint64_t k = 0; k < first + cycle_; ++k) {
    if (k == first) {
      ages_before_ = history.ages(static_cast<double>(first));
      transfers_.clear();
      operations_.clear();
    }
    for (const auto& stage : choice_.stages) {
      for (const std::size_t s : stage) {
        if (k % steps_[s].rhythm.span == 0) add_transfers(s, reached, history);
      }
      for (const std::size_t s : stage) {
        const std::uint64_t span = steps_[s].rhythm.span;
        if ((k + 1) % span != 0) continue;
        const auto outputs = reached.begin() + static_cast<std::ptrdiff_t>(first_output_[s]);
        std::fill_n(outputs, network_.subsystems[s].matrices.C.rows, static_cast<double>(k + 1));
        if (k >= first) add_step(s, k + 1 - span, history);
      }
    }
  }
  ages_after_ = history.ages(static_cast<double>(first + cycle_));
}

void StepProgram::add_transfers(std::size_t s, const std::vector<double>& reached, History& history) {
  for (std::size_t i = 0; i < network_.subsystems[s].inputs.size(); ++i) {
    const std::size_t input = first_input_[s] + i;
    const auto& from = network_.subsystems[s].inputs[i];
    const bool filtered = !choice_.gains.empty() && !history.empty(input);
    const bool moves = history.take(input, reached[from.source]);
    operations_.push_back({false, transfers_.size()});
    transfers_.push_back({samples_at() + input * samples_, outputs_at() + from.source, from.factor,
                          filtered ? choice_.gains[input] : 0.0, moves});
  }
}

void StepProgram::add_step(std::size_t s, std::uint64_t from, const History& history) {
  const SubsystemStep& step = steps_[s];
  const auto& subsystem = network_.subsystems[s];
  const std::size_t inputs = subsystem.inputs.size();
  Step made{s, Matrix(subsystem.matrices.A.rows, inputs * samples_),
            Matrix(subsystem.matrices.C.rows, inputs * samples_), std::vector<double>(inputs * samples_, 0.0)};
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto at = history.of(first_input_[s] + i);
    std::array<double, kMaxInputDegree + 1> nodes{};
    for (std::size_t m = 0; m < at.size(); ++m) nodes[m] = at[m] - static_cast<double>(from);
    for (std::size_t m = 0; m < at.size(); ++m) {
      std::array<double, kMaxInputDegree + 1> unit{};
      std::array<double, kMaxInputDegree + 1> weights{};
      unit[m] = 1.0;
      numerics::interpolate({nodes.data(), at.size()}, {unit.data(), at.size()}, {weights.data(), at.size()});
      const std::size_t column = i * samples_ + m;
      double scale = 1.0;
      for (std::size_t p = 0; p < at.size(); ++p, scale /= choice_.step) {
        const double weight = weights[p] * scale;
        made.end[column] += weight * step.ends[p];
        for (std::size_t x = 0; x < made.by_samples.rows; ++x) {
          made.by_samples(x, column) += weight * step.powers[p](x, i);
        }
      }
      for (std::size_t y = 0; y < made.feedthrough.rows; ++y) {
        made.feedthrough(y, column) = subsystem.matrices.D(y, i) * made.end[column];
      }
    }
  }
  operations_.push_back({true, made_.size()});
  made_.push_back(std::move(made));
}

void StepProgram::transfer(const Transfer& operation, std::span<double> rows, std::size_t columns) const {
  double* newest = rows.data() + operation.sample * columns;
  const double* output = rows.data() + operation.output * columns;
  if (operation.gain == 0.0) {
    if (operation.moves) std::copy_backward(newest, newest + (samples_ - 1) * columns, newest + samples_ * columns);
    for (std::size_t c = 0; c < columns; ++c) newest[c] = operation.factor * output[c];
    return;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    const double before = newest[c];
    if (operation.moves) {
      for (std::size_t m = samples_ - 1; m > 0; --m) newest[m * columns + c] = newest[(m - 1) * columns + c];
    }
    newest[c] = operation.gain * before + (1.0 - operation.gain) * operation.factor * output[c];
  }
}

void StepProgram::make_step(const Step& operation, std::span<double> rows, std::size_t columns, bool integrate,
                            std::vector<double>& scratch) const {
  const std::size_t s = operation.subsystem;
  const auto& matrices = network_.subsystems[s].matrices;
  auto x = block(rows, first_state_[s], matrices.A.rows, columns);
  auto y = block(rows, outputs_at() + first_output_[s], matrices.C.rows, columns);
  const auto w = block(rows, samples_at() + first_input_[s] * samples_, operation.end.size(), columns);
  if (integrate) {
    scratch.resize(std::max(scratch.size(), matrices.A.rows * columns));
    RowMap next(scratch.data(), x.rows(), x.cols());
    next.noalias() = numerics::view(steps_[s].exponential) * x;
    next.noalias() += numerics::view(operation.by_samples) * w;
    x = next;
  }
  y.noalias() = numerics::view(matrices.C) * x;
  y.noalias() += numerics::view(operation.feedthrough) * w;
}

void StepProgram::run(std::size_t begin, std::size_t end, std::span<double> rows, std::size_t columns, bool integrate,
                      std::vector<double>& scratch) const {
  for (std::size_t k = begin; k < end; ++k) {
    if (operations_[k].is_step) {
      make_step(made_[operations_[k].index], rows, columns, integrate, scratch);
    } else {
      transfer(transfers_[operations_[k].index], rows, columns);
    }
  }
}

void StepProgram::apply(std::span<double> rows, std::size_t columns, std::vector<double>& scratch) const {
  run(0, operations_.size(), rows, columns, true, scratch);
}

/// Sums of products, one after the other, as a sparse matrix: every result that is not just a multiple of an earlier
/// one is an unknown of its own.
class StepProgram::SparseWriter {
 public:
  SparseWriter(std::size_t size, std::size_t remembered) : latest_(size + remembered) {
    matrix_.size = matrix_.all = size;
    for (std::size_t i = 0; i < size; ++i) latest_[i] = {i, 1.0};
  }

  void add(double factor, std::size_t place) {
    const auto& [unknown, of_it] = latest_[place];
    if (factor * of_it != 0.0) terms_.push_back({unknown, factor * of_it});
  }
  void add(const Matrix& matrix, std::size_t row, std::size_t first_place) {
    for (std::size_t c = 0; c < matrix.cols; ++c) add(matrix(row, c), first_place + c);
  }
  /// The sum of what was added since the last.
  void into(std::size_t place) {
    if (terms_.size() < 2) {
      latest_[place] = terms_.empty() ? Multiple{} : terms_.front();
    } else {
      const std::size_t row = matrix_.all++;
      for (const auto& [unknown, factor] : terms_) matrix_.entries.push_back({row, unknown, factor});
      matrix_.entries.push_back({row, row, -1.0});
      latest_[place] = {row, 1.0};
    }
    terms_.clear();
  }
  numerics::SchurComplement take() {
    for (std::size_t i = 0; i < matrix_.size; ++i) {
      const auto& [unknown, factor] = latest_[i];
      matrix_.entries.push_back({i, unknown, factor});
    }
    return std::move(matrix_);
  }

 private:
  struct Multiple {
    std::size_t unknown = 0;
    double factor = 0.0;
  };
  numerics::SchurComplement matrix_;
  std::vector<Multiple> latest_;  // what stands at every place of z, and of what is remembered within a step
  std::vector<Multiple> terms_;
};

numerics::SchurComplement StepProgram::sparse() const {
  std::size_t most_states = 0;
  for (const auto& subsystem : network_.subsystems) most_states = std::max(most_states, subsystem.matrices.A.rows);
  SparseWriter writer(size_, most_states);
  for (const auto& operation : operations_) {
    if (operation.is_step) {
      write(made_[operation.index], writer);
    } else {
      write(transfers_[operation.index], writer);
    }
  }
  return writer.take();
}

void StepProgram::write(const Transfer& operation, SparseWriter& writer) const {
  const std::size_t newest = operation.sample;
  for (std::size_t m = operation.moves ? samples_ - 1 : 0; m > 0; --m) {
    writer.add(1.0, newest + m - 1);
    writer.into(newest + m);
  }
  writer.add(operation.gain, newest);
  writer.add((1.0 - operation.gain) * operation.factor, operation.output);
  writer.into(newest);
}

void StepProgram::write(const Step& operation, SparseWriter& writer) const {
  const std::size_t s = operation.subsystem;
  const auto& matrices = network_.subsystems[s].matrices;
  const std::size_t x = first_state_[s];
  const std::size_t w = samples_at() + first_input_[s] * samples_;
  for (std::size_t i = 0; i < matrices.A.rows; ++i) {  // all from the states as they were
    writer.add(steps_[s].exponential, i, x);
    writer.add(operation.by_samples, i, w);
    writer.into(size_ + i);
  }
  for (std::size_t i = 0; i < matrices.A.rows; ++i) {
    writer.add(1.0, size_ + i);
    writer.into(x + i);
  }
  for (std::size_t y = 0; y < matrices.C.rows; ++y) {
    writer.add(matrices.C, y, x);
    writer.add(operation.feedthrough, y, w);
    writer.into(outputs_at() + first_output_[s] + y);
  }
}

void StepProgram::apply_without_integration(std::span<double> rows, std::size_t columns,
                                            std::vector<double>& scratch) const {
  run(0, operations_.size(), rows, columns, false, scratch);
}

void StepProgram::apply_around(std::size_t s, bool after, std::span<double> rows, std::size_t columns,
                               std::vector<double>& scratch) const {
  const auto step = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.is_step && made_[operation.index].subsystem == s;
  });
  const auto at = static_cast<std::size_t>(step - operations_.begin());
  if (!after) {
    run(0, at, rows, columns, true, scratch);
    return;
  }
  make_step(made_[operations_[at].index], rows, columns, false, scratch);  // its outputs follow the changed state
  run(at + 1, operations_.size(), rows, columns, true, scratch);
}

void StepProgram::input_ends(std::span<const double> rows, std::size_t columns, std::span<double> ends) const {
  std::fill(ends.begin(), ends.end(), 0.0);
  std::vector<const Step*> last(network_.subsystems.size(), nullptr);
  for (const auto& step : made_) last[step.subsystem] = &step;
  for (std::size_t s = 0; s < last.size(); ++s) {
    for (std::size_t i = 0; i < network_.subsystems[s].inputs.size(); ++i) {
      const std::size_t input = first_input_[s] + i;
      for (std::size_t m = 0; m < samples_; ++m) {
        const double weight = last[s]->end[i * samples_ + m];
        const double* sample = rows.data() + (samples_at() + input * samples_ + m) * columns;
        for (std::size_t c = 0; c < columns; ++c) ends[input * columns + c] += weight * sample[c];
      }
    }
  }
}

}  // namespace entrain::analysis
