#include "reproduce/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace entrain::reproducing {
namespace {

constexpr std::size_t kIntervals = 200;

/// Six digits: a hundredth of a pixel.
double rounded(double value) {
  const auto text = fmt::format("{:.6g}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

ReproduceCurve line(std::string name, const std::vector<double>& x, const std::vector<double>& y) {
  ReproduceCurve curve{std::move(name), ReproduceMark::Ours, {}, {}};
  const auto add = [&](std::size_t k) {
    if (!std::isfinite(y[k])) return;
    curve.x.push_back(rounded(x[k]));
    curve.y.push_back(rounded(y[k]));
  };
  const std::size_t count = std::min(x.size(), y.size());
  if (count <= 2 * kIntervals) {
    for (std::size_t k = 0; k < count; ++k) add(k);
    return curve;
  }
  for (std::size_t i = 0; i < kIntervals; ++i) {
    const auto first = y.begin() + static_cast<std::ptrdiff_t>(i * count / kIntervals);
    const auto last = y.begin() + static_cast<std::ptrdiff_t>((i + 1) * count / kIntervals);
    const auto [low, high] = std::minmax_element(first, last);
    for (const auto& kept : {std::min(low, high), std::max(low, high)}) {
      add(static_cast<std::size_t>(kept - y.begin()));
    }
  }
  return curve;
}

ReproduceCurve course(std::string name, const MemoryRecorder& run, const std::string& signal, Time from, Time to) {
  std::vector<double> x;
  std::vector<double> y;
  const auto& values = run.column(signal);
  for (std::size_t k = 0; k < run.times.size(); ++k) {
    if (run.times[k] < from || run.times[k] > to) continue;
    x.push_back(run.times[k]);
    y.push_back(values[k]);
  }
  return line(std::move(name), x, y);
}

ReproduceCurve curve_of(std::string name, const std::vector<double>& x, const std::function<double(double)>& value) {
  std::vector<double> y;
  y.reserve(x.size());
  for (const double at : x) y.push_back(value(at));
  return line(std::move(name), x, y);
}

ReproduceCurve printed_points(std::string name, std::vector<double> x, std::vector<double> y) {
  return {std::move(name), ReproduceMark::Printed, std::move(x), std::move(y)};
}

ReproduceCurve guide(std::string name, std::vector<double> x, std::vector<double> y) {
  return {std::move(name), ReproduceMark::Guide, std::move(x), std::move(y)};
}

ReproduceCurve order_guide(double order, const ReproduceCurve& beside) {
  const auto [low, high] = std::minmax_element(beside.x.begin(), beside.x.end());
  const double top = beside.y[static_cast<std::size_t>(high - beside.x.begin())];
  return guide(fmt::format("printed: order {:g}", order), {*low, *high}, {top * std::pow(*low / *high, order), top});
}

std::vector<double> logspace(double low, double high, int count) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) values.push_back(std::pow(10.0, low + (high - low) * k / (count - 1)));
  return values;
}

std::vector<double> linspace(double low, double high, int count) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) values.push_back(low + (high - low) * k / (count - 1));
  return values;
}

}  // namespace entrain::reproducing
