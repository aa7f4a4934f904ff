// What modelDescription.xml of FMI 3 may contain about start values, references and names, and what is refused.
#include <gtest/gtest.h>

#include "subsystem/fmi/fmu.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace broken_descriptions_test {

subsystem::FmuDescription described(const std::string& variables) {
  return subsystem::parse_model_description(
      R"(<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t">
  <CoSimulation modelIdentifier="m"/><ModelVariables>)" +
          variables + "</ModelVariables><ModelStructure/></fmiModelDescription>",
      "part.fmu");
}

std::string refusal(const std::string& variables) {
  try {
    described(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.context().remedy, "The FMU is broken: report it to its vendor");
    EXPECT_EQ(error.fact().subjects.front(), "part.fmu");
    return test::outline(error);
  }
  return "accepted";
}

std::string input(const std::string& start, const std::string& dimensions, const std::string& type = "Float64") {
  return "<" + type + " name=\"a\" valueReference=\"5\" causality=\"input\" start=\"" + start + "\">" + dimensions +
         "</" + type + ">";
}

constexpr const char* kTwoByThree = "<Dimension start=\"2\"/><Dimension start=\"3\"/>";

// FMI 3.0, section 2.4.7.5.1: "if only one value is given, all elements have it".
TEST(StartValuesOfAnArray, one_fills_all_elements) {
  const auto ports = subsystem::ports_of(described(input("9", kTwoByThree)), "part.fmu");
  ASSERT_EQ(ports.table.inputs.size(), 6U);
  for (const auto& element : ports.table.inputs) EXPECT_EQ(element.start, Value(9.0)) << element.name;
}

TEST(StartValuesOfAnArray, of_any_other_number_than_its_elements_are_refused) {
  EXPECT_EQ(refusal(input("1 2 3 4 5 6", kTwoByThree)), "accepted");
  for (const char* start : {"1 2", "1 2 3 4 5", "1 2 3 4 5 6 7 8"}) {
    EXPECT_TRUE(refusal(input(start, kTwoByThree)).starts_with("description-array-starts part.fmu, a ")) << start;
  }
  const std::string size = R"(<UInt64 name="n" valueReference="1" causality="structuralParameter" start="2"/>)";
  const std::string by_parameter = "<Dimension valueReference=\"1\"/>";
  EXPECT_EQ(refusal(size + input("1 2", by_parameter)), "accepted");
  EXPECT_EQ(refusal(size + input("1 2 3", by_parameter)), "description-array-starts part.fmu, a (starts = 3)");
  EXPECT_EQ(refusal(input("1 2", "<Dimension start=\"9223372036854775808\"/><Dimension start=\"2\"/>")),
            "description-array-starts part.fmu, a (starts = 2)");
  EXPECT_EQ(refusal(R"(<String name="s" valueReference="1"><Start value="a"/><Start value="b"/></String>)"),
            "description-scalar-starts part.fmu (element = variable 's', starts = 2)");
}

TEST(StartValues, must_fit_their_type) {
  const auto message = [](const std::string& text, const std::string& type) {
    return "description-start part.fmu, a (element = variable 'a', type = " + type + ", value = " + text + ")";
  };
  EXPECT_EQ(refusal(input("yes", "", "Boolean")), message("yes", "Boolean"));
  EXPECT_EQ(refusal(input("Tomato", "", "Boolean")), message("Tomato", "Boolean"));
  for (const char* boolean : {"true", "false", "0", "1", "True", " true "})
    EXPECT_EQ(refusal(input(boolean, "", "Boolean")), "accepted") << boolean;
  EXPECT_EQ(refusal(input("99999999999", "", "Int32")), message("99999999999", "Int32"));
  EXPECT_EQ(refusal(input("256", "", "UInt8")), message("256", "UInt8"));
  EXPECT_EQ(refusal(input("-1", "", "UInt16")), message("-1", "UInt16"));
  EXPECT_EQ(refusal(input("-129", "", "Int8")), message("-129", "Int8"));
  EXPECT_EQ(refusal(input("32768", "", "Int16")), message("32768", "Int16"));
  EXPECT_EQ(refusal(input("4294967296", "", "UInt32")), message("4294967296", "UInt32"));
  EXPECT_EQ(refusal(input("4294967295", "", "UInt32")), "accepted");
  EXPECT_EQ(refusal(input("1e300", "", "Float32")), message("1e300", "Float32"));
  EXPECT_EQ(refusal(input("3.4028234e38", "", "Float32")), "accepted");
}

TEST(ValueReferences, of_fmi_3_are_shared_by_aliases_alone) {
  const std::string first = R"(<Float64 name="a" valueReference="5"><Alias name="b"/></Float64>)";
  EXPECT_EQ(refusal(first), "accepted");
  EXPECT_EQ(refusal(first + R"(<Float64 name="c" valueReference="5" causality="output"/>)"),
            "description-reference-twice part.fmu, a, c (other_type = Float64, reference = 5, type = Float64)");
}

TEST(NamesOfVariables, are_not_empty) {
  EXPECT_EQ(refusal(R"(<Float64 name="" valueReference="5"/>)"), "description-no-name part.fmu (number = 1)");
  EXPECT_EQ(refusal(R"(<Float64 name="a" valueReference="5"><Alias name="a"/></Float64>)"),
            "description-name-twice part.fmu, a");
}

TEST(Dimensions, are_given_by_structural_parameters_of_type_uint64) {
  const std::string size = R"(<Int32 name="n" valueReference="1" causality="structuralParameter" start="2"/>)";
  EXPECT_EQ(refusal(size + input("1", "<Dimension valueReference=\"1\"/>")),
            "description-dimension part.fmu, n (element = a dimension of 'a', type = Int32)");
}

}  // namespace broken_descriptions_test
}  // namespace entrain
