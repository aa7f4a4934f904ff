#include "cli/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/suggest.hpp"
#include "report/sparkline.hpp"
#include "report/text_report.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t kSparklineWidth = 48;

std::size_t place_of(const std::string& name, std::span<const Signal> signals) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name == name) return i;
    known.push_back(signals[i].name);
  }
  throw Error({Problem{fmt::format("no signal '{}' to watch", name), suggestion(name, known), {"--watch", 0, 0}}});
}

}  // namespace

void Watch::begin(std::span<const Signal> signals, const RunSummary&) {
  for (const auto& name : names_) {
    const std::size_t place = place_of(name, signals);
    followed_.push_back({place, signals[place].subsystem});
    units_.push_back(signals[place].unit);
    needs_.states = needs_.states || signals[place].causality == Causality::State;
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

std::vector<std::string> Watch::lines() const {
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
    lines.push_back(fmt::format("{:<{}}  {}  {}{}{}  ({} .. {})", names_[i], widest,
                                sparkline(*course_, i, kSparklineWidth), short_number(values_[i]),
                                units_[i].empty() ? "" : " ", units_[i], short_number(low), short_number(high)));
  }
  return lines;
}

}  // namespace entrain::cli
