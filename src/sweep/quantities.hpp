#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "entrain/simulation.hpp"

namespace entrain::sweeping {

/// What is kept of a signal over a run; mean and rms are over time, between communication times linear.
struct SignalMeasures {
  double last = std::numeric_limits<double>::quiet_NaN();
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double integral = 0.0, square = 0.0;
  Time start = 0.0, latest = 0.0;
  bool any = false;

  void add(Time t, double value);
  double measure(const std::string& name) const;
};
inline constexpr std::array<const char*, 5> kMeasures{"last", "min", "max", "mean", "rms"};

/// "max(motor.w) - 2 * last(motor.w)": numbers, + - * / and parentheses over measures of signals.
class Expression {
 public:
  struct Term;
  Expression();
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  /// Empty, or why the text is none.
  std::string read(const std::string& text);
  /// Signals that it measures.
  std::vector<std::string> signals() const;
  using Measure = std::function<double(const std::string& measure, const std::string& signal)>;
  double value(const Measure& of) const;
  /// By how much the value changes when every measure changes by its own error, one after the other, as a sum of
  /// magnitudes. NaN as soon as one is.
  double error(const Measure& of, const Measure& error_of) const;

 private:
  std::unique_ptr<Term> root_;
};

/// One column of the table.
struct Quantity {
  std::string name;
  std::string text;
  Expression expression;
};

/// Of what is written: a signal or a pattern gives its five measures, the rest one column each. `taken`: names of other
/// columns. Adds problems.
std::vector<Quantity> read_quantities(const std::vector<Written<std::string>>& written, std::span<const Signal> signals,
                                      const std::vector<std::string>& taken, std::vector<Problem>& problems);

/// Signals that the quantities are taken of, each once.
std::vector<std::string> signals_of(const std::vector<Quantity>& quantities);

/// Measures all signals that the quantities need, and keeps their values at `times` (ascending; may be empty).
class QuantityObserver final : public Observer {
 public:
  QuantityObserver(const std::vector<Quantity>& quantities, std::span<const double> times)
      : quantities_(quantities), times_(times) {}
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  Needs needs() const override { return needs_; }
  std::vector<double> values() const;
  /// Of every quantity, from that of the measures of signals.
  std::vector<double> errors(const Expression::Measure& error_of) const;
  /// By signal, then by time; linear between communication times. NaN beyond the end of the run.
  std::vector<double> courses() const;

 private:
  struct Measured {
    std::string name;
    std::size_t signal = 0;
    std::size_t subsystem = 0;
    SignalMeasures measures;
    std::vector<double> course;
  };
  double measure(const std::string& measure, const std::string& signal) const;
  void continue_course(Measured& of, Time t, double value) const;

  const std::vector<Quantity>& quantities_;
  std::span<const double> times_;
  std::vector<Measured> measured_;
  Needs needs_;
};

}  // namespace entrain::sweeping
