#include "truth/truth.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unsupported/Eigen/MatrixFunctions>

#include "numerics/ode.hpp"

namespace entrain::truth {

WholeSystem::WholeSystem(const System& system) : system_(system) {
  std::size_t largest = 0;
  for (const auto& part : system.parts) {
    places_.push_back({start_.size(), inputs_, outputs_});
    start_.insert(start_.end(), part.start.begin(), part.start.end());
    inputs_ += part.inputs.size();
    outputs_ += part.outputs.size();
    largest = std::max(largest, part.start.size());
  }
  u_.assign(inputs_, 0.0);
  next_.assign(inputs_, 0.0);
  y_.assign(outputs_, 0.0);
  dx_.assign(start_.size(), 0.0);
}

void WholeSystem::sweep(double t, const double* x) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const auto [state, input, output] = places_[p];
    system_.parts[p].equations.real({t, x + state, u_.data() + input, dx_.data() + state, y_.data() + output});
  }
  std::fill(next_.begin(), next_.end(), 0.0);
  for (const auto& link : system_.links) {
    next_[places_[link.to].input + link.input] =
        link.factor * y_[places_[link.from].output + link.output] + link.offset;
  }
}

/// Without algebraic loops the inputs are right after as many sweeps as there are parts in a row.
void WholeSystem::solve(double t, const double* x) {
  for (std::size_t round = 0; round <= places_.size() + 1; ++round) {
    sweep(t, x);
    if (next_ == u_) return;
    u_ = next_;
  }
  solve_loops(t, x);
}

void WholeSystem::solve_loops(double t, const double* x) {
  using Eigen::Index;
  const auto n = static_cast<Index>(inputs_);
  const auto residual = [&] {
    sweep(t, x);
    Eigen::VectorXd r(n);
    for (Index i = 0; i < n; ++i) r[i] = next_[static_cast<std::size_t>(i)] - u_[static_cast<std::size_t>(i)];
    return r;
  };
  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 20; ++iteration) {
    const Eigen::VectorXd r = residual();
    const double size = r.lpNorm<Eigen::Infinity>();
    if (size == 0.0 || (iteration > 2 && size >= 0.5 * previous)) return;
    previous = size;
    Eigen::MatrixXd jacobian(n, n);
    for (Index j = 0; j < n; ++j) {
      auto& u = u_[static_cast<std::size_t>(j)];
      const double kept = u;
      const double change = 1e-7 * (1.0 + std::abs(u));
      u += change;
      jacobian.col(j) = (residual() - r) / (u - kept);
      u = kept;
    }
    const Eigen::VectorXd correction = jacobian.partialPivLu().solve(-r);
    for (Index i = 0; i < n; ++i) u_[static_cast<std::size_t>(i)] += correction[i];
  }
  throw std::runtime_error(system_.name + ": its algebraic loop cannot be solved");
}

void WholeSystem::derivatives(double t, const double* x, double* dx) {
  solve(t, x);
  std::copy(dx_.begin(), dx_.end(), dx);
}

void WholeSystem::outputs(double t, const double* x, double* y) {
  solve(t, x);
  std::copy(y_.begin(), y_.end(), y);
}

Flow WholeSystem::flow() {
  Flow flow;
  flow.states = start_.size();
  flow.largest = system_.largest;
  flow.derivatives = [this](double t, const double* x, double* dx) { derivatives(t, x, dx); };
  for (const auto& part : system_.parts) {
    flow.times.insert(flow.times.end(), part.times.begin(), part.times.end());
    flow.indicators += part.events.indicators;
  }
  std::sort(flow.times.begin(), flow.times.end());
  flow.indicate = [this](double t, const double* x, double* z) {
    solve(t, x);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const auto& events = system_.parts[p].events;
      if (events.indicators > 0) events.indicate(t, x + places_[p].state, u_.data() + places_[p].input, z);
      z += events.indicators;
    }
  };
  flow.handle = [this](double t, double* x) {
    bool any = false;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (!system_.parts[p].events.handle) continue;
      solve(t, x);
      any = system_.parts[p].events.handle(t, x + places_[p].state, u_.data() + places_[p].input) || any;
    }
    return any;
  };
  return flow;
}

namespace {

/// Both sides of a jump of g at t, where one is known to be there.
void note_outputs(WholeSystem& whole, const Flow& flow, const std::vector<double>& x, Course& course) {
  const double t = course.times[course.behind.size() / course.outputs];
  std::vector<double> y(course.outputs);
  const auto jump = std::lower_bound(flow.times.begin(), flow.times.end(), t - 1e-9 * std::max(1.0, t));
  const bool jumps = jump != flow.times.end() && *jump <= t + 1e-9 * std::max(1.0, t);
  whole.outputs(jumps ? std::nextafter(*jump, -1.0) : t, x.data(), y.data());
  course.before.insert(course.before.end(), y.begin(), y.end());
  whole.outputs(jumps ? *jump : t, x.data(), y.data());
  course.behind.insert(course.behind.end(), y.begin(), y.end());
}

template <class Advance>
Course course_by(const System& system, std::span<const double> times, const Advance& advance) {
  WholeSystem whole(system);
  const Flow flow = whole.flow();
  Course course;
  course.times.assign(times.begin(), times.end());
  course.outputs = whole.outputs();
  std::vector<double> x = whole.start();
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (k > 0 && times[k] > times[k - 1]) advance(times[k - 1], times[k], x, course.event_times);
    note_outputs(whole, flow, x, course);
  }
  return course;
}

/// x' = A x + b with the constant 1 as another state.
Eigen::MatrixXd augmented_matrix(WholeSystem& whole) {
  using Eigen::Index;
  const std::size_t n = whole.states();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(static_cast<Index>(n) + 1, static_cast<Index>(n) + 1);
  std::vector<double> x(n, 0.0), dx(n), rest(n);
  whole.derivatives(0.0, x.data(), rest.data());
  for (std::size_t j = 0; j < n; ++j) {
    x[j] = 1.0;
    whole.derivatives(0.0, x.data(), dx.data());
    x[j] = 0.0;
    for (std::size_t i = 0; i < n; ++i) result(static_cast<Index>(i), static_cast<Index>(j)) = dx[i] - rest[i];
  }
  for (std::size_t i = 0; i < n; ++i) result(static_cast<Index>(i), static_cast<Index>(n)) = rest[i];
  return result;
}

Course exponential_course(const System& system, std::span<const double> times) {
  WholeSystem whole(system);
  const Eigen::MatrixXd matrix = augmented_matrix(whole);
  double size = -1.0;
  Eigen::MatrixXd propagator;
  Eigen::VectorXd z(matrix.rows());
  return course_by(system, times, [&](double from, double to, std::vector<double>& x, std::vector<double>&) {
    const double step = to - from;
    // The times of a grid are rounded; its steps are meant to be equal.
    if (!(std::abs(step - size) <= 1e-11 * step + 4e-16 * to)) {
      size = step;
      propagator = (matrix * size).exp();
    }
    for (std::size_t i = 0; i < x.size(); ++i) z[static_cast<Eigen::Index>(i)] = x[i];
    z[z.size() - 1] = 1.0;
    z = propagator * z;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = z[static_cast<Eigen::Index>(i)];
  });
}

/// The whole system as its parts integrate inside; the coarsest of them decides.
Course loose_course(const System& system, std::span<const double> times, const Part& coarsest) {
  WholeSystem whole(system);
  std::vector<double> dx(whole.states());
  numerics::OdeSolver cvode(whole.states(), {.method = numerics::OdeMethod::Bdf,
                                             .relative_tolerance = std::max(coarsest.inner, 1e-12),
                                             .absolute_tolerance = std::max(coarsest.inner, 1e-12)});
  return course_by(system, times, [&](double from, double to, std::vector<double>& x, std::vector<double>&) {
    if (coarsest.inside == Inside::Cvode) {
      cvode.integrate(0.0, to - from, x, [&](double s, std::span<const double> at, std::span<double> rate) {
        whole.derivatives(from + s, at.data(), rate.data());
      });
      return;
    }
    const auto steps = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround((to - from) / coarsest.inner)));
    const double h = (to - from) / static_cast<double>(steps);
    for (std::size_t k = 0; k < steps; ++k) {
      whole.derivatives(from + static_cast<double>(k) * h, x.data(), dx.data());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += h * dx[i];
    }
  });
}

}  // namespace

Course integrated_course(const System& system, std::span<const double> times) {
  WholeSystem whole(system);
  const Flow flow = whole.flow();
  Extrapolation extrapolation(flow);
  return course_by(system, times, [&](double from, double to, std::vector<double>& x, std::vector<double>& events) {
    extrapolation.advance(from, to, x.data(), &events);
  });
}

Course true_course(const System& system, std::span<const double> times) {
  return system.linear ? exponential_course(system, times) : integrated_course(system, times);
}

double range_of(const Course& course, std::size_t output) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t k = output; k < course.behind.size(); k += course.outputs) {
    least = std::min(least, course.behind[k]);
    most = std::max(most, course.behind[k]);
  }
  return most - least;
}

std::vector<double> integration_floor(const System& system) {
  const auto coarser = [](const Part& a, const Part& b) { return a.inner < b.inner; };
  const Part& coarsest = *std::max_element(system.parts.begin(), system.parts.end(), coarser);
  std::vector<double> floor;
  for (const auto& part : system.parts) floor.insert(floor.end(), part.outputs.size(), 0.0);
  if (coarsest.inside == Inside::Accurate) return floor;
  std::vector<double> times;
  constexpr int kTimes = 500;
  for (int k = 0; k <= kTimes; ++k) times.push_back(system.stop * k / kTimes);
  const Course truth = true_course(system, times);
  const Course loose = loose_course(system, times, coarsest);
  for (std::size_t output = 0; output < floor.size(); ++output) {
    double sum = 0.0;
    for (std::size_t k = output; k < truth.behind.size(); k += truth.outputs) {
      sum += std::pow(loose.behind[k] - truth.behind[k], 2);
    }
    floor[output] = std::sqrt(sum / kTimes) / range_of(truth, output);
  }
  return floor;
}

}  // namespace entrain::truth
