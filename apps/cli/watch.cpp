#include "cli/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/sparkline.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t kSparklineWidth = 48;

constexpr std::size_t kLeastSparkline = 4;

const Signal* find(const std::string& name, std::span<const Signal> signals) {
  const auto found =
      std::find_if(signals.begin(), signals.end(), [&](const Signal& of) { return is_called(of, name); });
  return found == signals.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Problem> Watch::problems(std::span<const Signal> signals) const {
  std::vector<Problem> problems;
  std::vector<std::string> known;
  for (const auto& signal : signals) known.push_back(signal.name);
  for (const auto& name : names_) {
    const auto* signal = find(name, signals);
    if (signal == nullptr) {
      problems.push_back(problem_of(Fact{FactCode::UnknownSignal, {name}}, suggestion(name, known), {"--watch", 0, 0}));
    } else if (signal->type == ValueType::String || signal->type == ValueType::Binary) {
      problems.push_back(problem_of(Fact{FactCode::NotWatchable, {name}}, "", {"--watch", 0, 0}));
    }
  }
  return problems;
}

void Watch::begin(std::span<const Signal> signals, const RunSummary&) {
  for (const auto& name : names_) {
    const auto* signal = find(name, signals);
    followed_.push_back({static_cast<std::size_t>(signal - signals.data()), signal->subsystem});
    units_.push_back(signal->unit);
    needs_.add(*signal, followed_.back().signal);
  }
  values_.assign(names_.size(), std::numeric_limits<double>::quiet_NaN());
  course_.emplace(names_.size(), 2 * kSparklineWidth);
}

void Watch::communicated(const Sample& sample, const RunSummary&) {
  for (std::size_t i = 0; i < followed_.size(); ++i) {
    if (sample.communicated.empty() || sample.communicated[followed_[i].subsystem] != 0) {
      values_[i] = sample.values[followed_[i].signal];
    }
  }
  course_->add(sample.t, values_);
}

std::vector<std::string> Watch::lines(std::size_t columns) const {
  std::vector<std::string> lines;
  if (!course_) return lines;
  std::size_t widest = 0;
  for (const auto& name : names_) widest = std::max(widest, name.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = low;
    for (std::size_t span = 0; span < course_->size(); ++span) {
      low = std::fmin(low, course_->low(span, i));
      high = std::fmax(high, course_->high(span, i));
    }
    const auto name = fmt::format("{:<{}}  ", names_[i], widest);
    const auto values = fmt::format("  {}{}{}  ({} .. {})", short_number(values_[i]), units_[i].empty() ? "" : " ",
                                    units_[i], short_number(low), short_number(high));
    const std::size_t others = std::min(columns, columns_of(name) + columns_of(values));
    const std::size_t width = std::clamp(columns - others, kLeastSparkline, kSparklineWidth);
    lines.push_back(cut_to(columns, name + sparkline(*course_, i, width) + values));
  }
  return lines;
}

}  // namespace entrain::cli
