#include "truth/integrate.hpp"

#include <algorithm>
#include <cmath>

#include "entrain/error.hpp"

namespace entrain::truth {

void Extrapolation::midpoint(double t, double size, const double* x, int parts, std::vector<double>& result) {
  const std::size_t n = flow_.states;
  const double h = size / parts;
  before_.assign(x, x + n);
  now_.resize(n);
  for (std::size_t i = 0; i < n; ++i) now_[i] = x[i] + h * first_[i];
  for (int part = 1; part < parts; ++part) {
    rates(t + part * h, now_.data(), slope_.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double next = before_[i] + 2.0 * h * slope_[i];
      before_[i] = now_[i];
      now_[i] = next;
    }
  }
  rates(t + size, now_.data(), slope_.data());
  result.resize(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = 0.5 * (now_[i] + before_[i] + h * slope_[i]);
}

double Extrapolation::deviation(const std::vector<double>& better, const std::vector<double>& worse,
                                const double* x) const {
  double largest = 0.0;
  double common = 0.0;
  for (std::size_t i = 0; i < better.size(); ++i) common = std::max(common, std::abs(better[i]));
  for (std::size_t i = 0; i < better.size(); ++i) {
    const double scale = std::max({std::abs(better[i]), std::abs(x[i]), 1e-6 * common, 1e-12});
    const double here = std::abs(better[i] - worse[i]) / (kTolerance * scale);
    if (!(here <= largest)) largest = here;  // NaN stays
  }
  return largest;
}

/// The columns of the extrapolation are kept in place: table_[i] is the latest row's column i.
bool Extrapolation::attempt(double t, double size, const double* x) {
  const std::size_t n = flow_.states;
  slope_.resize(n);
  double previous = std::numeric_limits<double>::infinity();
  std::vector<double>& fresh = saved_;
  for (used_ = 0; used_ < kColumns; ++used_) {
    midpoint(t, size, x, 2 * (used_ + 1), fresh);
    for (int column = 0; column < used_; ++column) {
      const double ratio = static_cast<double>(used_ + 1) / (used_ - column);
      for (std::size_t i = 0; i < n; ++i) {
        const double older = table_[column][i];
        table_[column][i] = fresh[i];
        fresh[i] += (fresh[i] - older) / (ratio * ratio - 1.0);
      }
    }
    table_[used_] = fresh;
    if (used_ < 2) continue;
    const double error = deviation(fresh, table_[used_ - 1], x);
    if (error <= 1.0) return true;
    if (!std::isfinite(error) || (used_ > 3 && error > previous)) return false;
    previous = error;
  }
  return false;
}

bool Extrapolation::crossed(double t, const double* x, const std::vector<double>& before) const {
  z_.resize(flow_.indicators);
  flow_.indicate(t, x, z_.data());
  for (std::size_t i = 0; i < z_.size(); ++i) {
    if ((before[i] > 0.0) != (z_[i] > 0.0)) return true;
  }
  return false;
}

void Extrapolation::settle(double t, double* x) const {
  for (int round = 0; round < 100; ++round) {
    if (!flow_.handle || !flow_.handle(t, x)) return;
  }
  throw Error(ErrorCode::SolverFailed, "events without end");
}

void Extrapolation::smooth_piece(double from, double to, double* x, std::vector<double>* event_times) {
  const std::size_t n = flow_.states;
  double t = from;
  double size = std::min(to - from, flow_.largest);
  first_.resize(n);
  std::vector<double> indicated(flow_.indicators);
  for (int attempts = 0; t < to; ++attempts) {
    // A part that is driven beyond all sense by a coupling that blows up.
    if (attempts == kMostAttempts) throw Error(ErrorCode::SolverFailed, "too many steps of the integrator");
    size = std::min(size, flow_.largest);
    const bool whole = t + size * (1.0 + 1e-13) >= to;
    if (whole) size = to - t;
    if (size < 1e-14 * std::max(1.0, std::abs(t)) && !whole)
      throw Error(ErrorCode::SolverFailed, "the truth cannot be integrated");
    rates(t, x, first_.data());
    if (flow_.indicators > 0) flow_.indicate(t, x, indicated.data());
    if (!attempt(t, size, x)) {
      size *= 0.4;
      continue;
    }
    trial_ = table_[used_];
    const int used = used_;
    if (flow_.indicators > 0 && crossed(t + size, trial_.data(), indicated)) {
      // Bisection: the event lies in (t + low, t + high].
      double low = 0.0;
      double high = size;
      while (high - low > 1e-15 * std::max(1.0, std::abs(t))) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (!attempt(t, middle, x)) {
          high = 0.0;
          break;
        }
        std::vector<double> there = table_[used_];
        if (crossed(t + middle, there.data(), indicated)) {
          high = middle;
          trial_ = std::move(there);
        } else {
          low = middle;
        }
      }
      if (high == 0.0) {  // the integrator does not reach its tolerance so near to the event: from a nearer place
        size *= 0.4;
        continue;
      }
      std::copy(trial_.begin(), trial_.end(), x);
      t += high;
      settle(t, x);
      if (event_times != nullptr) event_times->push_back(t);
      continue;
    }
    std::copy(trial_.begin(), trial_.end(), x);
    t = whole ? to : t + size;
    if (used < kColumns - 3) size *= 2.0;
    if (used == kColumns - 1) size *= 0.8;
  }
}

void Extrapolation::advance(double from, double to, double* x, std::vector<double>* event_times) {
  if (flow_.states == 0) return;
  double t = from;
  while (t < to) {
    const auto jump = std::upper_bound(flow_.times.begin(), flow_.times.end(), t);
    const double end = jump == flow_.times.end() ? to : std::min(to, *jump);
    const bool at_jump = jump != flow_.times.end() && end == *jump;
    last_ = at_jump ? std::nextafter(end, from) : std::numeric_limits<double>::infinity();
    smooth_piece(t, end, x, event_times);
    last_ = std::numeric_limits<double>::infinity();
    t = end;
    if (at_jump) settle(t, x);
  }
}

}  // namespace entrain::truth
