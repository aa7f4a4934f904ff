#pragma once

#include <chrono>
#include <string>

#include "cli/watch.hpp"
#include "entrain/simulation.hpp"

namespace entrain::cli {

/// Shows on stderr how far a run is: a bar on a terminal, else a plain line about every 10 s; with the watched signals
/// below it.
class Progress : public Observer {
 public:
  /// Borrows `watch`, which observes the run as well.
  explicit Progress(const Watch& watch);
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  void end(const RunSummary& summary) override;
  /// After the run: so much of the estimate of its error is done. 1 clears what is shown.
  void estimating(double fraction);

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::vector<std::string>& lines);
  void clear();

  const Watch& watch_;
  bool terminal_;
  std::chrono::milliseconds period_;
  unsigned calls_ = 0;
  unsigned calls_between_looks_ = 1;
  std::size_t shown_lines_ = 0;  ///< on the terminal, to be written over
  Clock::time_point began_;
  Clock::time_point last_look_;
  Clock::time_point next_update_;
};

/// "5 s", "12 min", "3.5 h"; "?" of what is not finite.
std::string duration_text(double seconds);

/// Where a run is, in numbers.
struct ProgressState {
  Time start = 0.0;
  Time stop = 0.0;
  Time now = 0.0;
  double wall_seconds = 0.0;
};
/// "[#####-----]  50 %  t = 1 / 2 s  0.5 simulated s per s  2 s left", the bar shortened to fit into so many columns
std::string progress_bar(const ProgressState& state, std::size_t columns);
/// "estimating the error:  50 %"
std::string estimate_line(double fraction);
/// "t = 1 / 2 s (50 %), 0.5 simulated s per s, 2 s left"
std::string progress_line(const ProgressState& state);

}  // namespace entrain::cli
