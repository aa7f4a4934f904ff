#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/units.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace unit_texts_test {

using test::problems_of;

base::UnitConversion conversion(std::string_view from, std::string_view to) {
  return base::unit_conversion(base::unit_meaning(from).value(), base::unit_meaning(to).value()).value();
}

struct Pair {
  const char* from;
  const char* to;
  double factor;
};

// Exact by definition: SI Brochure (9th ed.), tables 2, 4, 7 and 8; the pound-force and the inch of 1959.
TEST(UnitTexts, take_prefixes_parentheses_and_the_symbols_of_tools) {
  for (const auto& [from, to, factor] : {Pair{"GPa", "Pa", 1e9},        Pair{"uA", "A", 1e-6},
                                         Pair{"nm", "m", 1e-9},         Pair{"t", "kg", 1e3},
                                         Pair{"mN.m", "N.m", 1e-3},     Pair{"kJ/(kg.K)", "J/(kg.K)", 1e3},
                                         Pair{"MOhm", "Ohm", 1e6},      Pair{"lbf", "N", 4.4482216152605},
                                         Pair{"%", "1", 1e-2},          Pair{"ppm", "%", 1e-4},
                                         Pair{"uF", "F", 1e-6},         Pair{"mS", "A/V", 1e-3},
                                         Pair{"C", "A.s", 1.0},         Pair{"W/(m2.K)", "kg/(s3.K)", 1.0},
                                         Pair{"mm2", "m²", 1e-6},       Pair{"µm", "m", 1e-6},
                                         Pair{"kΩ", "Ohm", 1e3},        Pair{"dag", "g", 10.0},
                                         Pair{"hPa", "mbar", 1.0},      Pair{"kNm", "N.m", 1e3},
                                         Pair{"(m/s)^2", "m2/s2", 1.0}, Pair{"kmol/h", "mol/s", 1.0 / 3.6},
                                         Pair{"psi", "lbf/in2", 1.0},   Pair{"kWh", "MJ", 3.6}}) {
    EXPECT_NEAR(conversion(from, to).factor / factor, 1.0, 1e-15) << from << " to " << to;
    EXPECT_EQ(conversion(from, to).offset, 0.0) << from << " to " << to;
  }
}

TEST(UnitTexts, that_look_like_prefixes_have_their_own_meaning) {
  EXPECT_DOUBLE_EQ(conversion("min", "s").factor, 60.0);   // no milli-inches
  EXPECT_DOUBLE_EQ(conversion("ft", "m").factor, 0.3048);  // no femtotonnes
  EXPECT_DOUBLE_EQ(conversion("cd", "cd").factor, 1.0);
  EXPECT_DOUBLE_EQ(conversion("PS", "W").factor, 735.49875);  // no petasiemens
  EXPECT_EQ(base::unit_meaning("kt"), std::nullopt);          // a knot to some, a thousand tonnes to others
  EXPECT_EQ(base::unit_meaning("kkg"), std::nullopt);
  EXPECT_EQ(base::unit_meaning("mmin"), std::nullopt);
}

TEST(UnitTexts, that_are_no_units_are_not_known) {
  for (const char* text : {"(", ")", "()", "(m", "m)", "m(s)", "m//s", "m.", "m^", "m^^2", "m2s", "2m", "m^10", "k",
                           "furlong", "(((((((((m)))))))))", "m\xC2"}) {
    EXPECT_EQ(base::unit_meaning(text), std::nullopt) << text;
  }
}

TEST(UnitTexts, of_temperatures_have_an_offset_only_when_they_stand_alone) {
  const auto to_kelvin = conversion("°F", "K");
  EXPECT_NEAR(to_kelvin.factor * 32.0 + to_kelvin.offset, 273.15, 1e-12);
  EXPECT_DOUBLE_EQ(conversion("°C", "K").offset, 273.15);
  EXPECT_EQ(conversion("degC/s", "K/s").offset, 0.0);
  EXPECT_DOUBLE_EQ(conversion("degF/s", "K/s").factor, 5.0 / 9.0);
  EXPECT_EQ(conversion("W/(m2.degC)", "W/(m2.K)").factor, 1.0);
}

/// An FMU of FMI 2 whose x and y have this unit, with this definition.
std::string typed_in(const std::string& unit, const std::string& definition = "", const std::string& more = "") {
  std::string xml = test::kTyped2;
  const auto replace_all = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = xml.find(what); at != std::string::npos; at = xml.find(what, at + by.size()))
      xml.replace(at, what.size(), by);
  };
  replace_all("unit=\"degC\"", "unit=\"" + unit + "\" " + more);
  replace_all("<Unit name=\"mystery\"/>", definition);
  replace_all("<Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>", "<Unit name=\"none\"/>");
  return xml;
}

constexpr const char* kRelative = "relativeQuantity=\"true\"";

class UnitsOfTwoFmus : public testing::Test {
 protected:
  /// a.y of 5 feeds b.x.
  SystemDescription fed(const std::string& xml_of_a, const std::string& xml_of_b) {
    test::write_typed2(folder_, "a.fmu", xml_of_a);
    test::write_typed2(folder_, "b.fmu", xml_of_b);
    return test::system_in(folder_, R"(
[run]
stop = 0.2
step = 0.1
open = ["a.*", "b.*"]
[subsystems.a]
fmu = "a.fmu"
start = { x = 5.0 }
[subsystems.b]
fmu = "b.fmu"
[connections]
"a.y" = "b.x"
)");
  }

  double arriving(const SystemDescription& system) {
    Simulation simulation(system);
    simulation.run();
    warnings_ = simulation.summary().warnings;
    return simulation.value("b.x");
  }

  test::TemporaryFolder folder_;
  std::vector<Fact> warnings_;
};

TEST_F(UnitsOfTwoFmus, of_a_difference_have_no_offset_whether_defined_or_given_by_the_text_alone) {
  EXPECT_EQ(arriving(fed(typed_in("degC", "", kRelative), typed_in("K", "", kRelative))), 5.0);
  const std::string defined = R"(<Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>)";
  EXPECT_EQ(arriving(fed(typed_in("degC", defined, kRelative), typed_in("K", "", kRelative))), 5.0);
  EXPECT_EQ(arriving(fed(typed_in("degC"), typed_in("K"))), 278.15);
}

TEST_F(UnitsOfTwoFmus, one_a_temperature_and_one_a_difference_are_refused) {
  for (const char* unit : {"degC", "K"}) {
    const auto problems = test::problem_facts(fed(typed_in(unit, "", kRelative), typed_in("K")));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].code, FactCode::UnitsDoNotMatch);
    EXPECT_EQ(problems[0].subjects, (std::vector<std::string>{"a.y", "b.x"}));
    EXPECT_EQ(problems[0].text("output_unit"), unit);
    EXPECT_EQ(problems[0].where.line, 12);
  }
  EXPECT_TRUE(test::has_fact(test::problem_facts(fed(typed_in("K"), typed_in("K", "", kRelative))),
                             FactCode::UnitsDoNotMatch, "b.x"));
  // Where offsets mean nothing, neither does the flag.
  EXPECT_EQ(arriving(fed(typed_in("kPa", "", kRelative), typed_in("Pa"))), 5000.0);
}

TEST_F(UnitsOfTwoFmus, of_equal_texts_pass_unchanged_unless_both_define_them) {
  const std::string rpm = R"(<Unit name="rpm"><BaseUnit s="-1" factor="0.016666666666666666"/></Unit>)";
  EXPECT_EQ(arriving(fed(typed_in("rpm", rpm), typed_in("rpm"))), 5.0);
  EXPECT_EQ(arriving(fed(typed_in("K", R"(<Unit name="K"><BaseUnit/></Unit>)"), typed_in("K"))), 5.0);
  EXPECT_EQ(arriving(fed(typed_in("rpm", rpm), typed_in("rpm", rpm))), 5.0);
  const std::string other = R"(<Unit name="rpm"><BaseUnit s="-1" rad="1" factor="0.10471975511965977"/></Unit>)";
  EXPECT_TRUE(test::has_fact(test::problem_facts(fed(typed_in("rpm", rpm), typed_in("rpm", other))),
                             FactCode::UnitsDoNotMatch, "a.y"));
}

TEST_F(UnitsOfTwoFmus, that_differ_and_are_not_known_pass_with_a_warning) {
  EXPECT_EQ(arriving(fed(typed_in("bananas"), typed_in("N"))), 5.0);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_EQ(warnings_[0].code, FactCode::UnitsNotConverted);
  EXPECT_EQ(warnings_[0].text("output_unit"), "bananas");
  EXPECT_EQ(warnings_[0].text("input_unit"), "N");
  EXPECT_EQ(arriving(fed(typed_in("bananas"), typed_in("apples"))), 5.0);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_TRUE(test::has_fact(warnings_, FactCode::UnitsNotConverted, "a.y"));
  EXPECT_EQ(arriving(fed(typed_in("bananas"), typed_in("bananas"))), 5.0);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(arriving(fed(typed_in("bananas"), typed_in(""))), 5.0);
  EXPECT_TRUE(warnings_.empty());
}

}  // namespace unit_texts_test
}  // namespace entrain
