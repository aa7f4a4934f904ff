#pragma once

#include <memory>

#include "facade/advice.hpp"
#include "facade/pilot.hpp"
#include "facade/prepare.hpp"

namespace entrain {

/// Collects what can be known about the ways to run a system, then chooses.
class Adviser {
 public:
  /// Throws Error with every problem of the system.
  Adviser(const SystemDescription& description, const AdviceSettings& settings, const ModelFactory& models);
  Advice advise();

 private:
  void describe();
  void fly();
  void foretell();
  void foretell(Candidate& candidate);
  void measure_cost(Candidate& candidate);
  void compare_at_equal_cost();
  void probe();
  double steps_to_probe();
  void choose();
  void choose_step();
  void confirm_step();
  void tell_what_is_missing();
  void measure_the_best();

  SystemDescription with(const Candidate& candidate) const;
  /// A description of the first `steps` macro steps.
  SystemDescription shortened(SystemDescription description, double steps) const;
  Duration longest_imposed_step() const;

  SystemDescription description_;
  AdviceSettings settings_;
  const ModelFactory& models_;
  Prepared prepared_;  // with a method that asks for nothing: to look at
  std::vector<std::size_t> sequence_;
  Pilot pilot_;
  Advice advice_;
};

}  // namespace entrain
