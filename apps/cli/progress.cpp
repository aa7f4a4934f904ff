#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/common.hpp"
#include "cli/terminal.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::chrono::milliseconds kBarPeriod{100};
constexpr std::chrono::milliseconds kLinePeriod{10'000};
constexpr unsigned kMostCallsBetweenLooks = 64;
constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kLeastBar = 4;

double part_done(const ProgressState& state) {
  const double span = state.stop - state.start;
  return span > 0.0 ? std::clamp((state.now - state.start) / span, 0.0, 1.0) : 1.0;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min", whole / 60);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

namespace {

std::string left_text(const ProgressState& state) {
  const double done = part_done(state);
  return duration_text(state.wall_seconds * (1.0 - done) / done);
}

std::string speed_text(const ProgressState& state) {
  return short_number(std::round((state.now - state.start) / state.wall_seconds * 100.0) / 100.0);
}

}  // namespace

std::string progress_bar(const ProgressState& state, std::size_t columns) {
  const double done = part_done(state);
  const auto numbers =
      fmt::format("] {:3.0f} %  t = {} / {} s  {} simulated s per s  {} left", std::floor(100.0 * done),
                  short_number(state.now), short_number(state.stop), speed_text(state), left_text(state));
  const std::size_t others = std::min(columns, numbers.size() + 1);
  const std::size_t width = std::clamp(columns - others, kLeastBar, kBarWidth);
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(width));
  return cut_to(columns, "[" + std::string(filled, '#') + std::string(width - filled, '-') + numbers);
}

std::string progress_line(const ProgressState& state) {
  return fmt::format("t = {} / {} s ({:.0f} %), {} simulated s per s, {} left", short_number(state.now),
                     short_number(state.stop), std::floor(100.0 * part_done(state)), speed_text(state),
                     left_text(state));
}

std::string estimate_line(double fraction) {
  return fmt::format("estimating the error: {:3.0f} %", std::floor(100.0 * fraction));
}

Progress::Progress(const Watch& watch)
    : watch_(watch),
      terminal_(::isatty(::fileno(error_output())) == 1),
      period_(terminal_ ? kBarPeriod : kLinePeriod) {}

void Progress::begin(std::span<const Signal>, const RunSummary&) {
  began_ = last_look_ = Clock::now();
  next_update_ = began_ + period_;
}

void Progress::communicated(const Sample& sample, const RunSummary& summary) {
  if (++calls_ < calls_between_looks_) return;
  calls_ = 0;
  const auto now = Clock::now();
  // Slow steps are looked at one by one, quick ones in batches: a look at the clock costs as much as a light step.
  const bool quick = now - last_look_ < kBarPeriod / 2;
  calls_between_looks_ = quick ? std::min(2 * calls_between_looks_, kMostCallsBetweenLooks) : 1;
  last_look_ = now;
  if (now < next_update_) return;
  next_update_ = now + period_;
  const ProgressState state{summary.start, summary.stop, sample.t, std::chrono::duration<double>(now - began_).count()};
  // The last column stays free: some terminals wrap a row that is just full.
  const std::size_t columns = terminal_ ? terminal_columns() - 1 : kAnyWidth;
  auto lines = watch_.lines(columns);
  lines.insert(lines.begin(), terminal_ ? progress_bar(state, columns) : progress_line(state));
  show(lines);
}

void Progress::estimating(double fraction) {
  const auto now = Clock::now();
  if (fraction >= 1.0) return clear();
  if (now < next_update_) return;
  next_update_ = now + period_;
  const std::size_t columns = terminal_ ? terminal_columns() - 1 : kAnyWidth;
  show({cut_to(columns, estimate_line(fraction))});
}

void Progress::show(const std::vector<std::string>& lines) {
  // Up to the first line of what was shown, and clear what a longer text left behind.
  std::string text = shown_lines_ > 0 ? fmt::format("\x1b[{}A", shown_lines_) : std::string();
  for (const auto& line : lines) text += line + (terminal_ ? "\x1b[K\n" : "\n");
  fmt::print(error_output(), "{}", text);
  std::fflush(error_output());
  shown_lines_ = terminal_ ? lines.size() : 0;
}

void Progress::end(const RunSummary&) {
  clear();
}

void Progress::clear() {
  if (shown_lines_ > 0) fmt::print(error_output(), "\x1b[{}A\x1b[J", shown_lines_);
  shown_lines_ = 0;
}

}  // namespace entrain::cli
