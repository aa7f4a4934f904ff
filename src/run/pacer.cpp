#include "run/pacer.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class MonotonicClock final : public WallClock {
 public:
  std::int64_t now() noexcept override {
    timespec at{};
    ::clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * kSecond + at.tv_nsec;
  }
  void sleep_until(std::int64_t instant) noexcept override {
    const timespec at{instant / kSecond, instant % kSecond};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
};

}  // namespace

WallClock& monotonic_clock() noexcept {
  static MonotonicClock clock;
  return clock;
}

}  // namespace entrain

namespace entrain::running {
namespace {

/// Between two looks at a request to end.
constexpr std::int64_t kLongestSleep = kSecond / 20;

double seconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

TimingQuantiles quantiles_of(const DurationCounts& counts) {
  return {counts.quantile(0.5), counts.quantile(0.9), counts.quantile(0.99), counts.quantile(0.999),
          seconds(counts.most())};
}

}  // namespace

Pacer::Pacer(const RealTimeOptions& options, std::function<bool()> interrupted)
    : options_(options),
      interrupted_(std::move(interrupted)),
      clock_(options.clock == nullptr ? &monotonic_clock() : options.clock) {
  summary_.factor = options.factor;
  summary_.overrun = options.overrun;
}

std::int64_t Pacer::instant_of(Time t) const {
  return origin_ + std::llround((t - start_) / options_.factor * static_cast<double>(kSecond));
}

void Pacer::before_step(Time t) {
  if (!begun_) {
    if (options_.priority && !priority_) {
      priority_ = std::make_unique<ThreadPriority>();
      granted_ = priority_->granted();
    }
    begun_ = true;
    start_ = t;
    origin_ = clock_->now();
  }
  wait_until(instant_of(t));
}

void Pacer::wait_until(std::int64_t due) {
  std::int64_t now = clock_->now();
  const bool waits = now < due;
  while (now < due && !interrupted_()) {
    clock_->sleep_until(std::min(due, now + kLongestSleep));
    now = clock_->now();
  }
  last_latency_ = std::max<std::int64_t>(0, now - due);
  if (waits && now >= due) latency_.add(last_latency_);
  step_began_ = now;
}

void Pacer::after_step(Time from, Time to) {
  const std::int64_t now = clock_->now();
  const std::int64_t deadline = instant_of(to);
  const std::int64_t slack = deadline - now;
  const std::int64_t took = now - step_began_;
  computing_.add(took);
  (slack < 0 ? overrun_ : slack_).add(std::abs(slack));
  least_slack_ = summary_.steps == 0 ? slack : std::min(least_slack_, slack);
  ++summary_.steps;
  const double values[] = {seconds(last_latency_), seconds(took), seconds(slack)};
  summary_.track.add(to, values);
  if (slack < 0) miss(to, -slack, deadline - instant_of(from));
}

void Pacer::miss(Time to, std::int64_t late, std::int64_t period) {
  ++summary_.missed;
  if (seconds(late) > summary_.worst_overrun) {
    summary_.worst_overrun = seconds(late);
    summary_.worst_time = to;
  }
  if (options_.overrun == OverrunRule::Stop) {
    throw Error(ErrorCode::SolverFailed,
                {FactCode::OverrunStopped, {}, {{"time", to, "s"}, {"late", seconds(late), "s"}}},
                {.subsystem = {},
                 .variable = {},
                 .time = to,
                 .remedy = "Use a larger step, a smaller factor or overrun = \"catch-up\""});
  }
  if (options_.overrun != OverrunRule::Skip || period <= 0) return;
  const std::int64_t periods = (late + period - 1) / period;
  origin_ += periods * period;
  summary_.behind += seconds(periods * period);
  summary_.skipped_periods += static_cast<std::uint64_t>(periods);
}

void Pacer::shift(std::int64_t nanoseconds) {
  if (!begun_) return;
  origin_ += nanoseconds;
  summary_.behind += seconds(nanoseconds);
}

PacingSummary Pacer::summary() const {
  PacingSummary summary = summary_;
  summary.latency = quantiles_of(latency_);
  summary.computing = quantiles_of(computing_);
  summary.least_slack = seconds(least_slack_);
  // Of a signed quantity: overruns come first, the longest before all.
  const double half = 0.5 * static_cast<double>(summary_.steps);
  const auto overruns = static_cast<double>(overrun_.total());
  if (overruns > half) {
    summary.median_slack = -overrun_.quantile(1.0 - half / overruns);
  } else if (slack_.total() > 0) {
    summary.median_slack = slack_.quantile((half - overruns) / static_cast<double>(slack_.total()));
  }
  computing_.read_histogram(summary.histogram_limits, summary.histogram_counts);
  return summary;
}

std::optional<Fact> Pacer::granted_priority() const {
  return granted_;
}

}  // namespace entrain::running
