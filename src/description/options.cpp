#include "entrain/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/suggest.hpp"
#include "description/renamed_keys.hpp"
#include "description/toml_text.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

bool within(double value, OptionBinder::Limits limits) {
  return value >= limits.min && value <= limits.max;
}

/// "between 0 and 3", "at least 0", "at most 3"
std::string range_text(OptionBinder::Limits limits) {
  if (std::isinf(limits.min) && std::isinf(limits.max)) return "a number";
  if (std::isinf(limits.max)) return fmt::format("at least {}", limits.min);
  if (std::isinf(limits.min)) return fmt::format("at most {}", limits.max);
  return fmt::format("between {} and {}", limits.min, limits.max);
}

class OptionReader final : public OptionBinder {
 public:
  OptionReader(const WrittenOptions& written, std::string_view owner, std::vector<Problem>& problems)
      : written_(written), owner_(owner), problems_(problems) {}

  void number(std::string_view name, double& field, std::string_view, Limits limits) override {
    const auto* written = find(name);
    if (written == nullptr) return;
    double value = 0.0;
    if (const auto* number = std::get_if<double>(&written->value)) {
      value = *number;
    } else if (const auto* integer = std::get_if<std::int64_t>(&written->value)) {
      value = static_cast<double>(*integer);
    } else {
      return add_wrong_type(name, *written, "a number");
    }
    if (check_limits(name, *written, value, limits)) field = value;
  }

  void integer(std::string_view name, int& field, std::string_view, Limits limits) override {
    const auto* written = find(name);
    if (written == nullptr) return;
    const auto* value = std::get_if<std::int64_t>(&written->value);
    if (value == nullptr) return add_wrong_type(name, *written, "an integer");
    constexpr Limits kInt{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
    const bool fits = check_limits(name, *written, *value, limits) && check_limits(name, *written, *value, kInt);
    if (fits) field = static_cast<int>(*value);
  }

  void boolean(std::string_view name, bool& field, std::string_view) override {
    if (const auto* written = find(name)) assign(name, *written, field, "true or false");
  }

  void names(std::string_view name, std::vector<std::string>& field, std::string_view) override {
    if (const auto* written = find(name)) assign(name, *written, field, "a list of names");
  }

  void list(std::string_view name, std::vector<double>& field, std::string_view, Limits limits) override {
    const auto* written = find(name);
    if (written == nullptr) return;
    std::vector<double> values;
    if (!assign(name, *written, values, "a list of numbers")) return;
    const bool all_fit = std::all_of(values.begin(), values.end(),
                                     [&](double value) { return check_limits(name, *written, value, limits); });
    if (all_fit) field = std::move(values);
  }

  void numbers(std::string_view name, std::map<std::string, double>& field, std::string_view, Limits limits) override {
    const auto* written = find(name);
    if (written == nullptr) return;
    std::map<std::string, double> values;
    if (!assign(name, *written, values, "a table of numbers")) return;
    bool all_fit = true;
    for (const auto& [key, value] : values)
      all_fit = check_limits(fmt::format("{}.\"{}\"", name, key), *written, value, limits) && all_fit;
    if (all_fit) field = std::move(values);
  }

  void add_unknown() {
    for (const auto& [name, written] : written_) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      if (auto renamed = description::renamed_key(owner_, name, written.value, known_))
        add(written, std::move(renamed->fact), std::move(renamed->remedy));
      else
        add(written, Fact{FactCode::UnknownOption, {name}, {{"owner", owner_}}}, suggestion(name, known_));
    }
  }

 private:
  void word(std::string_view name, std::string_view& field, std::string_view,
            std::span<const std::string_view> words) override {
    const auto* written = find(name);
    if (written == nullptr) return;
    std::string value;
    if (!assign(name, *written, value, "a string")) return;
    const auto known = std::find(words.begin(), words.end(), value);
    if (known != words.end()) {
      field = *known;
      return;
    }
    const auto meant = base::nearest(value, {words.begin(), words.end()});
    add(*written,
        Fact{FactCode::WordUnknown,
             {option(name)},
             {{"words", fmt::format("{}", fmt::join(words, " | "))}, {"value", value}}},
        meant ? fmt::format("did you mean '{}'?", *meant) : "");
  }

  const Written<OptionValue>* find(std::string_view name) {
    known_.emplace_back(name);
    const auto found_option = written_.find(known_.back());
    return found_option == written_.end() ? nullptr : &found_option->second;
  }

  void add(const Written<OptionValue>& written, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), written.where));
  }

  std::string option(std::string_view name) const { return fmt::format("{}.{}", owner_, name); }

  void add_wrong_type(std::string_view name, const Written<OptionValue>& written, std::string_view expected) {
    add(written, Fact{FactCode::WrongType,
                      {option(name)},
                      {{"expected", expected}, {"found", description::found(written.value)}}});
  }

  template <class T>
  bool assign(std::string_view name, const Written<OptionValue>& written, T& field, std::string_view expected) {
    if (const auto* value = std::get_if<T>(&written.value)) {
      field = *value;
      return true;
    }
    add_wrong_type(name, written, expected);
    return false;
  }

  /// The value comes as it was written, so that the message shows an integer as one.
  template <class Number>
  bool check_limits(std::string_view name, const Written<OptionValue>& written, Number value, Limits limits) {
    if (within(static_cast<double>(value), limits)) return true;
    add(written, Fact{FactCode::OutOfRange, {option(name)}, {{"range", range_text(limits)}, {"value", value}}});
    return false;
  }

  const WrittenOptions& written_;
  std::string owner_;
  std::vector<Problem>& problems_;
  std::vector<std::string> known_;
};

class Collector final : public OptionBinder {
 public:
  std::map<std::string, OptionValue> options;

  void number(std::string_view name, double& field, std::string_view, Limits) override { add(name, field); }
  void integer(std::string_view name, int& field, std::string_view, Limits) override { add(name, std::int64_t{field}); }
  void boolean(std::string_view name, bool& field, std::string_view) override { add(name, field); }
  void names(std::string_view name, std::vector<std::string>& field, std::string_view) override { add(name, field); }
  void list(std::string_view name, std::vector<double>& field, std::string_view, Limits) override { add(name, field); }
  void numbers(std::string_view name, std::map<std::string, double>& field, std::string_view, Limits) override {
    add(name, field);
  }

 private:
  void word(std::string_view name, std::string_view& field, std::string_view,
            std::span<const std::string_view>) override {
    add(name, std::string(field));
  }
  void add(std::string_view name, OptionValue value) { options[std::string(name)] = std::move(value); }
};

class Describer final : public OptionBinder {
 public:
  std::vector<OptionHelp> descriptions;

  void number(std::string_view name, double& field, std::string_view help, Limits limits) override {
    add(name, "number", description::toml_text(field), with_limits(help, limits));
  }
  void integer(std::string_view name, int& field, std::string_view help, Limits limits) override {
    add(name, "integer", std::to_string(field), with_limits(help, limits));
  }
  void boolean(std::string_view name, bool& field, std::string_view help) override {
    add(name, "boolean", description::toml_text(OptionValue(field)), help);
  }
  void names(std::string_view name, std::vector<std::string>& field, std::string_view help) override {
    add(name, "list of names", description::toml_text(OptionValue(field)), help);
  }
  void list(std::string_view name, std::vector<double>& field, std::string_view help, Limits limits) override {
    add(name, "list of numbers", description::toml_text(OptionValue(field)), with_limits(help, limits));
  }
  void numbers(std::string_view name, std::map<std::string, double>& field, std::string_view help,
               Limits limits) override {
    add(name, "table of numbers", description::toml_text(OptionValue(field)), with_limits(help, limits));
  }

 private:
  void word(std::string_view name, std::string_view& field, std::string_view help,
            std::span<const std::string_view> words) override {
    add(name, fmt::format("{}", fmt::join(words, " | ")), field, help);
  }

  static std::string with_limits(std::string_view help, Limits limits) {
    if (std::isinf(limits.min) && std::isinf(limits.max)) return std::string(help);
    return fmt::format("{} ({})", help, range_text(limits));
  }

  void add(std::string_view name, std::string_view type, std::string_view default_value, std::string_view help) {
    descriptions.push_back({std::string(name), std::string(type), std::string(default_value), std::string(help)});
  }
};

}  // namespace

void read_options(HasOptions& target, const WrittenOptions& written, std::string_view owner,
                  std::vector<Problem>& problems) {
  OptionReader reader(written, owner, problems);
  target.bind(reader);
  reader.add_unknown();
}

std::map<std::string, OptionValue> options_in_force(HasOptions& target) {
  Collector collector;
  target.bind(collector);
  return std::move(collector.options);
}

std::vector<OptionHelp> describe_options(HasOptions& target) {
  Describer describer;
  target.bind(describer);
  return std::move(describer.descriptions);
}

}  // namespace entrain
