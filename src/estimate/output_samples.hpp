#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/simulation.hpp"

namespace entrain::estimate {

/// The outputs of a run that are connected or recorded, at the communication times of their subsystems: those of the
/// run itself, or those of a companion at the times of the run that it meets. Nothing is interpolated.
class OutputSamples final : public Observer {
 public:
  struct Output {
    std::string name;
    std::string unit;
    base::SignalRange range = base::SignalRange::nothing();  ///< over all communication times
    double last = 0.0;
    std::size_t group = 0;   ///< its subsystem
    std::size_t column = 0;  ///< in the rows of the group
  };
  /// How regularly the outputs of a subsystem stand still: a sign of longer steps inside.
  struct Rhythm {
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;    ///< steps in which one of them moved
    std::uint64_t regular = 0;  ///< moves as many steps behind the one before as that was behind its own
    std::uint64_t latest = 0;   ///< the step of the latest move
    std::uint64_t spacing = 0;  ///< of the latest two moves, in steps

    void take(bool moved);
    /// In steps; 0 where they are no sign of steps inside.
    std::uint64_t inner_steps() const;
  };
  /// The outputs of one subsystem.
  struct Group {
    std::vector<std::size_t> outputs;   ///< into outputs()
    std::vector<std::size_t> signals;   ///< into Sample::values
    std::vector<Time> times;            ///< that are kept; of a companion: those of the run
    std::vector<double> values;         ///< a row per time; NaN where a companion was not
    std::vector<std::uint64_t> places;  ///< of the kept times among the steps; 0: kept in any case
    std::vector<Time> accepted;         ///< all of them, where the method chooses the steps
    std::vector<double> row;            ///< the latest
    std::uint64_t since_event = 0;      ///< steps since the start or the latest event
    std::size_t next = 0;               ///< of a companion: the time that it meets next
    Rhythm rhythm;
  };

  struct Options {
    std::optional<std::vector<Written<std::string>>> recorded = {};  ///< patterns of names; nullopt: all outputs
    bool chooses_steps = false;                                      ///< the method does
    bool off = false;                                                ///< keeps nothing
    std::size_t most_numbers = 8'000'000;                            ///< beyond, every second row is left out
  };
  /// Of the run.
  explicit OutputSamples(Options options) : options_(std::move(options)) {}
  /// Of a companion; borrows the samples of the run.
  explicit OutputSamples(const OutputSamples* run) : run_(run), options_(run->options_) {}

  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;

  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Group>& groups() const { return groups_; }  ///< by subsystem
  /// The values of one output, at the times of its group.
  std::vector<double> course(const Output& output) const;

 private:
  void choose(std::span<const Signal> signals, const RunSummary& summary);
  void look_at(Group& group, const Sample& sample);
  void keep(Group& group, Time t, const RunSummary& summary);
  std::optional<std::uint64_t> place_of(Group& group, Time t, const RunSummary& summary);
  void match(std::size_t subsystem, Time t);
  void leave_out_every_second();

  const OutputSamples* run_ = nullptr;
  Options options_;
  std::vector<Output> outputs_;
  std::vector<Group> groups_;
  std::uint64_t stride_ = 1;  // places that are no multiples of it are not kept
  std::size_t numbers_ = 0;   // kept
};

}  // namespace entrain::estimate
