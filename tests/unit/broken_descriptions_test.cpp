// What modelDescription.xml of FMI 3 may say about start values, references and names, and what is refused.
#include <gtest/gtest.h>

#include "subsystem/fmi/fmu.hpp"

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
    EXPECT_EQ(error.context().remedy, "The FMU is broken: tell who made it");
    return error.message();
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
    EXPECT_NE(refusal(input(start, kTwoByThree)).find("which is neither 1 nor the number of its elements"),
              std::string::npos)
        << start;
  }
  const std::string size = R"(<UInt64 name="n" valueReference="1" causality="structuralParameter" start="2"/>)";
  const std::string by_parameter = "<Dimension valueReference=\"1\"/>";
  EXPECT_EQ(refusal(size + input("1 2", by_parameter)), "accepted");
  EXPECT_NE(refusal(size + input("1 2 3", by_parameter)).find("has 3 start values"), std::string::npos);
  EXPECT_NE(refusal(input("1 2", "<Dimension start=\"9223372036854775808\"/><Dimension start=\"2\"/>"))
                .find("has 2 start values"),
            std::string::npos);
  EXPECT_NE(refusal(R"(<String name="s" valueReference="1"><Start value="a"/><Start value="b"/></String>)")
                .find("is a scalar with 2 start values"),
            std::string::npos);
}

TEST(StartValues, must_fit_their_type) {
  const auto told = [](const std::string& text, const std::string& type) {
    return "FMU 'part.fmu': variable 'a': '" + text + "' is no start value for " + type;
  };
  EXPECT_EQ(refusal(input("yes", "", "Boolean")), told("yes", "Boolean"));
  EXPECT_EQ(refusal(input("Tomato", "", "Boolean")), told("Tomato", "Boolean"));
  for (const char* boolean : {"true", "false", "0", "1", "True", " true "})
    EXPECT_EQ(refusal(input(boolean, "", "Boolean")), "accepted") << boolean;
  EXPECT_EQ(refusal(input("99999999999", "", "Int32")), told("99999999999", "Int32"));
  EXPECT_EQ(refusal(input("256", "", "UInt8")), told("256", "UInt8"));
  EXPECT_EQ(refusal(input("-1", "", "UInt16")), told("-1", "UInt16"));
  EXPECT_EQ(refusal(input("-129", "", "Int8")), told("-129", "Int8"));
  EXPECT_EQ(refusal(input("32768", "", "Int16")), told("32768", "Int16"));
  EXPECT_EQ(refusal(input("4294967296", "", "UInt32")), told("4294967296", "UInt32"));
  EXPECT_EQ(refusal(input("4294967295", "", "UInt32")), "accepted");
  EXPECT_EQ(refusal(input("1e300", "", "Float32")), told("1e300", "Float32"));
  EXPECT_EQ(refusal(input("3.4028234e38", "", "Float32")), "accepted");
}

TEST(ValueReferences, of_fmi_3_are_shared_by_aliases_alone) {
  const std::string first = R"(<Float64 name="a" valueReference="5"><Alias name="b"/></Float64>)";
  EXPECT_EQ(refusal(first), "accepted");
  EXPECT_EQ(refusal(first + R"(<Float64 name="c" valueReference="5" causality="output"/>)"),
            "FMU 'part.fmu': variables 'a' (Float64) and 'c' (Float64) have the same value reference 5");
}

TEST(NamesOfVariables, are_not_empty) {
  EXPECT_EQ(refusal(R"(<Float64 name="" valueReference="5"/>)"), "FMU 'part.fmu': variable number 1 has an empty name");
  EXPECT_EQ(refusal(R"(<Float64 name="a" valueReference="5"><Alias name="a"/></Float64>)"),
            "FMU 'part.fmu': variable 'a' is there twice");
}

TEST(Dimensions, are_told_by_structural_parameters_of_type_uint64) {
  const std::string size = R"(<Int32 name="n" valueReference="1" causality="structuralParameter" start="2"/>)";
  EXPECT_EQ(refusal(size + input("1", "<Dimension valueReference=\"1\"/>")),
            "FMU 'part.fmu': a dimension of 'a' is told by 'n', which is of type Int32, not UInt64");
}

}  // namespace broken_descriptions_test
}  // namespace entrain
