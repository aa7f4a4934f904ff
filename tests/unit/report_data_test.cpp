#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "entrain/envelope.hpp"
#include "entrain/error.hpp"
#include "entrain/results.hpp"
#include "read/csv_reader.hpp"
#include "read/thinning.hpp"
#include "report/json_parts.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"
#include "report/verdict.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace report_data_test {

using Json = nlohmann::ordered_json;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Envelope, keeps_every_extreme_of_a_million_samples_in_its_room) {
  Envelope envelope(2, 64);
  for (int i = 0; i < 1'000'000; ++i) {
    const double spike = i == 123'456 ? 7.0 : i == 654'321 ? -9.0 : 0.0;
    const double values[] = {spike, static_cast<double>(i)};
    envelope.add(i, values);
  }
  ASSERT_LE(envelope.size(), 64U);
  EXPECT_GE(envelope.size(), 32U);
  EXPECT_EQ(envelope.samples(), 1'000'000U);
  double low = 0.0;
  double high = 0.0;
  for (std::size_t span = 0; span < envelope.size(); ++span) {
    low = std::min(low, envelope.low(span, 0));
    high = std::max(high, envelope.high(span, 0));
    EXPECT_EQ(envelope.time(span), envelope.high(span, 1)) << "a span ends with its last sample";
    if (span > 0) {
      EXPECT_EQ(envelope.low(span, 1), envelope.high(span - 1, 1) + 1.0) << "no sample is lost between spans";
    }
  }
  EXPECT_EQ(low, -9.0);
  EXPECT_EQ(high, 7.0);
}

TEST(Envelope, unknown_values_are_hidden_by_known_ones) {
  Envelope envelope(1, 2);
  for (const double value : {kNaN, 3.0, kNaN, kNaN, 1.0}) envelope.add(0.0, std::span(&value, 1));
  EXPECT_EQ(envelope.low(0, 0), 3.0);
  EXPECT_EQ(envelope.high(1, 0), 1.0);
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> times(count);
  std::iota(times.begin(), times.end(), 0.0);
  return times;
}

TEST(DrawnSamples, hold_the_extremes_the_ends_and_a_gap) {
  std::vector<double> values(100'000, 0.0);
  values[12'345] = 5.0;
  values[77'777] = -4.0;
  values[50'001] = kNaN;
  const auto drawn = reading::drawn_samples(counted(values.size()), values, 1000);
  EXPECT_LE(drawn.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  EXPECT_EQ(std::adjacent_find(drawn.begin(), drawn.end()), drawn.end());
  for (const std::size_t wanted : {0U, 12'345U, 77'777U, 50'001U, 99'999U}) {
    EXPECT_TRUE(std::binary_search(drawn.begin(), drawn.end(), wanted)) << wanted;
  }
}

TEST(DrawnSamples, are_all_when_they_are_few_or_none) {
  EXPECT_EQ(reading::drawn_samples(counted(3), std::vector<double>{1.0, kNaN, 2.0}, 3),
            (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(reading::drawn_samples({}, {}, 3).empty());
  EXPECT_EQ(reading::drawn_samples(counted(5), std::vector<double>(5, kNaN), 4).size(), 2U);
}

TEST(DrawnSamples, lie_where_the_curve_bends) {
  // A shaft at rest that swings for a tenth of the run: 100 periods of 100 samples.
  std::vector<double> values(100'000, 0.0);
  for (std::size_t i = 40'000; i < 50'000; ++i) values[i] = std::sin(0.02 * std::numbers::pi * static_cast<double>(i));
  const auto times = counted(values.size());
  const auto drawn = reading::drawn_samples(times, values, 2000);
  EXPECT_LE(drawn.size(), 2000U);
  double away = 0.0;
  for (std::size_t k = 1; k < drawn.size(); ++k) {
    for (std::size_t i = drawn[k - 1]; i < drawn[k]; ++i) {
      const double part = (times[i] - times[drawn[k - 1]]) / (times[drawn[k]] - times[drawn[k - 1]]);
      away = std::max(away, std::abs(values[i] - std::lerp(values[drawn[k - 1]], values[drawn[k]], part)));
    }
  }
  // 16 lines for a period are wrong by 1 - cos(pi / 16) = 0.02 at least; 2000 samples evenly by its amplitude.
  EXPECT_LT(away, 0.1);
}

TEST(Results, of_a_csv_give_each_subsystem_its_own_times) {
  const TemporaryFolder folder;
  write_text(folder / "results.csv", "time,a.x,a.y,b.x\n0,1,2,3\n1,4,5,\n2,6,NaN,7\n");
  const auto results = read_results(folder / "results.csv");
  ASSERT_EQ(results.axes.size(), 2U);
  EXPECT_EQ(results.find("a.x")->axis, results.find("a.y")->axis);
  EXPECT_EQ(results.axes[results.find("b.x")->axis], (std::vector<double>{0.0, 2.0}));
  EXPECT_EQ(results.find("b.x")->values, (std::vector<double>{3.0, 7.0}));
  EXPECT_TRUE(std::isnan(results.find("a.y")->values[2])) << "a value that is not a number is no empty cell";
  EXPECT_EQ(results.find("c.x"), nullptr);
}

TEST(CsvReader, takes_the_habits_of_other_tools) {
  const auto results = reading::parse_csv("\"Time\",\"a\"\r\n\"0\", 1.5\r\n1,\"2\"\r\n", "other.csv");
  EXPECT_EQ(results.names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(results.columns[0], (std::vector<double>{1.5, 2.0}));
  EXPECT_THROW(reading::parse_csv("time,a\n0,1,2\n", "other.csv"), Error);
  EXPECT_THROW(reading::parse_csv("time,a\n0\n", "other.csv"), Error);
}

double decoded(const std::string& text, std::size_t place) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6U | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(group >> static_cast<unsigned>(bits -= 8) & 255U);
  }
  double value = 0.0;
  std::memcpy(&value, bytes.data() + 8 * place, 8);
  return value;
}

Results sine(std::size_t samples, std::size_t signals) {
  Results results;
  auto& times = results.axes.emplace_back(samples);
  for (std::size_t i = 0; i < samples; ++i) times[i] = 1e-3 * static_cast<double>(i);
  for (std::size_t s = 0; s < signals; ++s) {
    auto& column = results.columns.emplace_back();
    column.name = "wave.y" + std::to_string(s);
    for (const double t : times) column.values.push_back(std::sin(t + static_cast<double>(s)));
  }
  return results;
}

std::vector<reporting::DrawnSignal> all_of(const Results& results) {
  std::vector<reporting::DrawnSignal> drawn;
  for (std::size_t i = 0; i < results.columns.size(); ++i) drawn.push_back({&results, i, std::nullopt});
  return drawn;
}

constexpr std::size_t kRoom = 1'400'000;

TEST(PackedSignals, hold_the_same_bits_on_a_shared_axis) {
  const auto results = sine(100, 3);
  const auto packed = reporting::packed_signals(all_of(results), kRoom);
  ASSERT_EQ(packed["axes"].size(), 1U);
  EXPECT_EQ(packed["samples"], 100);
  EXPECT_EQ(decoded(packed["axes"][0], 99), results.axes[0][99]);
  for (const std::size_t place : {0U, 1U, 50U, 99U}) {
    EXPECT_EQ(decoded(packed["signals"][2]["values"], place), results.columns[2].values[place]);
  }
}

TEST(PackedSignals, of_a_million_samples_stay_in_their_room_and_use_it) {
  for (const std::size_t signals : {1U, 10U}) {
    auto results = sine(1'000'000, signals);
    results.columns[0].values[543'210] = 42.0;
    const auto packed = reporting::packed_signals(all_of(results), kRoom);
    EXPECT_LE(packed.dump().size(), kRoom);
    EXPECT_EQ(packed["samples"], 1'000'000);
    const std::string values = packed["signals"][0]["values"];
    bool found = false;
    for (std::size_t i = 0; i < values.size() * 3 / 32; ++i)
      found = found || decoded(values.substr(i / 3 * 32, 32), i % 3) == 42.0;
    EXPECT_TRUE(found) << "the highest value is drawn";
  }
}

TEST(PackedSignals, beyond_what_can_be_drawn_well_are_counted) {
  const auto results = sine(1000, 500);
  const auto packed = reporting::packed_signals(all_of(results), kRoom);
  EXPECT_EQ(packed["signals"].size() + packed["left_out"].get<std::size_t>(), 500U);
  EXPECT_GT(packed["left_out"], 0);
  EXPECT_LE(packed.dump().size(), kRoom);
}

TEST(PackedSignals, that_are_many_samples_get_what_short_ones_leave) {
  auto results = sine(100'000, 1);
  const auto alone = reporting::packed_signals(all_of(results), kRoom);
  results.axes.emplace_back(100);
  for (int i = 0; i < 50; ++i) results.columns.push_back({"short", "", "", 1, std::vector<double>(100)});
  const auto among_short = reporting::packed_signals(all_of(results), kRoom);
  EXPECT_GT(among_short["drawn"], alone["drawn"].get<std::size_t>() * 9 / 10);
  EXPECT_LE(among_short.dump().size(), kRoom);
}

TEST(PackedSignals, of_differences_take_half_the_room) {
  const auto results = sine(100, 1);
  const auto packed = reporting::packed_signals({{&results, 0, 1, true}}, kRoom);
  EXPECT_EQ(packed["signals"][0]["values"].get<std::string>().size(), (100 * sizeof(float) + 2) / 3 * 4);
  EXPECT_EQ(packed["axes"][0].get<std::string>().size(), (100 * sizeof(float) + 2) / 3 * 4);
}

TEST(Page, cannot_be_left_by_its_data) {
  if (reporting::page_template().empty()) {
    EXPECT_THROW(reporting::page_with(Json::object()), Error);
    return;
  }
  const auto empty = reporting::page_with(Json::object());
  const auto evil = reporting::page_with({{"name", "</script><script>alert(1)</script><!--"}});
  const auto count = [](const std::string& text, std::string_view part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(evil, "<script"), count(empty, "<script"));
  EXPECT_EQ(count(evil, "<!--"), count(empty, "<!--"));
}

Json completed(double residual) {
  return {{"termination", "completed"},
          {"max_coupling_residual", residual},
          {"worst_connection", "a.y -> b.u"},
          {"connections", {{{"output", "a.y"}, {"input", "b.u"}, {"max_residual", residual}}}},
          {"loops", Json::array()},
          {"warnings", Json::array()}};
}

Json steps_with(const std::vector<double>& residuals, double usual) {
  Json time = Json::array();
  for (std::size_t i = 0; i < residuals.size(); ++i) time.push_back(i);
  return {{"channels", {{{"name", "residual"}, {"usual", usual}, {"time", time}, {"low", residuals}}}}};
}

constexpr std::size_t kSome = 100;

TEST(Verdict, follows_the_residual) {
  const reporting::Evidence evidence{.samples = kSome};
  EXPECT_EQ(reporting::verdict_of(completed(1e-9), {}, evidence).level, Verdict::Level::Good);
  EXPECT_EQ(reporting::verdict_of(completed(1e-3), {}, evidence).level, Verdict::Level::Caution);
  EXPECT_EQ(reporting::verdict_of(completed(0.1), {}, evidence).level, Verdict::Level::Bad);
  auto unknown = completed(0.0);
  unknown["max_coupling_residual"] = nullptr;
  EXPECT_EQ(reporting::verdict_of(unknown, {}, evidence).level, Verdict::Level::Caution)
      << "not measured is null, and never good";
}

TEST(Verdict, a_jump_alone_gives_grade_check_with_its_time) {
  std::vector<double> residuals(100, 1e-6);
  residuals[40] = 0.9;
  const auto verdict = reporting::verdict_of(completed(0.9), steps_with(residuals, 1e-6), {.samples = kSome});
  EXPECT_EQ(verdict.level, Verdict::Level::Caution);
  EXPECT_EQ(verdict.reasons[0].text("time"), "40 s");
}

TEST(Verdict, what_lowers_it_most_comes_first) {
  auto run = completed(1e-9);
  const Fact warning{FactCode::FmuClaimWithdrawn, {"a.fmu"}, {{"claim", "rollback"}, {"why", "it lost it"}}};
  run["warnings"] = {reporting::json_of(warning)};
  EXPECT_EQ(reporting::verdict_of(run, {}, {.samples = kSome}).reasons[0], warning);
  EXPECT_EQ(reporting::verdict_of(run, {}, {.samples = kSome}).level, Verdict::Level::Caution);
  run["termination"] = "running";
  const auto killed =
      reporting::verdict_of(run, {}, {.samples = kSome, .not_finite = 3, .taken_away = {"rollback of 'a'"}});
  EXPECT_EQ(killed.level, Verdict::Level::Bad);
  EXPECT_EQ(killed.reasons[0].code, FactCode::RunKilled);
  EXPECT_EQ(number_of(killed.reasons, FactCode::NumbersNotFinite, "count"), 3.0);
  EXPECT_EQ(killed.reasons.back().text("what"), "rollback of 'a'");
  run["termination"] = "failed";
  run["message"] = "the disk is full";
  EXPECT_EQ(word_of(reporting::verdict_of(run, {}, {.samples = kSome}).reasons, FactCode::RunFailed, "why"),
            "the disk is full");
}

}  // namespace report_data_test
}  // namespace entrain::test
