#include "report/steps_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

/// Four digits are enough for a chart; whole numbers stay whole.
Json rounded(double value) {
  constexpr double kMostWhole = 1e9;
  if (std::abs(value) < kMostWhole && value == std::floor(value)) return static_cast<std::int64_t>(value);
  const auto text = fmt::format("{:.4g}", value);
  double result = value;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), result);  // whatever the locale is
  const bool is_beyond = read.ec == std::errc::result_out_of_range;  // rounded beyond the largest number
  return is_beyond ? std::copysign(std::numeric_limits<double>::infinity(), value) : result;
}

Json times_of(const Envelope& envelope) {
  Json times = Json::array();
  for (std::size_t span = 0; span < envelope.size(); ++span) times.push_back(envelope.time(span));
  return times;
}

void add_course(Json& entry, Json low, Json high) {
  const bool differs = low != high;
  entry["low"] = std::move(low);
  if (differs) entry["high"] = std::move(high);
}

Json channel_of(const recording::StepHistory& history, std::size_t channel) {
  const Envelope& steps = history.steps();
  Json low = Json::array();
  Json high = Json::array();
  for (std::size_t span = 0; span < steps.size(); ++span) {
    low.push_back(rounded(steps.low(span, channel)));
    high.push_back(rounded(steps.high(span, channel)));
  }
  Json entry{{"name", history.channels()[channel].name}, {"unit", history.channels()[channel].unit}};
  add_course(entry, std::move(low), std::move(high));
  return entry;
}

/// The largest one of each span, of the connections with the largest ones: {"name", "high"} in the order of size.
Json residuals_of(const recording::StepHistory& history, const RunSummary& summary) {
  constexpr std::size_t kMostShown = 12;
  const Envelope& differences = history.differences();
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < differences.channels(); ++c) {
    if (summary.connections[c].max_residual > 0.0) order.push_back(c);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return summary.connections[a].max_residual > summary.connections[b].max_residual;
  });
  if (order.size() > kMostShown) order.resize(kMostShown);
  Json list = Json::array();
  for (const std::size_t c : order) {
    Json high = Json::array();
    for (std::size_t span = 0; span < differences.size(); ++span) {
      const double largest = differences.high(span, c) / summary.connections[c].range;
      high.push_back(std::isfinite(largest) ? rounded(largest) : Json());
    }
    list.push_back({{"name", summary.connections[c].name}, {"high", std::move(high)}});
  }
  return list;
}

Json residual_of(const recording::StepHistory& history, const RunSummary& summary) {
  const Envelope& differences = history.differences();
  Json low = Json::array();
  Json high = Json::array();
  for (std::size_t span = 0; span < differences.size(); ++span) {
    double lowest = 0.0;
    double highest = 0.0;
    for (std::size_t c = 0; c < differences.channels(); ++c) {
      const double range = summary.connections[c].range;
      if (!(differences.high(span, c) > 0.0)) continue;  // exact, or no subsystem communicated
      lowest = std::max(lowest, differences.low(span, c) / range);
      highest = std::max(highest, differences.high(span, c) / range);
    }
    low.push_back(rounded(lowest));
    high.push_back(rounded(highest));
  }
  const auto usual = usual_residual(history, summary);
  Json entry{{"name", "residual"},
             {"unit", ""},
             {"usual", rounded(usual.size)},
             {"usual_connection", usual.connection},
             {"time", times_of(differences)}};
  add_course(entry, std::move(low), std::move(high));
  if (auto parts = residuals_of(history, summary); !parts.empty()) entry["connections"] = std::move(parts);
  return entry;
}

/// Of a paced run: what each macro step took beside its deadline.
void add_pacing(Json& channels, const PacingSummary& pacing) {
  std::size_t channel = 0;
  for (const char* name : {"pacing:latency", "pacing:computing", "pacing:slack"}) {
    Json low = Json::array();
    Json high = Json::array();
    for (std::size_t span = 0; span < pacing.track.size(); ++span) {
      low.push_back(rounded(pacing.track.low(span, channel)));
      high.push_back(rounded(pacing.track.high(span, channel)));
    }
    Json entry{{"name", name}, {"unit", "s"}, {"time", times_of(pacing.track)}};
    add_course(entry, std::move(low), std::move(high));
    channels.push_back(std::move(entry));
    ++channel;
  }
}

}  // namespace

UsualResidual usual_residual(const recording::StepHistory& history, const RunSummary& summary) {
  UsualResidual usual;
  for (std::size_t c = 0; c < summary.connections.size(); ++c) {
    const double size = history.difference_counts().quantile(c, kUsualPart) / summary.connections[c].range;
    if (size > usual.size) usual = {size, summary.connections[c].name};
  }
  usual.size = std::min(usual.size, summary.max_coupling_residual);  // the quantile is exact to the octave only
  return usual;
}

std::string steps_json(const recording::StepHistory& history, const RunSummary& summary) {
  Json channels = Json::array();
  for (std::size_t c = 0; c < history.channels().size(); ++c) channels.push_back(channel_of(history, c));
  if (history.differences().channels() > 0) channels.push_back(residual_of(history, summary));
  if (summary.pacing) add_pacing(channels, *summary.pacing);
  const Json json{{"steps", history.steps().samples()},
                  {"steps_per_point", history.steps().samples_per_span()},
                  {"time", times_of(history.steps())},
                  {"channels", std::move(channels)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string timeline_json(const std::vector<TimedCall>& calls, const RunSummary& summary) {
  const auto microseconds = [](double seconds) {
    constexpr double kPerSecond = 1e9;  // clocks count nanoseconds
    constexpr double kPerMicrosecond = 1e3;
    return std::round(seconds * kPerSecond) / kPerMicrosecond;
  };
  Json names = Json::array();
  for (const auto& subsystem : summary.subsystems) names.push_back(subsystem.name);
  Json rows = Json::array();
  for (const auto& call : calls) {
    rows.push_back({call.subsystem, call.batch, call.trial ? 1 : 0, call.from, rounded(call.size),
                    microseconds(call.begun), microseconds(call.ended)});
  }
  const Json json{{"subsystems", std::move(names)}, {"calls", std::move(rows)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace entrain::reporting
