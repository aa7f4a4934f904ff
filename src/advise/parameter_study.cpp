#include "advise/parameter_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "advise/candidates.hpp"
#include "advise/choose_method.hpp"
#include "analysis/linearize.hpp"
#include "analysis/spectral_content.hpp"
#include "base/suggest.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {
namespace {

// Each value means to make and to linearize the system once more.
constexpr int kValues = 48;
constexpr int kMostValues = 1000;

}  // namespace

ParameterStudy::ParameterStudy(const SystemDescription& description, const Extensions& extensions,
                               const session::Prepared& prepared, const AdviceSettings& settings)
    : description_(description), extensions_(extensions), methods_(extensions), interruption_(settings.interrupt) {
  std::vector<Problem> problems;
  for (const auto& question : settings.parameters) add(question, prepared, problems);
  if (!problems.empty()) throw Error(std::move(problems));
}

void ParameterStudy::add(const ParameterQuestion& question, const session::Prepared& prepared,
                         std::vector<Problem>& problems) {
  std::vector<std::string> known;
  const SourcePosition where{"--parameter", 0, 0};
  for (std::size_t s = 0; s < prepared.system->size(); ++s) {
    for (const auto& parameter : prepared.system->variables(SubsystemId{s}).parameters) {
      const auto& subsystem = description_.subsystems[s];
      known.push_back(subsystem.name + "." + parameter.name);
      if (known.back() != question.name) continue;
      const auto written = subsystem.start.find(parameter.name);
      const Value value = written != subsystem.start.end() ? written->second.value : parameter.start.value_or(0.0);
      const auto* number = std::get_if<double>(&value);
      const auto* whole = std::get_if<std::int64_t>(&value);
      if (parameter.type != ValueType::Real || (number == nullptr && whole == nullptr)) {
        problems.push_back(problem_of(Fact{FactCode::NotReal, {question.name}}, "name a real parameter", where));
        return;
      }
      const double now = number != nullptr ? *number : static_cast<double>(*whole);
      const double low = question.low.value_or(std::min(now / kWidestFactor, now * kWidestFactor));
      const double high = question.high.value_or(std::max(now / kWidestFactor, now * kWidestFactor));
      if (!(high > low)) {
        problems.push_back(problem_of(Fact{FactCode::NoRange, {question.name}, {{"value", now}}},
                                      fmt::format("give one: --parameter {}=LOW..HIGH", question.name), where));
        return;
      }
      parameters_.push_back({s, parameter.name, now, low, high});
      return;
    }
  }
  problems.push_back(
      problem_of(Fact{FactCode::UnknownParameter, {question.name}}, suggestion(question.name, known), where));
}

std::vector<double> ParameterStudy::values() const {
  std::vector<double> result;
  for (const auto& parameter : parameters_) result.push_back(parameter.value);
  return result;
}

std::optional<analysis::RunPath> ParameterStudy::path_with(const std::vector<double>& values) const {
  interruption_.check();
  auto description = to_look_at(description_);
  description.method.value = methods_.undemanding().name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& of = parameters_[i];
    description.subsystems[of.subsystem].start[of.variable] = {values[i], {"--parameter", 0, 0}};
  }
  try {
    std::vector<Problem> problems;
    const auto prepared =
        session::prepare(description, 1, extensions_, problems, session::interruptible(interruption_.flag()));
    if (!prepared.system) return std::nullopt;
    prepared.system->engine().initialize(prepared.settings.start, prepared.settings.stop);
    auto linear = analysis::linearized(*prepared.system);
    if (!linear.network) return std::nullopt;
    analysis::RunPath path;
    path.points.push_back({prepared.settings.start, std::move(*linear.network), {}});
    return path;
  } catch (const Error&) {  // a value that the model refuses, a loop that has no solution then
    return std::nullopt;
  }
}

analysis::StabilityAt ParameterStudy::stability(const MethodConfig& config, const std::vector<std::size_t>& found,
                                                Duration step, const std::vector<double>& values) const {
  constexpr double kUnstable = 2.0;
  const auto path = path_with(values);
  if (!path) return {kUnstable};
  try {
    const double phase = analysis::SpectralContent(path->points.front().network).phase_in(step);
    const auto forecast = ConfigForecast(methods_, config, found).stability(*path, step);
    if (!forecast) return {kUnstable, phase};
    const double radius = forecast->radius;
    return {forecast->stable() ? std::min(radius, std::nextafter(1.0, 0.0)) : std::max(radius, 1.0), phase};
  } catch (const Error&) {  // a loop without solution at just this value
    return {kUnstable};
  }
}

std::vector<ParameterLimits> ParameterStudy::limits(const MethodConfig& config, const std::vector<std::size_t>& found,
                                                    Duration step) const {
  std::vector<ParameterLimits> result;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& of = parameters_[i];
    auto found_ranges = analysis::stable_ranges({of.low, of.high, kValues, kMostValues}, [&](double value) {
      auto changed = values();
      changed[i] = value;
      return stability(config, found, step, changed);
    });
    result.push_back({description_.subsystems[of.subsystem].name + "." + of.variable, of.value,
                      found_ranges.searched.low, found_ranges.searched.high, std::move(found_ranges.ranges)});
  }
  return result;
}

std::optional<double> ParameterStudy::joint_factor(const MethodConfig& config, const std::vector<std::size_t>& found,
                                                   Duration step) const {
  constexpr std::size_t kMostParameters = 5;
  if (parameters_.empty() || parameters_.size() > kMostParameters) return std::nullopt;
  if (!(stability(config, found, step, values()).radius < 1.0)) return 1.0;
  double smallest = kWidestFactor;
  // Every one up, down or as it is: with all of them changed a coupling can be stable that one of them makes unstable.
  int combinations = 1;
  for (std::size_t i = 0; i < parameters_.size(); ++i) combinations *= 3;
  for (int combination = 1; combination < combinations; ++combination) {
    smallest = analysis::first_limit({1.0, smallest, kValues, kMostValues}, [&](double factor) {
      auto changed = values();
      int rest = combination;
      for (double& value : changed) {
        value *= std::array{1.0, factor, 1.0 / factor}[static_cast<std::size_t>(rest % 3)];
        rest /= 3;
      }
      return stability(config, found, step, changed);
    });
  }
  return smallest;
}

HeatMap ParameterStudy::heat(const MethodConfig& config, const std::vector<std::size_t>& found, Duration step) const {
  constexpr int kPoints = 20;
  constexpr double kNoRadius = std::numeric_limits<double>::quiet_NaN();
  const auto axis = [&](const Parameter& of) {
    HeatMap::Axis result{description_.subsystems[of.subsystem].name + "." + of.variable, {}};
    for (int k = 0; k < kPoints; ++k) result.values.push_back(analysis::SearchRange{of.low, of.high, kPoints}.at(k));
    return result;
  };
  HeatMap map{config.title(), axis(parameters_[0]), axis(parameters_[1]), {}};
  for (const double y : map.y.values) {
    auto& row = map.radius.emplace_back();
    for (const double x : map.x.values) {
      auto changed = values();
      changed[0] = x;
      changed[1] = y;
      const auto path = path_with(changed);
      const auto stability = path ? ConfigForecast(methods_, config, found).stability(*path, step) : std::nullopt;
      row.push_back(stability ? stability->radius : kNoRadius);
    }
  }
  return map;
}

}  // namespace entrain::advising
