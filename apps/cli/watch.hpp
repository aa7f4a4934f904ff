#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "entrain/envelope.hpp"
#include "entrain/simulation.hpp"

namespace entrain::cli {

/// Follows the signals named with --watch, to be shown as sparklines while the run goes on and at its end.
class Watch : public Observer {
 public:
  explicit Watch(std::vector<std::string> names) : names_(std::move(names)) {}

  /// What is wrong with the names, with suggestions; one line for each, none when all can be watched.
  std::vector<Problem> problems(std::span<const Signal> signals) const;

  /// All names must be signals.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  Needs needs() const override { return needs_; }

  /// One per name: "prey.p  ▁▂▅█▆▃  0.79  (0.46 .. 1.78)", the course shortened to fit into so many columns; none
  /// before the run began.
  std::vector<std::string> lines(std::size_t columns = kAnyWidth) const;

 private:
  struct Followed {
    std::size_t signal;
    std::size_t subsystem;
  };
  std::vector<std::string> names_;
  std::vector<std::string> units_;
  std::vector<Followed> followed_;
  std::vector<double> values_;
  std::optional<Envelope> course_;
  Needs needs_;
};

}  // namespace entrain::cli
