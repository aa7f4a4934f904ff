#include "analysis/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/coupled_motion.hpp"
#include "analysis/measures.hpp"
#include "analysis/passed_on.hpp"
#include "numerics/eigenvalues.hpp"

namespace entrain::analysis {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The network around a point that moves: every state has a second one beside it, its rate there, which stays:
/// dx/dt = A x + B u + d. So the motion is homogeneous again.
LinearNetwork with_drift(const LinearNetwork& network) {
  LinearNetwork result = network;
  for (auto& subsystem : result.subsystems) {
    const auto& [a, b, c, d] = subsystem.matrices;
    Linearization drifting{Matrix(2 * a.rows, 2 * a.rows), Matrix(2 * b.rows, b.cols), Matrix(c.rows, 2 * c.cols), d};
    for (std::size_t i = 0; i < a.rows; ++i) {
      for (std::size_t j = 0; j < a.rows; ++j) drifting.A(i, j) = a(i, j);
      for (std::size_t j = 0; j < b.cols; ++j) drifting.B(i, j) = b(i, j);
      drifting.A(i, a.rows + i) = 1.0;
    }
    for (std::size_t i = 0; i < c.rows; ++i) {
      for (std::size_t j = 0; j < c.cols; ++j) drifting.C(i, j) = c(i, j);
    }
    subsystem.matrices = std::move(drifting);
  }
  return result;
}

/// Rows of the states alone in a z of the network with drift; all other rows follow.
std::vector<Index> rows_without_drift(const LinearNetwork& network, std::size_t drifting_size) {
  std::vector<Index> rows;
  Index next = 0;
  for (const auto& subsystem : network.subsystems) {
    for (std::size_t i = 0; i < subsystem.matrices.A.rows; ++i) rows.push_back(next + numerics::index(i));
    next += 2 * numerics::index(subsystem.matrices.A.rows);
  }
  for (; next < numerics::index(drifting_size); ++next) rows.push_back(next);
  return rows;
}

/// The exact motion from a point, for every unit rate there: states and drift after whole macro steps.
class ExactMotion {
 public:
  ExactMotion(const LinearNetwork& network, Duration step)
      : coupling_(exact_coupling(with_drift(network))), one_step_(numerics::exponential(coupling_.dynamics, step)) {
    const Index states = numerics::index(network.state_count());
    MatrixXd start = MatrixXd::Zero(2 * states, states);
    Index row = 0;
    Index column = 0;
    for (const auto& subsystem : network.subsystems) {
      const Index own = numerics::index(subsystem.matrices.A.rows);
      start.block(row + own, column, own, own).setIdentity();
      row += 2 * own;
      column += own;
    }
    states_.push_back(std::move(start));
  }
  const MatrixXd& states(std::size_t step) {
    while (states_.size() <= step) states_.emplace_back(numerics::view(one_step_) * states_.back());
    return states_[step];
  }
  MatrixXd outputs(std::size_t step) { return numerics::view(coupling_.outputs) * states(step); }
  MatrixXd output_slopes(std::size_t step) {
    return numerics::view(coupling_.outputs) * numerics::view(coupling_.dynamics) * states(step);
  }

 private:
  ExactCoupling coupling_;
  Matrix one_step_;
  std::vector<MatrixXd> states_;
};

/// One application of a method to the error: error <- map error + missed rates, and y = outputs error.
struct ErrorStep {
  MatrixXd map;
  MatrixXd missed;
  MatrixXd outputs;
  double macro_steps = 1.0;
  double base = 0.0;  // macro steps from where the rates are taken to where the step begins
};

/// z of a program on the exact motion, `at` macro steps after the base.
MatrixXd exact_vector(const StepProgram& program, ExactMotion& motion, double at, const std::vector<double>& ages) {
  const auto step = static_cast<std::size_t>(std::lround(at));
  const MatrixXd& states = motion.states(step);
  MatrixXd z = MatrixXd::Zero(numerics::index(program.size()), states.cols());
  z.topRows(states.rows()) = states;
  z.middleRows(numerics::index(program.outputs_at()), numerics::index(program.network().outputs.size())) =
      motion.outputs(step);
  std::size_t sample = 0;
  for (const auto& subsystem : program.network().subsystems) {
    for (const auto& input : subsystem.inputs) {
      for (std::size_t m = 0; m < program.samples_per_input(); ++m, ++sample) {
        if (std::isnan(ages[sample])) continue;
        const auto when = static_cast<std::size_t>(std::lround(at + ages[sample]));
        z.row(numerics::index(program.samples_at() + sample)) =
            input.factor * motion.outputs(when).row(numerics::index(input.source));
      }
    }
  }
  return z;
}

double oldest(const std::vector<double>& ages) {
  double age = 0.0;
  for (const double value : ages) {
    if (!std::isnan(value)) age = std::max(age, -value);
  }
  return age;
}

/// Everything that stays the same at one operating point.
class ExplicitErrors {
 public:
  ExplicitErrors(const LinearNetwork& network, const CouplingChoice& choice)
      : network_(network),
        drifting_(with_drift(network)),
        choice_(choice),
        steps_(subsystem_steps(network_, choice.step, choice.degree)),
        drifting_steps_(subsystem_steps(drifting_, choice.step, choice.degree)),
        motion_(network_, choice.step) {}

  ErrorStep at(std::uint64_t first) {
    const StepProgram program(network_, steps_, choice_, first);
    const StepProgram drifting(drifting_, drifting_steps_, choice_, first);
    const bool steady = first == StepProgram::kSteadyState;
    const double base = steady ? oldest(program.ages_before()) : static_cast<double>(first);
    const auto cycle = static_cast<double>(program.cycle());
    numerics::RowMajor z = exact_vector(drifting, motion_, base, drifting.ages_before());
    std::vector<double> scratch;
    drifting.apply({z.data(), static_cast<std::size_t>(z.size())}, static_cast<std::size_t>(z.cols()), scratch);
    const MatrixXd missed = z - exact_vector(drifting, motion_, base + cycle, drifting.ages_after());
    ErrorStep result{
        numerics::view(step_matrix(program)), missed(rows_without_drift(network_, drifting.size()), Eigen::all),
        MatrixXd::Zero(numerics::index(network_.outputs.size()), numerics::index(program.size())), cycle, base};
    result.outputs.middleCols(numerics::index(program.outputs_at()), result.outputs.rows()).setIdentity();
    return result;
  }

 private:
  const LinearNetwork& network_;
  LinearNetwork drifting_;
  CouplingChoice choice_;
  std::vector<SubsystemStep> steps_, drifting_steps_;
  ExactMotion motion_;
};

/// z = [x; w; dw] on the exact motion.
MatrixXd exact_hermite_vector(const LinearNetwork& network, ExactMotion& motion, std::size_t step) {
  const MatrixXd& states = motion.states(step);
  const MatrixXd values = passed_on(network, motion.outputs(step));
  const MatrixXd slopes = passed_on(network, motion.output_slopes(step));
  MatrixXd z(states.rows() + 2 * values.rows(), states.cols());
  z << states, values, slopes;
  return z;
}

ErrorStep implicit_errors(const LinearNetwork& network, Duration step, StepEnd from, StepStart start) {
  const LinearNetwork drifting = with_drift(network);
  ExactMotion motion(network, step);
  const MatrixXd missed =
      numerics::view(hermite_step_matrix(drifting, step, from, start)) * exact_hermite_vector(drifting, motion, 0) -
      exact_hermite_vector(drifting, motion, 1);
  ErrorStep result;
  result.map = numerics::view(hermite_step_matrix(network, step, from, start));
  result.missed = missed(rows_without_drift(network, static_cast<std::size_t>(missed.rows())), Eigen::all);
  result.outputs = MatrixXd::Zero(numerics::index(network.outputs.size()), result.map.cols());
  Index x = 0;
  Index y = 0;
  Index u = numerics::index(network.state_count());
  for (const auto& subsystem : network.subsystems) {
    const auto& m = subsystem.matrices;
    result.outputs.block(y, x, numerics::index(m.C.rows), numerics::index(m.C.cols)) = numerics::view(m.C);
    result.outputs.block(y, u, numerics::index(m.D.rows), numerics::index(m.D.cols)) = numerics::view(m.D);
    x += numerics::index(m.A.rows);
    y += numerics::index(m.C.rows);
    u += numerics::index(m.B.cols);
  }
  // What is connected is known as it is passed on.
  u = numerics::index(network.state_count());
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs) {
      if (input.factor != 0.0) {
        result.outputs.row(numerics::index(input.source)).setZero();
        result.outputs(numerics::index(input.source), u) = 1.0 / input.factor;
      }
      ++u;
    }
  }
  return result;
}

/// The first macro step knows no slopes; `missiles` makes it in parts that double, if no subsystem imposes a step.
ErrorStep first_implicit_errors(const LinearNetwork& network, Duration step, StepEnd from) {
  const bool rigid = std::any_of(network.subsystems.begin(), network.subsystems.end(),
                                 [](const LinearSubsystem& of) { return of.capabilities.imposed_step.has_value(); });
  if (rigid || from == StepEnd::Trial) return implicit_errors(network, step, from, StepStart::NoSlopes);
  constexpr double kFirstPiece = 1.0 / 16.0;
  const Matrix dynamics = exact_coupling(network).dynamics;
  ErrorStep result = implicit_errors(network, kFirstPiece * step, from, StepStart::NoSlopes);
  for (double piece = kFirstPiece; piece < 1.0; piece *= 2.0) {
    const ErrorStep next = implicit_errors(network, piece * step, from, StepStart::Slopes);
    result.missed =
        next.map * result.missed + next.missed * numerics::view(numerics::exponential(dynamics, piece * step));
    result.map = next.map * result.map;
  }
  return result;
}

/// The error in the course of the run, sampled often enough for a mean.
class ErrorRun {
 public:
  ErrorRun(const RunPath& path, Duration step) : path_(path), step_(step), squares_(path.ranges.size(), 0.0) {}

  void begin(const VectorXd& rates) { rates_ = rates; }
  void single(const ErrorStep& by) {
    if (error_.size() == 0) error_ = VectorXd::Zero(by.map.rows());
    error_ = (by.map * error_ + by.missed * rates_).eval();
    time_ += by.macro_steps;
    sample(by, by.macro_steps);
  }
  /// From here to `until`, in strides of equal length; rates as they are at the base of the first step.
  void go(const ErrorStep& by, const MatrixXd& rates_per_cycle, Time until) {
    constexpr double kSamples = 128.0;
    if (error_.size() == 0) error_ = VectorXd::Zero(by.map.rows());
    const double from = path_.points.front().time;
    const double left = std::round((until - from) / step_ - time_) / by.macro_steps;
    if (!(left >= 1.0)) return;
    const Index size = by.map.rows();
    MatrixXd whole = MatrixXd::Zero(size + rates_.size(), size + rates_.size());
    whole << by.map, by.missed, MatrixXd::Zero(rates_.size(), size), rates_per_cycle;
    const double all = (path_.stop - from) / step_ / by.macro_steps;
    const auto stride = static_cast<std::uint64_t>(std::max(1.0, std::floor(all / kSamples)));
    const MatrixXd strides = power(whole, stride);
    VectorXd both(size + rates_.size());
    both << error_, rates_;
    for (double done = 0.0; done + static_cast<double>(stride) <= left + 0.5;) {
      both = (strides * both).eval();
      done += static_cast<double>(stride);
      time_ += by.macro_steps * static_cast<double>(stride);
      error_ = both.head(size);
      sample(by, by.macro_steps * static_cast<double>(stride));
    }
    rates_ = both.tail(rates_.size());
  }
  void finish(Forecast& forecast) const {
    forecast.steps = (path_.stop - path_.points.front().time) / step_;
    if (weight_ == 0.0) forecast.error = std::numeric_limits<double>::infinity();
    for (std::size_t y = 0; y < squares_.size(); ++y) {
      const double mean = std::sqrt(squares_[y] / std::max(1.0, weight_));
      double relative = path_.ranges[y] > 0.0 ? mean / path_.ranges[y] : mean;
      if (!std::isfinite(relative)) relative = std::numeric_limits<double>::infinity();
      if (relative <= forecast.error) continue;
      forecast.error = relative;
      forecast.worst_output = y;
    }
  }

 private:
  static MatrixXd power(MatrixXd base, std::uint64_t exponent) {
    MatrixXd result = MatrixXd::Identity(base.rows(), base.cols());
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 == 1) result = (result * base).eval();
      base = (base * base).eval();
    }
    return result;
  }
  void sample(const ErrorStep& by, double steps) {
    const VectorXd outputs = by.outputs * error_;
    for (std::size_t y = 0; y < squares_.size(); ++y)
      squares_[y] += steps * outputs[numerics::index(y)] * outputs[numerics::index(y)];
    weight_ += steps;
  }

  const RunPath& path_;
  Duration step_;
  double time_ = 0.0;  // in macro steps from the start
  VectorXd error_, rates_;
  std::vector<double> squares_;  // weighted sums, by output
  double weight_ = 0.0;
};

VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), numerics::index(values.size()));
}

void note_radius(const LinearNetwork& network, const ErrorStep& steady, Duration step, Forecast& forecast) {
  const double radius = std::pow(numerics::spectral_radius(numerics::to_matrix(steady.map)), 1.0 / steady.macro_steps);
  // What does not grow need not be compared with the motion itself.
  forecast.take_point(radius, radius > 1.0 ? own_growth(network, step) : 1.0);
}

Time end_of(const RunPath& path, std::size_t point) {
  return point + 1 < path.points.size() ? path.points[point + 1].time : path.stop;
}

}  // namespace

std::vector<double> ranges_along(const RunPath& path) {
  constexpr std::size_t kSamples = 64;
  VectorXd at = VectorXd::Zero(numerics::index(path.ranges.size()));
  VectorXd low = at;
  VectorXd high = at;
  for (std::size_t p = 0; p < path.points.size(); ++p) {
    const auto& point = path.points[p];
    ExactMotion motion(point.network, (end_of(path, p) - point.time) / kSamples);
    const VectorXd start = at;
    for (std::size_t k = 1; k <= kSamples; ++k) {
      at = start + motion.outputs(k) * vector_of(point.rates);
      low = low.cwiseMin(at);
      high = high.cwiseMax(at);
    }
  }
  std::vector<double> ranges = path.ranges;
  for (std::size_t y = 0; y < ranges.size(); ++y) {
    const double width = high[numerics::index(y)] - low[numerics::index(y)];
    if (std::isfinite(width)) ranges[y] = std::max(ranges[y], width);
  }
  return ranges;
}

bool Forecast::stable() const {
  constexpr double kRounding = 1e-10;
  return growth <= kRounding;
}

bool Forecast::harmless() const {
  constexpr double kNoMatter = 1e-2;
  return growth * std::max(1.0, steps) <= kNoMatter;
}

void Forecast::take_point(double radius_here, double own_radius) {
  radius = std::max(radius, radius_here);
  // The growth rate of the motion itself has some error in a run: that is no instability.
  const double beyond = std::log(radius_here) - 2.0 * std::log(std::max(1.0, own_radius));
  growth = std::isfinite(radius_here) ? std::max(growth, beyond) : std::numeric_limits<double>::infinity();
}

bool can_forecast(const LinearNetwork& network, int degree) {
  const std::size_t samples = network.input_count() * (static_cast<std::size_t>(degree) + 1);
  return network.state_count() * 2 + network.outputs.size() + samples <= kLargestForecast;
}

Forecast forecast_explicit(const RunPath& path, const CouplingChoice& choice) {
  Forecast forecast;
  ErrorRun run(path, choice.step);
  for (std::size_t point = 0; point < path.points.size(); ++point) {
    const auto& at = path.points[point];
    ExplicitErrors errors(at.network, choice);
    const ErrorStep steady = errors.at(StepProgram::kSteadyState);
    const Matrix dynamics = exact_coupling(at.network).dynamics;
    run.begin(vector_of(at.rates));
    if (point == 0) {
      std::uint64_t first = 0;
      const auto cycle = static_cast<std::uint64_t>(steady.macro_steps);
      for (; static_cast<double>(first) < steady.base; first += cycle) run.single(errors.at(first));
      // The rates of the steady steps are those some steps back.
      const double ahead = static_cast<double>(first) - steady.base;
      run.begin(numerics::view(numerics::exponential(dynamics, ahead * choice.step)) * vector_of(at.rates));
    }
    run.go(steady, numerics::view(numerics::exponential(dynamics, steady.macro_steps * choice.step)),
           end_of(path, point));
    note_radius(at.network, steady, choice.step, forecast);
  }
  run.finish(forecast);
  return forecast;
}

Forecast forecast_implicit(const RunPath& path, Duration step, StepEnd from) {
  Forecast forecast;
  ErrorRun run(path, step);
  for (std::size_t point = 0; point < path.points.size(); ++point) {
    const auto& at = path.points[point];
    const ErrorStep steady = implicit_errors(at.network, step, from, StepStart::Slopes);
    const Matrix one_step = numerics::exponential(exact_coupling(at.network).dynamics, step);
    const VectorXd rates = vector_of(at.rates);
    run.begin(rates);
    if (point == 0 && path.stop - at.time >= step * (1.0 - 1e-9)) {
      run.single(first_implicit_errors(at.network, step, from));
      run.begin(numerics::view(one_step) * rates);
    }
    run.go(steady, numerics::view(one_step), end_of(path, point));
    note_radius(at.network, steady, step, forecast);
  }
  run.finish(forecast);
  return forecast;
}

double explicit_radius(const LinearNetwork& network, const CouplingChoice& choice) {
  const auto steps = subsystem_steps(network, choice.step, choice.degree);
  return step_radius(StepProgram(network, steps, choice));
}

double implicit_radius(const LinearNetwork& network, Duration step, StepEnd from) {
  return numerics::spectral_radius(hermite_step_matrix(network, step, from));
}

}  // namespace entrain::analysis
