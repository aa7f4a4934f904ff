// Cases by law and seed, quantities of courses, Sobol indices.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <numbers>

#include "entrain/fact_codes.hpp"
#include "entrain/sweep.hpp"
#include "entrain/system.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "sweep/bands.hpp"
#include "sweep/case_process.hpp"
#include "sweep/quantities.hpp"
#include "sweep/sampling.hpp"
#include "sweep/sobol.hpp"
#include "sweep/table.hpp"
#include "sweep/uncertainty.hpp"

namespace entrain {
namespace sweep_test {

using sweeping::Law;

SweepDescription varying(const std::vector<std::pair<std::string, std::string>>& laws) {
  SweepDescription sweep;
  for (const auto& [name, law] : laws) sweep.vary.push_back({name, law, {}});
  return sweep;
}

sweeping::SweepPlan plan_of(const SweepDescription& sweep) {
  std::vector<Problem> problems;
  auto plan = sweeping::plan_sweep(sweep, {}, 100000, problems);
  EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems.front().message);
  return plan;
}

FactCode problem_with(const SweepDescription& sweep) {
  std::vector<Problem> problems;
  sweeping::plan_sweep(sweep, {}, 100000, problems);
  return problems.empty() ? FactCode::Custom : problems.front().fact.code;
}

TEST(SweepPlan, of_points_and_lists_is_the_grid_of_all) {
  const auto plan = plan_of(varying({{"a.x", "0.4..0.6/3"}, {"b.y", "1, 2"}}));
  EXPECT_EQ(plan.sampling, SweepSampling::Grid);
  const std::vector<std::vector<double>> expected{{0.4, 1}, {0.4, 2}, {0.5, 1}, {0.5, 2}, {0.6, 1}, {0.6, 2}};
  ASSERT_EQ(plan.cases.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(plan.cases[i][0], expected[i][0]);
    EXPECT_EQ(plan.cases[i][1], expected[i][1]);
  }
}

TEST(SweepPlan, of_a_latin_hypercube_has_one_case_in_each_part_of_every_law) {
  auto sweep = varying({{"a.x", "uniform(2, 4)"}, {"b.y", "normal(1, 0.5)"}});
  sweep.cases = {50, {}};
  const auto plan = plan_of(sweep);
  ASSERT_EQ(plan.cases.size(), 50U);
  std::vector<int> first(50, 0);
  std::vector<int> second(50, 0);
  for (const auto& values : plan.cases) {
    ++first[static_cast<std::size_t>((values[0] - 2.0) / 2.0 * 50.0)];
    const double share = 0.5 * std::erfc(-(values[1] - 1.0) / 0.5 / std::numbers::sqrt2);
    ++second[static_cast<std::size_t>(share * 50.0)];
  }
  EXPECT_EQ(first, std::vector<int>(50, 1));
  EXPECT_EQ(second, std::vector<int>(50, 1));
}

TEST(SweepPlan, follows_from_the_seed_alone) {
  auto sweep = varying({{"a.x", "triangular(0, 1, 3)"}, {"b.y", "lognormal(0, 0.1)"}});
  sweep.cases = {20, {}};
  sweep.sampling = {"random", {}};
  EXPECT_EQ(plan_of(sweep).cases, plan_of(sweep).cases);
  auto other = sweep;
  other.seed = {2, {}};
  EXPECT_NE(plan_of(sweep).cases, plan_of(other).cases);
}

TEST(SweepPlan, that_makes_no_sense_is_a_problem) {
  EXPECT_EQ(problem_with({}), FactCode::SweepEmpty);
  EXPECT_EQ(problem_with(varying({{"a.x", "0..1/0"}})), FactCode::SweepWrong);
  EXPECT_EQ(problem_with(varying({{"a.x", "1, , 2"}})), FactCode::SweepWrong);
  EXPECT_EQ(problem_with(varying({{"a.x", "2..1"}})), FactCode::SweepWrong);
  EXPECT_EQ(problem_with(varying({{"a.x", "normal(0, 0)"}})), FactCode::SweepWrong);
  EXPECT_EQ(problem_with(varying({{"a.x", "gauss(0, 1)"}})), FactCode::SweepWrong);
  EXPECT_EQ(problem_with(varying({{"a.x", "uniform(0, 1)"}})), FactCode::SweepWrong);  // no number of cases
  EXPECT_EQ(problem_with(varying({{"a.x", "1, 2"}, {"a.x", "3"}})), FactCode::SweepWrong);
  auto none = varying({{"a.x", "uniform(0, 1)"}});
  none.cases = {0, {}};
  EXPECT_EQ(problem_with(none), FactCode::SweepEmpty);
}

TEST(SweepPlan, of_words_has_their_indices) {
  const auto plan = plan_of(varying({{"method", "jacobi, gauss-seidel"}, {"a.on", "true, false"}}));
  ASSERT_EQ(plan.cases.size(), 4U);
  EXPECT_EQ(sweeping::input_text(plan.inputs[0], plan.cases[2][0]), "gauss-seidel");
  EXPECT_EQ(sweeping::input_text(plan.inputs[1], plan.cases[2][1]), "true");
  EXPECT_EQ(sweeping::input_text({"a.x", "", {}}, 0.1), "0.1");
}

TEST(SweepPlan, of_too_many_cases_is_refused_before_they_are_made) {
  const auto many = varying({{"a.x", "0..1/100000"}, {"b.x", "0..1/100000"}, {"c.x", "0..1/100000"}});
  auto sampled = varying({{"a.x", "0..1"}});
  sampled.cases = {1'000'000'000'000, {}};
  for (const auto& sweep : {many, sampled}) {
    std::vector<Problem> problems;
    try {
      sweeping::plan_sweep(sweep, {}, 10000, problems);
      ADD_FAILURE() << "it was planned";
    } catch (const Error& error) {
      EXPECT_EQ(error.fact().code, FactCode::SweepTooMany);
    }
  }
}

TEST(SweepPlan, of_a_list_has_its_rows) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "list.csv", "a.x;b.mode\n0.5;fast\n1;slow\n2;fast");
  SweepDescription sweep;
  sweep.list = {"list.csv", {}};
  std::vector<Problem> problems;
  const auto plan = sweeping::plan_sweep(sweep, folder.path(), 100, problems);
  ASSERT_TRUE(problems.empty());
  EXPECT_EQ(plan.cases, (std::vector<std::vector<double>>{{0.5, 0}, {1, 1}, {2, 0}}));
  EXPECT_EQ(plan.inputs[1].words, (std::vector<std::string>{"fast", "slow"}));
  for (const char* wrong : {"a.x,b.x\n1\n", "a.x,b.x\n1,\n", "a.x,a.x\n1,2\n", "a.x\n"}) {
    test::write_text(folder / "list.csv", wrong);
    problems.clear();
    sweeping::plan_sweep(sweep, folder.path(), 100, problems);
    EXPECT_FALSE(problems.empty()) << wrong;
  }
}

TEST(SweepDescription, is_written_as_it_was_read) {
  const std::string text =
      "[run]\nstop = 1\n[subsystems.a]\nmodel = \"lotka_volterra.prey\"\n[sweep]\nsampling = \"sobol\"\nlist = "
      "\"l.csv\"\n"
      "cases = 8\nseed = 3\nquantities = [\"a.p\", \"x = max(a.p)\"]\n[sweep.vary]\nstep = \"0.1, 0.2\"\n\"a.alpha\" = "
      "\"0..1\"\n";
  for (const auto& system : {test::system_from(text), test::system_from(system_text(test::system_from(text)))}) {
    const SweepDescription& sweep = system.sweep;
    EXPECT_EQ(sweep.sampling->value, "sobol");
    EXPECT_EQ(sweep.list->value, "l.csv");
    EXPECT_EQ(sweep.cases->value, 8);
    EXPECT_EQ(sweep.seed->value, 3);
    ASSERT_EQ(sweep.quantities.size(), 2U);
    EXPECT_EQ(sweep.quantities[1].value, "x = max(a.p)");
    ASSERT_EQ(sweep.vary.size(), 2U);
    EXPECT_EQ(sweep.vary[1].name, "a.alpha");
    EXPECT_EQ(sweep.vary[1].law, "0..1");
  }
}

// By the distribution functions themselves.
TEST(SweepLaw, quantiles_are_those_of_the_distribution) {
  for (const double share : {1e-9, 1e-4, 0.02, 0.3, 0.5, 0.77, 0.98, 1.0 - 1e-6}) {
    const double x = Law{Law::Kind::Normal, {0.0, 1.0}}.quantile(share);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::numbers::sqrt2) / share, 1.0, 1e-13);
    EXPECT_NEAR((Law{Law::Kind::Lognormal, {0.5, 0.2}}.quantile(share)), std::exp(0.5 + 0.2 * x),
                1e-12 * std::exp(2.0));
    const double t = Law{Law::Kind::Triangular, {1.0, 2.0, 5.0}}.quantile(share);
    const double below = t < 2.0 ? (t - 1.0) * (t - 1.0) / 4.0 : 1.0 - (5.0 - t) * (5.0 - t) / 12.0;
    EXPECT_NEAR(below, share, 1e-12);
  }
}

TEST(SweepQuantities, measures_are_those_of_the_course) {
  sweeping::SignalMeasures measures;
  constexpr int kSteps = 20000;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = std::numbers::pi * i / kSteps;
    measures.add(t, std::sin(t));
  }
  EXPECT_NEAR(measures.measure("last"), 0.0, 1e-12);
  EXPECT_NEAR(measures.measure("max"), 1.0, 1e-12);
  EXPECT_EQ(measures.measure("min"), 0.0);
  EXPECT_NEAR(measures.measure("mean"), 2.0 / std::numbers::pi, 1e-8);  // trapezoids: h^2
  EXPECT_NEAR(measures.measure("rms"), std::sqrt(0.5), 1e-8);
}

TEST(SweepQuantities, expressions_follow_the_rules_of_arithmetic) {
  sweeping::Expression expression;
  ASSERT_EQ(expression.read("2 * (max(a.x) - 3) / -last(b.y) + 1e-1 - 4 - 2"), "");
  const auto value = expression.value([](const std::string& measure, const std::string& signal) {
    return measure == "max" && signal == "a.x" ? 7.0 : measure == "last" && signal == "b.y" ? 4.0 : std::nan("");
  });
  EXPECT_DOUBLE_EQ(value, 2.0 * (7.0 - 3.0) / -4.0 + 0.1 - 4.0 - 2.0);
  EXPECT_EQ(expression.signals(), (std::vector<std::string>{"a.x", "b.y"}));
  for (const char* wrong : {"max(a.x", "2 +", "median(a.x)", "a.x", "(1", "1 2"})
    EXPECT_NE(expression.read(wrong), "") << wrong;
}

// d/da (a * b) = b and so on: the errors of both measures, with their signs lost.
TEST(SweepQuantities, error_of_an_expression_is_the_sum_of_what_its_measures_change) {
  sweeping::Expression expression;
  ASSERT_EQ(expression.read("max(a.x) * last(b.y) - 3"), "");
  const auto of = [](const std::string& measure, const std::string&) { return measure == "max" ? 7.0 : -4.0; };
  const auto error = [](const std::string& measure, const std::string&) { return measure == "max" ? 0.1 : 0.2; };
  EXPECT_NEAR(expression.error(of, error), 0.1 * 4.0 + 0.2 * 7.0, 1e-12);
  EXPECT_TRUE(std::isnan(expression.error(of, [](const std::string&, const std::string&) { return std::nan(""); })));
}

// 101 cases with courses c + t, c = 0 .. 100: the percentiles are those of c.
TEST(SweepBands, are_percentiles_of_the_cases) {
  sweeping::Courses courses;
  for (std::size_t c = 0; c <= 100; ++c)
    courses[c] = {static_cast<double>(c), static_cast<double>(c) + 1.0, std::nan("")};
  const auto bands = sweeping::bands_of(courses, {{"a.x", "m"}}, 3);
  ASSERT_EQ(bands.size(), 1U);
  EXPECT_DOUBLE_EQ(bands[0].p5[0], 5.0);
  EXPECT_DOUBLE_EQ(bands[0].p50[1], 51.0);
  EXPECT_DOUBLE_EQ(bands[0].p95[1], 96.0);
  EXPECT_TRUE(std::isnan(bands[0].p25[2]));
}

TEST(SweepTable, is_read_as_it_was_written_without_the_row_that_was_cut) {
  const test::TemporaryFolder folder;
  const sweeping::TableShape shape{{{"a.x", "", {}}, {"method", "", {"jacobi", "nepce"}}}, {"max(a.y)"}};
  SweepCase row{3, {0.1, 1}, {1.0 / 3.0}, {std::nan("")}, "failed", "unknown", "it \"broke\",\nbadly", 0.25};
  const auto text = sweeping::table_text(shape, {row});
  test::write_text(folder / "cases.csv", text + sweeping::table_row(shape, row) + "4,0.2,jac");
  const auto read = sweeping::read_cases(folder / "cases.csv", shape);
  ASSERT_EQ(read.size(), 1U);  // neither doubled nor cut
  EXPECT_EQ(read[0].number, 3U);
  EXPECT_EQ(read[0].inputs, row.inputs);
  EXPECT_EQ(read[0].quantities, row.quantities);
  EXPECT_TRUE(std::isnan(read[0].errors[0]));
  EXPECT_EQ(read[0].message, "it \"broke\", badly");
}

// u^2 = u_num^2 + u_input^2 + u_D^2 by hand: values 1, 2, 3 deviate by 1, bounds of 0.345 are 0.3 each.
TEST(SweepUncertainty, adds_squares) {
  SweepResult result;
  result.sampling = SweepSampling::Random;
  result.quantities = {"y"};
  for (const double value : {1.0, 2.0, 3.0})
    result.cases.push_back({0, {}, {value}, {0.345}, "completed", "check", "", 0});
  result.cases[2].errors[0] = std::nan("");
  const auto of = sweeping::uncertainties(result, 0, {{"y", {2.5, 0.4}}}).front();
  EXPECT_DOUBLE_EQ(of.value, 2.0);
  EXPECT_DOUBLE_EQ(of.input, 1.0);
  EXPECT_NEAR(of.numerical, 0.3, 1e-15);
  EXPECT_DOUBLE_EQ(of.together, std::sqrt(1.0 + 0.09 + 0.16));
  EXPECT_EQ(of.unchecked, 1U);
  // Without a measured value it is that of the simulation alone; without one of the others it is not known.
  EXPECT_DOUBLE_EQ(sweeping::uncertainties(result, 0, {}).front().together, std::sqrt(1.0 + 0.09));
  auto not_estimated = result;
  for (auto& row : not_estimated.cases) row.errors[0] = std::nan("");
  EXPECT_TRUE(std::isnan(sweeping::uncertainties(not_estimated, 0, {{"y", {2.5, 0.4}}}).front().together));
  auto single = result;
  single.cases.resize(1);
  EXPECT_TRUE(std::isnan(sweeping::uncertainties(single, 0, {{"y", {2.5, 0.4}}}).front().together));
  result.sampling = SweepSampling::Grid;
  EXPECT_TRUE(sweeping::uncertainties(result, 0, {}).empty());
}

/// Answers with its process, or ends it.
class OwnProcess final : public sweeping::CaseServer {
 public:
  explicit OwnProcess(bool once) : once_(once) {}
  base::Bytes answer(std::size_t request) override {
    if (request == 13) ::_exit(7);
    if (request == 14) ::raise(SIGKILL);
    answered_ = true;
    return base::to_bytes(static_cast<std::int64_t>(::getpid()));
  }
  base::Bytes after_fault(const std::string&) override { return {}; }
  bool is_used_up() const override { return once_ && answered_; }

 private:
  bool once_;
  bool answered_ = false;
};

std::int64_t process_in(sweeping::CaseProcess& process, std::size_t request) {
  process.ask(request);
  std::int64_t id = 0;
  while (!process.receive()) {
  }
  if (const auto bytes = process.answer()) base::from_bytes(*bytes, id);
  return id;
}

TEST(CaseProcess, answers_again_unless_it_is_used_up) {
  OwnProcess server(false);
  sweeping::CaseProcess process(server);
  const auto first = process_in(process, 1);
  EXPECT_NE(first, ::getpid());
  EXPECT_EQ(process_in(process, 2), first);
  EXPECT_FALSE(process.has_ended());
  OwnProcess once(true);
  sweeping::CaseProcess single(once);
  EXPECT_NE(process_in(single, 1), 0);
  EXPECT_TRUE(single.has_ended());
}

TEST(CaseProcess, reports_how_it_ended) {
  OwnProcess server(false);
  sweeping::CaseProcess left(server);
  EXPECT_EQ(process_in(left, 13), 0);
  EXPECT_EQ(left.how(), "exit code 7");
  EXPECT_FALSE(left.was_killed());
  sweeping::CaseProcess killed(server);
  EXPECT_EQ(process_in(killed, 14), 0);
  EXPECT_EQ(killed.how(), "signal 9 (Killed)");
  EXPECT_TRUE(killed.was_killed());
}

/// y = sin x1 + 7 sin^2 x2 + 0.1 x3^4 sin x1, constant over time.
class Ishigami final : public Subsystem {
 public:
  explicit Ishigami(std::string_view name) : name_(name) {
    for (const char* parameter : {"x1", "x2", "x3"}) {
      auto& variable = table_.parameters.emplace_back();
      variable.name = parameter;
      variable.start = Value(0.0);
    }
    table_.outputs.emplace_back().name = "y";
    can_.feedthrough = Feedthrough(1, 0);
  }
  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place place, const Value& value) override { x_[place.index] = std::get<double>(value); }
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override {
    outputs[0] = std::sin(x_[0]) + 7.0 * std::pow(std::sin(x_[1]), 2) + 0.1 * std::pow(x_[2], 4) * std::sin(x_[0]);
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    evaluate({}, outputs);
    return {step.from + step.size};
  }

 private:
  std::string name_;
  VariableTable table_;
  Capabilities can_;
  std::array<double, 3> x_{};
};

// 0.1 + 0.2 is not 0.3: what rounding leaves is explained by no input.
TEST(SweepSobol, of_a_quantity_that_varies_by_rounding_alone_are_unknown) {
  std::vector<double> values;
  for (std::size_t i = 0; i < 4 * 8; ++i) values.push_back(i % 3 == 0 ? 0.3 : 0.1 + 0.2);
  const auto indices = sweeping::sobol_indices({values}, 8, 2, nullptr);
  ASSERT_EQ(indices.front().size(), 2U);
  for (const auto& index : indices.front()) {
    EXPECT_TRUE(std::isnan(index.first));
    EXPECT_TRUE(std::isnan(index.total_high));
  }
  const std::atomic<bool> interrupted = true;
  EXPECT_TRUE(sweeping::sobol_indices({values}, 8, 2, &interrupted).empty());
}

TEST(Sweep, of_a_shard_that_does_not_exist_is_refused) {
  for (const std::size_t shards : {0U, 3U}) {
    SweepOptions options;
    options.shard = 3;
    options.shards = shards;
    try {
      sweep(SystemDescription{}, options);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("no shard"), std::string::npos) << error.what();
    }
  }
}

// Of the literature (Ishigami and Homma, 1990; a = 7, b = 0.1): the variance is known in closed form.
TEST(Sweep, of_the_ishigami_function_has_its_sobol_indices_within_their_intervals) {
  const double pi = std::numbers::pi;
  const double v1 = 0.5 * std::pow(1.0 + 0.1 * std::pow(pi, 4) / 5.0, 2);
  const double v2 = 49.0 / 8.0;
  const double v13 = 0.01 * std::pow(pi, 8) * (1.0 / 18.0 - 1.0 / 50.0);
  const double all = v1 + v2 + v13;
  const test::TemporaryFolder folder;
  SystemDescription description;
  description.name = "ishigami";
  description.method.value = "jacobi";
  description.stop = {1.0, {}};
  description.step = {1.0, {}};
  description.subsystems.emplace_back().name = "f";
  description.subsystems.back().model = "ishigami";
  SweepOptions options;
  options.sweep = varying({{"f.x1", "-3.14159265358979..3.14159265358979"},
                           {"f.x2", "-3.14159265358979..3.14159265358979"},
                           {"f.x3", "-3.14159265358979..3.14159265358979"}});
  options.sweep.cases = {1000, {}};
  options.sweep.sampling = {"sobol", {}};
  options.sweep.quantities = {{"y = last(f.y)", {}}};
  options.estimate = false;
  options.folder = folder / "sweep";
  Extensions extensions;
  extensions.subsystems = [](std::string_view kind, std::string_view name) -> std::unique_ptr<Subsystem> {
    return kind == "ishigami" ? std::make_unique<Ishigami>(name) : nullptr;
  };
  const auto result = sweep(description, options, extensions);
  ASSERT_EQ(result.cases.size(), 5000U);
  ASSERT_EQ(result.sobol.size(), 1U);
  const std::array first{v1 / all, v2 / all, 0.0};
  const std::array total{(v1 + v13) / all, v2 / all, v13 / all};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& index = result.sobol[0][d];
    EXPECT_LE(index.first_low, first[d]) << d;
    EXPECT_GE(index.first_high, first[d]) << d;
    EXPECT_LE(index.total_low, total[d]) << d;
    EXPECT_GE(index.total_high, total[d]) << d;
    EXPECT_LT(index.first_high - index.first_low, 0.25) << d;
  }
}

}  // namespace sweep_test
}  // namespace entrain
