#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entrain/simulation.hpp"
#include "results/envelope.hpp"

namespace entrain::cli {

/// Follows the signals named with --watch, to be shown as sparklines while the run goes on and at its end.
class Watch : public Observer {
 public:
  explicit Watch(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Throws Error{InvalidSystem} with a suggestion for a name that is no signal.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  Needs needs() const override { return needs_; }

  /// One per name: "prey.p  ▁▂▅█▆▃  0.79  (0.46 .. 1.78)"; none before the run began.
  std::vector<std::string> lines() const;

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
