// What a model-exchange FMU provides: its equations at any point, derivatives and linearization.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "subsystem/fmi/model_exchange.hpp"

namespace entrain::subsystem {

void ModelExchange::move_to(const Point& at) {
  begin();
  starts_ = true;
  here_.t = at.t;
  std::copy(at.x.begin(), at.x.end(), here_.x.begin());
  std::copy(at.u.begin(), at.u.end(), here_.u.begin());
  std::copy(at.du.begin(), at.du.end(), here_.du.begin());
  here_is_set_ = false;
}

void ModelExchange::derivatives(std::span<double> dx) {
  begin();
  set_here();
  if (!dx.empty()) require(instance_->get_derivatives(dx));
}

void ModelExchange::right_hand_side(const Point& at, std::span<double> dx) {
  set_point(at.t, at.x, at.u);
  if (!dx.empty()) require(instance_->get_derivatives(dx));
}

void ModelExchange::outputs(const Point& at, std::span<double> y) {
  set_point(at.t, at.x, at.u);
  if (!y.empty()) require(instance_->get_reals(ports_.real_outputs(), y.data()));
}

void ModelExchange::event_indicators(const Point& at, std::span<double> z) {
  set_point(at.t, at.x, at.u);
  if (!z.empty()) require(instance_->get_event_indicators(z));
}

bool ModelExchange::handle_event(const Point& at, std::span<double> x) {
  move_to(at);
  handle_event_here();
  std::copy(here_.x.begin(), here_.x.end(), x.begin());
  return false;
}

/// What the FMU requests besides an event is in stop_requested.
bool ModelExchange::complete_step(const Point& at) {
  set_point(at.t, at.x, at.u);
  event_wanted_ = false;
  report_completed_step();
  return std::exchange(event_wanted_, false);
}

void ModelExchange::linearize(Linearization& result) {
  begin();
  if (!directional_) return linearize_by_differences(result);
  set_here();
  require(linearizer_.linearize(*instance_, LinearizationSource::Directional, result));
}

/// Central differences: with steps of the third root of the rounding unit truncation and rounding are alike.
void ModelExchange::linearize_by_differences(Linearization& result) {
  result.A.resize(here_.x.size(), here_.x.size());
  result.B.resize(here_.x.size(), here_.u.size());
  result.C.resize(y_.size(), here_.x.size());
  result.D.resize(y_.size(), here_.u.size());
  for (std::size_t j = 0; j < here_.x.size(); ++j) differentiate(here_.x[j], nominals_[j], j, result.A, result.C);
  for (std::size_t j = 0; j < here_.u.size(); ++j) differentiate(here_.u[j], 1.0, j, result.B, result.D);
  here_is_set_ = false;
}

void ModelExchange::differentiate(double& argument, double nominal, std::size_t column, Matrix& to_dx, Matrix& to_y) {
  const double width = std::cbrt(std::numeric_limits<double>::epsilon()) * std::max(std::abs(argument), nominal);
  const double kept = argument;
  const Point at{here_.t, here_.x, here_.u, here_.du};
  for (auto* side : {&up_, &down_}) {
    argument = side == &up_ ? kept + width : kept - width;
    right_hand_side(at, std::span(*side).first(dx_.size()));
    outputs(at, std::span(*side).subspan(dx_.size()));
  }
  argument = kept;
  const double difference = (kept + width) - (kept - width);  // as it was really made
  for (std::size_t i = 0; i < up_.size(); ++i) {
    Matrix& matrix = i < dx_.size() ? to_dx : to_y;
    matrix(i < dx_.size() ? i : i - dx_.size(), column) = (up_[i] - down_[i]) / difference;
  }
}

void ModelExchange::output_derivatives(std::span<double> dy) {
  derivatives(dx_);
  rates(here_.du, dy);
}

void ModelExchange::output_rates(const Point& at, std::span<double> dy) {
  const Here kept = here_;
  move_to(at);
  output_derivatives(dy);
  put_back(kept);
}

void ModelExchange::rates(std::span<const double> du, std::span<double> dy) {
  linearize(linearization_);
  slopes_along(linearization_, dx_, du, dy);
  add_explicit_rates(dy);
}

/// What the outputs change with the time alone, by a one-sided difference of second order: an FMU need not go back in
/// time. Exactly zero for outputs that do not depend on the time.
void ModelExchange::add_explicit_rates(std::span<double> dy) {
  const Duration best = std::cbrt(std::numeric_limits<double>::epsilon()) * std::max(1.0, std::abs(here_.t));
  const Duration width = std::min(best, 0.49 * (std::min(here_.next_event, stop_) - here_.t));
  if (width < 1e-3 * best) return;  // rounding would be all there is
  const auto at = [&](Duration ahead) { return Point{here_.t + ahead, here_.x, here_.u, here_.du}; };
  const std::size_t count = dy.size();
  const auto now = std::span(y_).first(count);
  const auto once = std::span(up_).first(count);
  const auto twice = std::span(down_).first(count);
  outputs(at(0.0), now);
  outputs(at(width), once);
  outputs(at(2.0 * width), twice);
  for (std::size_t i = 0; i < count; ++i) {
    dy[i] += (4.0 * (once[i] - now[i]) - (twice[i] - now[i])) / (2.0 * width);
  }
}

}  // namespace entrain::subsystem
