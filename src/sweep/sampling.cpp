#include "sweep/sampling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/csv.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::sweeping {
namespace {

constexpr double kMostPoints = 1e6;

std::optional<double> number(const std::string& text) {
  const std::string word = trimmed(text);
  double value = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    parts.push_back(trimmed(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return parts;
}

bool numbers(const std::vector<std::string>& parts, std::vector<double>& found) {
  for (const auto& part : parts) {
    const auto value = number(part);
    if (!value) return false;
    found.push_back(*value);
  }
  return true;
}

/// Numbers; or words, each once, and their indices.
void read_values(const std::vector<std::string>& parts, std::vector<double>& found, std::vector<std::string>& words) {
  if (numbers(parts, found)) return;
  found.clear();
  for (const auto& part : parts) {
    const auto known = std::find(words.begin(), words.end(), part);
    found.push_back(static_cast<double>(known - words.begin()));
    if (known == words.end()) words.push_back(part);
  }
}

bool is_word(const std::string& text) {
  return !text.empty() && !number(text) && text.find_first_of("=\"'()") == std::string::npos;
}

/// Wichura's algorithm AS 241 is exact to 1e-16; this one (Acklam, 1.15e-9) is followed by a step of Newton and Halley,
/// which brings it there.
double normal_quantile(double share) {
  constexpr double kLow = 0.02425;
  const auto rational = [](double x, std::initializer_list<double> above, std::initializer_list<double> below) {
    double a = 0.0;
    double b = 0.0;
    for (const double c : above) a = a * x + c;
    for (const double c : below) b = b * x + c;
    return a / b;
  };
  const auto tail = [&](double p) {
    const double q = std::sqrt(-2.0 * std::log(p));
    return rational(q,
                    {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838, -2.549732539343734,
                     4.374664141464968, 2.938163982698783},
                    {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996, 3.754408661907416, 1.0});
  };
  double x = 0.0;
  if (share < kLow) {
    x = tail(share);
  } else if (share > 1.0 - kLow) {
    x = -tail(1.0 - share);
  } else {
    const double q = share - 0.5;
    const double r = q * q;
    x = q * rational(r,
                     {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02,
                      -3.066479806614716e+01, 2.506628277459239},
                     {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                      -1.328068155288572e+01, 1.0});
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - share;
  const double step = error * std::sqrt(2.0 * 3.14159265358979323846) * std::exp(0.5 * x * x);
  return x - step / (1.0 + 0.5 * x * step);
}

struct NamedLaw {
  const char* name;
  Law::Kind kind;
  std::size_t count;
};
constexpr std::array kLaws{NamedLaw{"uniform", Law::Kind::Uniform, 2}, NamedLaw{"normal", Law::Kind::Normal, 2},
                           NamedLaw{"lognormal", Law::Kind::Lognormal, 2},
                           NamedLaw{"triangular", Law::Kind::Triangular, 3}};

std::string read_distribution(const std::string& text, Law& law) {
  const auto open = text.find('(');
  const std::string word = trimmed(text.substr(0, open));
  const auto found = std::find_if(kLaws.begin(), kLaws.end(), [&](const NamedLaw& of) { return word == of.name; });
  if (found == kLaws.end()) return fmt::format("'{}' is no distribution", word);
  if (!text.ends_with(')')) return "a parenthesis is not closed";
  law = {found->kind, {}, {}};
  const auto parts = parts_of(text.substr(open + 1, text.size() - open - 2));
  if (!numbers(parts, law.numbers) || law.numbers.size() != found->count)
    return fmt::format("{} takes {} numbers", found->name, found->count);
  const auto& n = law.numbers;
  const bool ordered = found->kind == Law::Kind::Triangular ? n[0] <= n[1] && n[1] <= n[2] && n[0] < n[2]
                       : found->kind == Law::Kind::Uniform  ? n[0] < n[1]
                                                            : n[1] > 0.0;
  return ordered ? "" : "its numbers are not in order, or a standard deviation is not positive";
}

std::string read_range(const std::string& text, std::size_t dots, Law& law) {
  const auto slash = text.find('/', dots);
  const auto from = number(text.substr(0, dots));
  const auto to = number(text.substr(dots + 2, slash == std::string::npos ? slash : slash - dots - 2));
  if (!from || !to) return "a range is written FROM..TO or FROM..TO/POINTS";
  if (slash == std::string::npos) {
    law = {Law::Kind::Uniform, {*from, *to}, {}};
    return *from < *to ? "" : "the range is empty";
  }
  const auto points = number(text.substr(slash + 1));
  if (!points || *points != std::floor(*points) || *points < 1.0 || *points > kMostPoints)
    return fmt::format("'{}' is no number of points", trimmed(text.substr(slash + 1)));
  law = {Law::Kind::Values, {}, {}};
  const auto count = static_cast<std::size_t>(*points);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    law.numbers.push_back(i + 1 == count && count > 1 ? *to : *from + share * (*to - *from));
  }
  return {};
}

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// A permutation of 0 .. count - 1.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    const auto j = static_cast<std::size_t>(random_share(seed, stream, i) * static_cast<double>(i));
    std::swap(order[i - 1], order[std::min(j, i - 1)]);
  }
  return order;
}

class Planner {
 public:
  Planner(const SweepDescription& sweep, std::filesystem::path folder, std::size_t most, std::vector<Problem>& problems)
      : sweep_(sweep), folder_(std::move(folder)), most_(most), problems_(problems) {}

  SweepPlan plan() {
    if (sweep_.list) {
      read_list();
      return std::move(plan_);
    }
    read_laws();
    if (!problems_.empty()) return std::move(plan_);
    if (laws_.empty()) return refused("nothing varies");
    choose_sampling();
    if (!problems_.empty()) return std::move(plan_);
    seed_ = sweep_.seed ? static_cast<std::uint64_t>(sweep_.seed->value) : 1;
    if (plan_.sampling == SweepSampling::Grid) {
      make_grid();
    } else {
      sample();
    }
    if (plan_.cases.empty()) return refused("a variation has no values");
    describe();
    return std::move(plan_);
  }

 private:
  SweepPlan refused(const std::string& why) {
    problems_.push_back(problem_of(Fact{FactCode::SweepEmpty, {}, {{"why", why}}}, "use --vary, or [sweep]", {}));
    return std::move(plan_);
  }
  void wrong(const std::string& name, const std::string& why, const SourcePosition& where) {
    problems_.push_back(problem_of(Fact{FactCode::SweepWrong, {name}, {{"why", why}}}, "", where));
  }

  void read_laws() {
    for (const auto& [name, text, where] : sweep_.vary) {
      Law law;
      if (const auto why = read_law(text, law); !why.empty()) wrong(name, why, where);
      if (is_known(name)) wrong(name, "it is there twice", where);
      plan_.inputs.push_back({name, trimmed(text), law.words});
      plan_.where.push_back(where);
      laws_.push_back(std::move(law));
    }
  }

  bool is_known(const std::string& name) const {
    return std::any_of(plan_.inputs.begin(), plan_.inputs.end(),
                       [&](const SweepInput& input) { return input.name == name; });
  }

  void choose_sampling() {
    const bool all_discrete = std::all_of(laws_.begin(), laws_.end(), [](const Law& law) { return law.is_discrete(); });
    plan_.sampling = all_discrete && !sweep_.cases ? SweepSampling::Grid : SweepSampling::LatinHypercube;
    if (sweep_.sampling) {
      const auto& word = sweep_.sampling->value;
      constexpr std::array kKnown{SweepSampling::Grid, SweepSampling::LatinHypercube, SweepSampling::Random,
                                  SweepSampling::Sobol};
      const auto found =
          std::find_if(kKnown.begin(), kKnown.end(), [&](SweepSampling each) { return to_string(each) == word; });
      if (found == kKnown.end()) {
        return wrong("sampling", fmt::format("'{}' is none of grid, latin-hypercube, random, sobol", word),
                     sweep_.sampling->where);
      }
      plan_.sampling = *found;
    }
    if (plan_.sampling == SweepSampling::Grid) {
      for (std::size_t d = 0; d < laws_.size(); ++d) {
        if (!laws_[d].is_discrete())
          wrong(plan_.inputs[d].name, "a grid needs points: FROM..TO/POINTS, or a list of values", plan_.where[d]);
      }
    } else if (!sweep_.cases) {
      wrong(plan_.inputs.front().name, "a distribution needs a number of cases (--cases)", plan_.where.front());
    } else if (sweep_.cases->value < 1) {
      problems_.push_back(
          problem_of(Fact{FactCode::SweepEmpty, {}, {{"why", "cases is less than 1"}}}, "", sweep_.cases->where));
    }
  }

  void make_grid() {
    double count = 1.0;
    for (const Law& law : laws_) count *= static_cast<double>(law.numbers.size());
    require(count);
    std::vector<std::size_t> at(laws_.size(), 0);
    for (bool more = true; more;) {
      auto& values = plan_.cases.emplace_back();
      for (std::size_t d = 0; d < laws_.size(); ++d) values.push_back(laws_[d].numbers[at[d]]);
      more = false;
      for (std::size_t d = laws_.size(); d-- > 0 && !more;) {  // the last one varies fastest
        more = ++at[d] < laws_[d].numbers.size();
        if (!more) at[d] = 0;
      }
    }
  }

  /// Before memory is taken for them.
  void require(double count) const {
    if (count <= static_cast<double>(most_)) return;
    throw Error(ErrorCode::InvalidSystem, {FactCode::SweepTooMany, {}, {{"cases", count}, {"limit", most_}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Add --yes if that is meant"});
  }

  /// One matrix of `count` rows.
  std::vector<std::vector<double>> matrix(std::size_t count, std::uint64_t first_stream, bool hypercube) const {
    std::vector<std::vector<double>> rows(count, std::vector<double>(laws_.size()));
    for (std::size_t d = 0; d < laws_.size(); ++d) {
      const std::uint64_t stream = first_stream + 2 * d;
      const auto order = hypercube ? shuffled(count, seed_, stream + 1) : std::vector<std::size_t>();
      for (std::size_t i = 0; i < count; ++i) {
        double share = random_share(seed_, stream, i);
        if (hypercube) share = (static_cast<double>(order[i]) + share) / static_cast<double>(count);
        rows[i][d] = laws_[d].quantile(share);
      }
    }
    return rows;
  }

  /// Of Sobol (Saltelli): A, B, and for each variation A with the column of B.
  void sample() {
    const auto count = static_cast<std::size_t>(sweep_.cases->value);
    const std::size_t matrices = plan_.sampling == SweepSampling::Sobol ? laws_.size() + 2 : 1;
    require(static_cast<double>(count) * static_cast<double>(matrices));
    const bool hypercube = plan_.sampling != SweepSampling::Random;
    plan_.cases = matrix(count, 0, hypercube);
    if (plan_.sampling != SweepSampling::Sobol) return;
    plan_.base_cases = count;
    const auto first = plan_.cases;
    const auto second = matrix(count, 2 * laws_.size(), hypercube);
    plan_.cases.insert(plan_.cases.end(), second.begin(), second.end());
    for (std::size_t d = 0; d < laws_.size(); ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        auto mixed_row = first[i];
        mixed_row[d] = second[i][d];
        plan_.cases.push_back(std::move(mixed_row));
      }
    }
  }

  void read_list() {
    plan_.sampling = SweepSampling::List;
    const auto& where = sweep_.list->where;
    const auto file = folder_ / sweep_.list->value;
    if (!sweep_.vary.empty()) wrong(sweep_.vary.front().name, "a list gives all values", sweep_.vary.front().where);
    std::vector<std::vector<std::string>> records;
    try {
      const std::string text = base::read_csv_text(file) + "\n";
      std::string_view rest = text;
      const char separator = base::csv_separator(text);
      while (auto record = base::take_csv_record(rest, separator)) {
        if (record->size() > 1 || !trimmed(record->front()).empty()) records.push_back(std::move(*record));
      }
    } catch (const Error& error) {
      return wrong(sweep_.list->value, error.message(), where);
    }
    if (records.size() < 2) {
      problems_.push_back(problem_of(
          Fact{FactCode::SweepEmpty, {}, {{"why", fmt::format("'{}' has no rows", sweep_.list->value)}}}, "", where));
      return;
    }
    require(static_cast<double>(records.size() - 1));
    add_columns(records, where);
    describe();
  }

  void add_columns(const std::vector<std::vector<std::string>>& records, const SourcePosition& where) {
    for (const auto& name : records.front()) {
      if (is_known(trimmed(name))) wrong(name, "it is there twice", where);
      plan_.inputs.push_back({trimmed(name), {}, {}});
      plan_.where.push_back(where);
    }
    for (std::size_t r = 1; r < records.size(); ++r) {
      if (records[r].size() != plan_.inputs.size()) {
        return wrong(sweep_.list->value,
                     fmt::format("row {} has {} cells of {}", r, records[r].size(), plan_.inputs.size()), where);
      }
    }
    plan_.cases.assign(records.size() - 1, std::vector<double>(plan_.inputs.size()));
    for (std::size_t d = 0; d < plan_.inputs.size(); ++d) {
      std::vector<std::string> cells;
      for (std::size_t r = 1; r < records.size(); ++r) cells.push_back(trimmed(records[r][d]));
      std::vector<double> values;
      read_values(cells, values, plan_.inputs[d].words);
      for (std::size_t r = 0; r < values.size(); ++r) plan_.cases[r][d] = values[r];
      for (std::size_t r = 0; r < cells.size(); ++r) {
        if (cells[r].empty()) wrong(plan_.inputs[d].name, fmt::format("row {} has no value", r + 1), where);
      }
    }
  }

  void describe() {
    plan_.text = fmt::format("{} {}", to_string(plan_.sampling), plan_.cases.size());
    for (const auto& input : plan_.inputs) plan_.text += fmt::format(" {} {}", input.name, fmt::join(input.words, " "));
    for (const auto& values : plan_.cases) plan_.text += fmt::format("\n{}", fmt::join(values, " "));
  }

  const SweepDescription& sweep_;
  std::filesystem::path folder_;
  std::size_t most_;
  std::vector<Problem>& problems_;
  SweepPlan plan_;
  std::vector<Law> laws_;
  std::uint64_t seed_ = 1;
};

}  // namespace

double random_share(std::uint64_t seed, std::uint64_t stream, std::uint64_t place) {
  const std::uint64_t bits = mixed(mixed(mixed(seed) ^ stream) ^ place);
  return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

double Law::quantile(double share) const {
  switch (kind) {
    case Kind::Uniform: return numbers[0] + share * (numbers[1] - numbers[0]);
    case Kind::Normal: return numbers[0] + numbers[1] * normal_quantile(share);
    case Kind::Lognormal: return std::exp(numbers[0] + numbers[1] * normal_quantile(share));
    case Kind::Triangular: {
      const double a = numbers[0];
      const double c = numbers[1];
      const double b = numbers[2];
      const double below = (c - a) / (b - a);
      return share < below ? a + std::sqrt(share * (b - a) * (c - a))
                           : b - std::sqrt((1.0 - share) * (b - a) * (b - c));
    }
    case Kind::Values: break;
  }
  return numbers[std::min(numbers.size() - 1, static_cast<std::size_t>(share * static_cast<double>(numbers.size())))];
}

std::string read_law(const std::string& text, Law& law) {
  const std::string whole = trimmed(text);
  if (whole.empty()) return "it has no values";
  if (whole.find('(') != std::string::npos) return read_distribution(whole, law);
  if (const auto dots = whole.find(".."); dots != std::string::npos) return read_range(whole, dots, law);
  law = {Law::Kind::Values, {}, {}};
  const auto parts = parts_of(whole);
  if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !number(part) && !is_word(part); }))
    return fmt::format("'{}' is no list of values, range or distribution", whole);
  read_values(parts, law.numbers, law.words);
  return {};
}

SweepPlan plan_sweep(const SweepDescription& sweep, const std::filesystem::path& folder, std::size_t most,
                     std::vector<Problem>& problems) {
  return Planner(sweep, folder, most, problems).plan();
}

std::string input_text(const SweepInput& input, double value) {
  if (input.words.empty()) return fmt::format("{}", value);
  return input.words[std::min(input.words.size() - 1, static_cast<std::size_t>(value))];
}

}  // namespace entrain::sweeping

namespace entrain {

std::string_view to_string(SweepSampling sampling) {
  constexpr std::array<std::string_view, 5> kWords{"grid", "list", "latin-hypercube", "random", "sobol"};
  return kWords[static_cast<std::size_t>(sampling)];
}

}  // namespace entrain
