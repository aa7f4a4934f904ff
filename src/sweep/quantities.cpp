#include "sweep/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/grid.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/text.hpp"
#include "record/selection.hpp"
#include "sweep/sampling.hpp"

namespace entrain::sweeping {

void SignalMeasures::add(Time t, double value) {
  if (!any) {
    start = latest = t;
    last = value;
    any = true;
  }
  const double size = t - latest;
  integral += 0.5 * size * (last + value);
  square += size * (last * last + last * value + value * value) / 3.0;  // of the straight line between them
  min = std::min(min, value);
  max = std::max(max, value);
  last = value;
  latest = t;
}

double SignalMeasures::measure(const std::string& name) const {
  if (!any) return std::numeric_limits<double>::quiet_NaN();
  const double length = latest - start;
  if (name == "last") return last;
  if (name == "min") return min;
  if (name == "max") return max;
  if (name == "mean") return length > 0.0 ? integral / length : last;
  return length > 0.0 ? std::sqrt(std::max(0.0, square / length)) : std::abs(last);
}

struct Expression::Term {
  char kind = 'n';  // n: number, m: measure, or an operator
  double number = 0.0;
  std::string measure, signal;
  std::unique_ptr<Term> left, right;
};

namespace {

using Term = Expression::Term;

/// Recursive descent over + - * / ( ) numbers and measures.
class QuantityParser {
 public:
  explicit QuantityParser(const std::string& text) : text_(text) {}

  std::unique_ptr<Term> parse(std::string& why) {
    auto node = sum();
    skip();
    if (why_.empty() && at_ < text_.size()) fail(fmt::format("'{}' is left over", text_.substr(at_)));
    why = why_;
    return node;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::unique_ptr<Term> fail(const std::string& why) {
    if (why_.empty()) why_ = why;
    return std::make_unique<Term>();
  }
  static std::unique_ptr<Term> joined(char kind, std::unique_ptr<Term> left, std::unique_ptr<Term> right) {
    auto node = std::make_unique<Term>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }
  std::unique_ptr<Term> sum() {
    auto node = product();
    for (;;) {
      if (take('+')) {
        node = joined('+', std::move(node), product());
      } else if (take('-')) {
        node = joined('-', std::move(node), product());
      } else {
        return node;
      }
    }
  }
  std::unique_ptr<Term> product() {
    auto node = factor();
    for (;;) {
      if (take('*')) {
        node = joined('*', std::move(node), factor());
      } else if (take('/')) {
        node = joined('/', std::move(node), factor());
      } else {
        return node;
      }
    }
  }
  std::unique_ptr<Term> factor() {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) return fail("it is nested too deeply");
    auto node = one();
    --depth_;
    return node;
  }
  std::unique_ptr<Term> one() {
    skip();
    if (take('-')) return joined('-', std::make_unique<Term>(), factor());
    if (take('(')) {
      auto node = sum();
      return take(')') ? std::move(node) : fail("a parenthesis is not closed");
    }
    auto node = std::make_unique<Term>();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->number);
    if (error == std::errc()) {
      at_ = static_cast<std::size_t>(end - text_.data());
      return node;
    }
    const auto open = text_.find('(', at_);
    const auto close = text_.find(')', at_);
    if (open == std::string::npos || close == std::string::npos || close < open)
      return fail(fmt::format("'{}' is no number and no measure of a signal", text_.substr(at_)));
    node->kind = 'm';
    node->measure = text_.substr(at_, open - at_);
    node->signal = text_.substr(open + 1, close - open - 1);
    at_ = close + 1;
    if (std::find(kMeasures.begin(), kMeasures.end(), node->measure) == kMeasures.end())
      return fail(fmt::format("'{}' is none of last, min, max, mean, rms", node->measure));
    return node;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string why_;
};

double value_of(const Term& node, const std::function<double(const std::string&, const std::string&)>& of) {
  if (node.kind == 'n') return node.number;
  if (node.kind == 'm') return of(node.measure, node.signal);
  const double left = value_of(*node.left, of);
  const double right = value_of(*node.right, of);
  return node.kind == '+'   ? left + right
         : node.kind == '-' ? left - right
         : node.kind == '*' ? left * right
                            : left / right;
}

void add_signals(const Term& node, std::vector<std::string>& names) {
  if (node.kind == 'm' && std::find(names.begin(), names.end(), node.signal) == names.end())
    names.push_back(node.signal);
  if (node.left) add_signals(*node.left, names);
  if (node.right) add_signals(*node.right, names);
}

void add_measures(const Term& node, std::vector<std::pair<std::string, std::string>>& measures) {
  const std::pair own{node.measure, node.signal};
  if (node.kind == 'm' && std::find(measures.begin(), measures.end(), own) == measures.end()) measures.push_back(own);
  if (node.left) add_measures(*node.left, measures);
  if (node.right) add_measures(*node.right, measures);
}

/// Empty, or why no column of the table can have this name.
std::string wrong_name(const std::string& name, const std::vector<std::string>& taken) {
  constexpr std::array kReserved{"case", "termination", "grade", "seconds", "message", "completed", "times", "time"};
  if (name.empty()) return "it has no name";
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() || name.starts_with("error of ") ||
      name.starts_with("course of "))
    return "another column of the table has this name";
  return std::find(taken.begin(), taken.end(), name) == taken.end() ? "" : "what varies has this name";
}

}  // namespace

Expression::Expression() = default;
Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

std::string Expression::read(const std::string& text) {
  std::string why;
  root_ = QuantityParser(text).parse(why);
  return why;
}

std::vector<std::string> Expression::signals() const {
  std::vector<std::string> names;
  add_signals(*root_, names);
  return names;
}

double Expression::value(const Measure& of) const {
  return value_of(*root_, of);
}

double Expression::error(const Measure& of, const Measure& error_of) const {
  std::vector<std::pair<std::string, std::string>> measures;
  add_measures(*root_, measures);
  const double exact = value(of);
  double sum = 0.0;
  for (const auto& changed : measures) {
    const double other = value([&](const std::string& measure, const std::string& signal) {
      const bool is_changed = changed.first == measure && changed.second == signal;
      return of(measure, signal) + (is_changed ? error_of(measure, signal) : 0.0);
    });
    sum += std::abs(other - exact);
  }
  return sum;
}

std::vector<Quantity> read_quantities(const std::vector<Written<std::string>>& written, std::span<const Signal> signals,
                                      const std::vector<std::string>& taken, std::vector<Problem>& problems) {
  std::vector<Quantity> found;
  const auto is_known = [&](const std::string& name) {
    return std::any_of(signals.begin(), signals.end(), [&](const Signal& signal) { return signal.name == name; });
  };
  const auto add = [&](std::string name, const std::string& text, const SourcePosition& where) {
    Quantity quantity{std::move(name), text, {}};
    const auto twice =
        std::find_if(found.begin(), found.end(), [&](const Quantity& each) { return each.name == quantity.name; });
    if (twice != found.end() && quantity.name == text) return;  // a signal and a pattern that it matches
    if (twice != found.end()) {
      problems.push_back(
          problem_of(Fact{FactCode::SweepExpressionWrong, {quantity.name}, {{"why", "it is there twice"}}}, "", where));
      return;
    }
    if (const auto why = wrong_name(quantity.name, taken); !why.empty()) {
      problems.push_back(problem_of(Fact{FactCode::SweepExpressionWrong, {quantity.name}, {{"why", why}}}, "", where));
      return;
    }
    if (const auto why = quantity.expression.read(text); !why.empty()) {
      problems.push_back(problem_of(Fact{FactCode::SweepExpressionWrong, {quantity.name}, {{"why", why}}}, "", where));
      return;
    }
    for (const auto& signal : quantity.expression.signals()) {
      if (is_known(signal)) continue;
      std::vector<std::string> names;
      for (const auto& each : signals) names.push_back(each.name);
      problems.push_back(problem_of(Fact{FactCode::SweepQuantityUnknown, {signal}}, suggestion(signal, names), where));
    }
    found.push_back(std::move(quantity));
  };
  const auto add_all_measures = [&](const std::string& signal, const SourcePosition& where) {
    for (const char* measure : kMeasures) {
      const auto name = fmt::format("{}({})", measure, signal);
      add(name, name, where);
    }
  };
  for (const auto& [text, where] : written) {
    const auto equals = text.find('=');
    if (equals != std::string::npos) {
      add(trimmed(text.substr(0, equals)), text.substr(equals + 1), where);
    } else if (text.find('(') != std::string::npos) {
      add(trimmed(text), text, where);
    } else {
      try {
        const std::vector<Written<std::string>> pattern{{text, where}};
        for (const auto index : recording::select_signals(signals, pattern))
          add_all_measures(signals[index].name, where);
      } catch (const Error& error) {
        problems.insert(problems.end(), error.problems().begin(), error.problems().end());
      }
    }
  }
  if (written.empty()) {
    for (const auto index : recording::select_signals(signals, std::nullopt)) add_all_measures(signals[index].name, {});
  }
  return found;
}

std::vector<std::string> signals_of(const std::vector<Quantity>& quantities) {
  std::vector<std::string> names;
  for (const auto& quantity : quantities) {
    for (auto& name : quantity.expression.signals()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

void QuantityObserver::begin(std::span<const Signal> signals, const RunSummary&) {
  measured_.clear();
  needs_ = {};
  for (const auto& name : signals_of(quantities_)) {
    const auto signal = std::find_if(signals.begin(), signals.end(), [&](const Signal& of) { return of.name == name; });
    if (signal == signals.end()) continue;
    const auto index = static_cast<std::size_t>(signal - signals.begin());
    measured_.push_back({name, index, signal->subsystem, {}, {}});
    measured_.back().course.reserve(times_.size());
    needs_.add(*signal, index);
  }
}

void QuantityObserver::communicated(const Sample& sample, const RunSummary&) {
  for (auto& of : measured_) {
    if (sample.communicated[of.subsystem] == 0) continue;
    const double value = sample.values[of.signal];
    continue_course(of, sample.t, value);
    of.measures.add(sample.t, value);
  }
}

void QuantityObserver::continue_course(Measured& of, Time t, double value) const {
  const SignalMeasures& before = of.measures;
  while (of.course.size() < times_.size() && base::reached(t, times_[of.course.size()])) {
    const Time wanted = times_[of.course.size()];
    const double share =
        before.any && t > before.latest ? std::min(1.0, (wanted - before.latest) / (t - before.latest)) : 1.0;
    of.course.push_back(before.any ? before.last + share * (value - before.last) : value);
  }
}

double QuantityObserver::measure(const std::string& measure, const std::string& signal) const {
  const auto found =
      std::find_if(measured_.begin(), measured_.end(), [&](const Measured& each) { return each.name == signal; });
  return found == measured_.end() ? std::numeric_limits<double>::quiet_NaN() : found->measures.measure(measure);
}

std::vector<double> QuantityObserver::values() const {
  std::vector<double> values;
  const auto of = [this](const std::string& name, const std::string& signal) { return measure(name, signal); };
  for (const auto& quantity : quantities_) values.push_back(quantity.expression.value(of));
  return values;
}

std::vector<double> QuantityObserver::errors(const Expression::Measure& error_of) const {
  std::vector<double> errors;
  const auto of = [this](const std::string& name, const std::string& signal) { return measure(name, signal); };
  for (const auto& quantity : quantities_) errors.push_back(quantity.expression.error(of, error_of));
  return errors;
}

std::vector<double> QuantityObserver::courses() const {
  std::vector<double> values;
  for (const auto& of : measured_) {
    values.insert(values.end(), of.course.begin(), of.course.end());
    values.resize(values.size() + times_.size() - of.course.size(), std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

}  // namespace entrain::sweeping
