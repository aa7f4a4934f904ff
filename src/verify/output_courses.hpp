#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "entrain/simulation.hpp"

namespace entrain::verifying {

/// The outputs of a run that are real numbers: at its own communication times, or at those of another run, between its
/// own by cubics. A cubic needs nothing of the subsystems, and its error falls faster than that of a coupling.
class OutputCourses : public Observer {
 public:
  /// `first`: the run whose times are wanted, of the same system; it must outlive the end of this run.
  explicit OutputCourses(const OutputCourses* first = nullptr) : first_(first) {}

  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  void end(const RunSummary& summary) override;

  struct Course {
    std::string name;
    std::string unit;
    std::vector<double> values;  ///< one per wanted time of its subsystem; NaN where the run knows nothing
  };
  std::vector<Course> outputs;

  /// Of the first run: where the subsystem communicated.
  const std::vector<Time>& times_of(std::size_t subsystem) const { return groups_[subsystem].times; }
  std::size_t subsystems() const { return groups_.size(); }

 private:
  struct Knot {
    Time t = 0.0;
    std::vector<double> values;  // of the outputs of one subsystem
  };
  /// The outputs of one subsystem, and its latest communication times.
  struct Group {
    std::vector<std::size_t> outputs;
    std::vector<std::size_t> signals;
    std::vector<Time> times;  // communicated at; of the first run only
    std::size_t next = 0;     // of the times wanted
    std::array<Knot, 4> knots;
    std::size_t known = 0;
  };
  static void add_knot(Group& group, const Sample& sample);
  static std::array<double, 4> weights_at(Time t, const Group& group, std::size_t begin, std::size_t end);
  static bool jumps(const Group& group, std::size_t left, std::size_t output);
  static double before_the_jump(Time t, const Group& group, std::size_t left, std::size_t output);
  /// The wanted times up to `until`, which lie between the knots `left` and left + 1 or before.
  void fill(std::size_t subsystem, Time until, std::size_t left);

  const OutputCourses* first_;
  std::vector<Group> groups_;  // by subsystem
};

}  // namespace entrain::verifying
