#include "truth/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <sstream>

namespace entrain::truth {
namespace {

constexpr double kTolerance = kDefaultTolerance;
constexpr double kLeastError = 1e-7;
constexpr double kNear = 3.0;
constexpr std::array kPaths = {"propagated", "companion", "events"};

/// One output of a run with what was claimed of it.
struct Claim {
  const MeasuredRun* run;
  const MeasuredOutput* output;
  double ratio = 0.0;  ///< claimed / true; 0 where nothing was claimed

  double distance() const { return ratio > 0.0 ? std::abs(std::log(ratio)) : 1e3; }
};

bool is_claimed(const MeasuredOutput& output) {
  return output.claimed.estimate != EstimateKind::Unknown && !std::isnan(output.claimed.error);
}

std::string path_of(const MeasuredRun& run, EstimateKind kind) {
  if (run.events) return "events";
  return kind == EstimateKind::Propagated ? "propagated" : "companion";
}

/// How the deciding output was estimated.
std::string path_of(const MeasuredRun& run) {
  for (const auto& output : run.outputs) {
    if (output.name == run.verdict.output) return path_of(run, output.claimed.estimate);
  }
  return path_of(run, run.outputs.empty() ? EstimateKind::Unknown : run.outputs.front().claimed.estimate);
}

std::vector<Claim> claims_of(const std::vector<MeasuredRun>& runs, const std::string& path, std::size_t& left_out) {
  std::vector<Claim> claims;
  left_out = 0;
  for (const auto& run : runs) {
    if (run.end != MeasuredRun::End::Completed) continue;
    for (const auto& output : run.outputs) {
      if (path_of(run, output.claimed.estimate) != path) continue;
      if (output.truth < std::max(kLeastError, output.floor) || !(output.range > 0.0)) {
        ++left_out;
        continue;
      }
      double ratio = is_claimed(output) ? output.claimed.error / output.truth : 0.0;
      if (std::isnan(ratio)) ratio = std::isinf(output.claimed.error) ? 1.0 : 0.0;  // both overflow
      claims.push_back({&run, &output, ratio});
    }
  }
  return claims;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const auto place = static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)));
  return values[place];
}

/// The factor that would have covered 99 % of the true errors, whichever system is left out.
double needed_factor(const std::vector<Claim>& claims) {
  std::set<std::string> names;
  for (const auto& claim : claims) names.insert(claim.run->system);
  double largest = 0.0;
  for (const auto& left_out : names) {
    std::vector<double> ratios;
    for (const auto& claim : claims) {
      if (claim.run->system != left_out && claim.ratio > 0.0) ratios.push_back(1.0 / claim.ratio);
    }
    largest = std::max(largest, quantile(ratios, 0.99));
  }
  return largest;
}

void print_worst(std::vector<Claim> claims, std::size_t count) {
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.distance() > b.distance(); });
  std::set<std::string> seen;
  for (const auto& claim : claims) {
    if (!(claim.distance() > std::log(kNear)) || seen.size() == count) return;
    if (!seen.insert(claim.run->system + claim.run->method).second) continue;
    fmt::print("    {:<26} {:<22} step {:<7.3g} {:<16} true {:.2e}, claimed {:.2e}, bound {:.2e}, {}\n",
               claim.run->system, claim.run->method, claim.run->step, claim.output->name, claim.output->truth,
               claim.output->claimed.error, claim.output->claimed.bound, to_string(claim.run->verdict.grade));
  }
}

struct Context {
  const std::vector<MeasuredRun>& runs;
  bench::Budgets& budgets;
  bool hard_only;

  void check(const std::string& what, double measured, double budget, const std::string& unit, bool hard) const {
    if (hard || !hard_only) {
      budgets.check(what, measured, budget, unit);
    } else {
      fmt::print("{:<44} {:>9.3g} {}\n", what, measured, unit);
    }
  }
};

void print_claims(const Context& context, const std::string& path, double most_outside) {
  std::size_t left_out = 0;
  const auto claims = claims_of(context.runs, path, left_out);
  if (claims.empty()) return;
  std::vector<double> ratios;
  double near = 0.0;
  double covered = 0.0;
  for (const auto& claim : claims) {
    if (claim.ratio > 0.0) ratios.push_back(claim.ratio);
    near += claim.distance() <= std::log(kNear) ? 1.0 : 0.0;
    covered += claim.output->claimed.bound >= claim.output->truth ? 1.0 : 0.0;
  }
  const auto count = static_cast<double>(claims.size());
  fmt::print(
      "\n{}: {} outputs, {} more with errors too small to judge, {} without an estimate\n"
      "    claimed / true: 1 % {:.2g}, 50 % {:.2g}, 99 % {:.2g}; within the bound {:.1f} %; needed factor {:.3g}\n",
      path, claims.size(), left_out, claims.size() - ratios.size(), quantile(ratios, 0.01), quantile(ratios, 0.5),
      quantile(ratios, 0.99), 100.0 * covered / count, needed_factor(claims));
  context.check(path + ": claimed / true outside [1/3, 3]", 100.0 * (1.0 - near / count), most_outside, "%", false);
  print_worst(claims, 25);
}

constexpr std::array kGrades = {Grade::Trusted, Grade::Check, Grade::Unreliable, Grade::Unknown};
using Row = std::array<int, 4>;  ///< below a tenth of the tolerance, within it, up to ten times, beyond

std::size_t column_of(double truth) {
  if (truth <= 0.1 * kTolerance) return 0;
  if (truth <= kTolerance) return 1;
  return truth <= 10.0 * kTolerance ? 2 : 3;
}

void print_confusion(const Context& context, const std::string& path) {
  std::array<Row, 4> table{};
  for (const auto& run : context.runs) {
    if (run.end == MeasuredRun::End::Refused || (path != "all" && path_of(run) != path)) continue;
    const auto row =
        static_cast<std::size_t>(std::find(kGrades.begin(), kGrades.end(), run.verdict.grade) - kGrades.begin());
    ++table[row][column_of(run.worst_truth())];
  }
  fmt::print("\n{:<12} {:>8} {:>8} {:>8} {:>8}   true error / tolerance\n", path, "< 0.1", "0.1..1", "1..10", "> 10");
  for (std::size_t row = 0; row < kGrades.size(); ++row) {
    const auto& cells = table[row];
    fmt::print("{:<12} {:>8} {:>8} {:>8} {:>8}\n", to_string(kGrades[row]), cells[0], cells[1], cells[2], cells[3]);
  }
  if (path != "all") return;
  const auto share = [](int part, const Row& row) {
    const int sum = row[0] + row[1] + row[2] + row[3];
    return sum == 0 ? 0.0 : 100.0 * part / sum;
  };
  Row sums{};
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) sums[0] += row[i];
  }
  const auto& unknown = table[3];
  context.check("trusted above the tolerance", table[0][2] + table[0][3], 0, "", true);
  context.check("unreliable below a tenth of it", share(table[2][0], table[2]), 2, "%", true);
  context.check("check further than a factor 10 away", share(table[1][0] + table[1][3], table[1]), 10, "%", false);
  context.check("unknown", share(unknown[0] + unknown[1] + unknown[2] + unknown[3], sums), 5, "%", false);
}

/// The runs in a cell of the table that should be empty.
void print_runs(const std::vector<MeasuredRun>& runs, Grade grade, double least, double most) {
  int count = 0;
  for (const auto& run : runs) {
    const double truth = run.worst_truth();
    if (run.end == MeasuredRun::End::Refused || run.verdict.grade != grade || !(truth > least && truth <= most))
      continue;
    if (++count > 40) continue;
    fmt::print("    {:<10} {:<26} {:<22} step {:<7.3g} true {:.2e}, {} bound {:.2e}, {}\n", to_string(grade),
               run.system, run.method, run.step, truth, run.verdict.output, run.verdict.bound,
               run.verdict.reasons.empty() ? "" : name_of(run.verdict.reasons.front().code));
  }
  if (count > 40) fmt::print("    and {} more\n", count - 40);
}

}  // namespace

void print_scores(const std::vector<MeasuredRun>& runs, bench::Budgets& budgets, bool hard_only) {
  const Context context{runs, budgets, hard_only};
  for (const char* path : kPaths) print_confusion(context, path);
  print_confusion(context, "all");
  constexpr double kAll = std::numeric_limits<double>::infinity();
  print_runs(runs, Grade::Trusted, kTolerance, kAll);
  print_runs(runs, Grade::Unreliable, -1.0, 0.1 * kTolerance);
  print_runs(runs, Grade::Check, 10.0 * kTolerance, kAll);
  print_runs(runs, Grade::Check, -1.0, 0.1 * kTolerance);
  print_claims(context, "propagated", 5.0);
  print_claims(context, "companion", 10.0);
  print_claims(context, "events", 25.0);
}

namespace {

constexpr const char* kColumns =
    "system,kind,events,method,step,macro_steps,end,grade,reason,output,true,whole,graded,range,floor,claimed,bound,"
    "order,valid_until,estimate,deciding\n";
constexpr const char* kDone = "done";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

template <class Choice>
Choice choice_of(const std::string& word, std::initializer_list<Choice> all) {
  for (const Choice one : all) {
    if (to_string(one) == word) return one;
  }
  throw Error(ErrorCode::FileFailed, "no such word: " + word);
}

/// A line is an output; those of a run follow each other.
void take_line(const std::vector<std::string>& fields, std::vector<MeasuredRun>& runs) {
  const auto number = [&](std::size_t i) { return std::strtod(fields[i].c_str(), nullptr); };
  MeasuredRun run;
  run.system = fields[0];
  run.kind = fields[1];
  run.events = fields[2] == "true";
  run.method = fields[3];
  run.step = number(4);
  const bool same = !runs.empty() && runs.back().system == run.system && runs.back().method == run.method &&
                    runs.back().step == run.step;
  if (!same) {
    run.macro_steps = static_cast<std::uint64_t>(number(5));
    run.end = fields[6] == "completed" ? MeasuredRun::End::Completed : MeasuredRun::End::Failed;
    run.verdict.grade = choice_of(fields[7], {Grade::Trusted, Grade::Check, Grade::Unreliable, Grade::Unknown});
    if (const auto code = fact_code(fields[8])) run.verdict.reasons = {Fact{*code}};
    runs.push_back(std::move(run));
  }
  MeasuredOutput output;
  output.name = fields[9];
  output.truth = number(10);
  output.whole = number(11);
  output.graded = number(12);
  output.range = number(13);
  output.floor = number(14);
  output.claimed.name = output.name;
  output.claimed.error = number(15);
  output.claimed.bound = number(16);
  output.claimed.order = number(17);
  output.claimed.valid_until = number(18);
  output.claimed.estimate =
      choice_of(fields[19], {EstimateKind::Propagated, EstimateKind::Companion, EstimateKind::Unknown});
  if (fields[20] == "true") {
    runs.back().verdict.output = output.name;
    runs.back().verdict.bound = output.claimed.bound;
  }
  runs.back().outputs.push_back(std::move(output));
}

}  // namespace

void append_csv(std::span<const MeasuredRun> runs, const std::string& system, const std::string& file) {
  const bool is_new = !std::filesystem::exists(file);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "a"), std::fclose);
  if (!out) throw Error(ErrorCode::FileFailed, file + " cannot be written");
  std::string lines = is_new ? kColumns : "";
  for (const auto& run : runs) {
    if (run.end == MeasuredRun::End::Refused) continue;
    const std::string reason(run.verdict.reasons.empty() ? "" : name_of(run.verdict.reasons.front().code));
    for (const auto& output : run.outputs) {
      const auto& claimed = output.claimed;
      lines += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", run.system, run.kind,
                           run.events, run.method, run.step, run.macro_steps,
                           run.end == MeasuredRun::End::Completed ? "completed" : "failed",
                           to_string(run.verdict.grade), reason, output.name, output.truth, output.whole, output.graded,
                           output.range, output.floor, claimed.error, claimed.bound, claimed.order.value_or(0.0),
                           claimed.valid_until, to_string(claimed.estimate), output.name == run.verdict.output);
    }
  }
  fmt::print(out.get(), "{}{},{}\n", lines, system, kDone);
}

std::vector<MeasuredRun> read_csv(const std::string& file, std::set<std::string>& done) {
  std::ifstream in(file);
  std::vector<MeasuredRun> runs;
  std::vector<MeasuredRun> of_system;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto fields = fields_of(line);
    if (fields.size() > 2) {
      take_line(fields, of_system);
    } else {
      done.insert(fields[0]);
      std::move(of_system.begin(), of_system.end(), std::back_inserter(runs));
      of_system.clear();
    }
  }
  return runs;
}

}  // namespace entrain::truth
