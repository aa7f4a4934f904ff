// `entrain convert`: between the formats, and the run stays the same.
#include <gtest/gtest.h>

#include "support/example_fmus.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace convert_test {

namespace fs = std::filesystem;

class Convert : public testing::Test {
 protected:
  test::ProgramResult convert(const std::string& from, const std::string& to) const {
    return test::run_program(folder_, {"convert", from, to});
  }
  test::TemporaryFolder folder_;
};

TEST_F(Convert, to_ssp_and_back_runs_the_same) {
  test::write_text(folder_ / "a.toml",
                   "[run]\nstart = 0.5\nstop = 2.0\nstep = 0.01\nmethod = \"gauss-seidel\"\n"
                   "[method.gauss-seidel]\ndegree = 1\n[subsystems.left]\nfmu = \"" +
                       test::fmu_folder() +
                       "/2/mechanical_left.fmu\"\nrollback = false\nstart = { x = 1.5 }\n"
                       "[subsystems.right]\nfmu = \"" +
                       test::fmu_folder() +
                       "/3/mechanical_right.fmu\"\n[connections]\n\"left.v\" = { to = \"right.v\", factor = 0.5, "
                       "offset = 0.25 }\n\"left.x\" = \"right.x\"\n\"right.F\" = \"left.F\"\n[record]\n"
                       "variables = [\"left.x\", \"right.F\"]\n");
  const auto results = test::results_of(folder_, "a.toml", "first");
  EXPECT_GT(results.size(), 1000U);
  for (const auto& [from, to] : {std::pair("a.toml", "b.ssp"),
                                 {"b.ssp", "c.toml"},
                                 {"b.ssp", "d.ssp"},
                                 {"a.toml", "e.ssd"},
                                 {"e.ssd", "f.toml"}}) {
    const auto converted = convert(from, to);
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_EQ(test::results_of(folder_, to, std::string(to) + ".run"), results) << from << " -> " << to;
  }
  EXPECT_EQ(convert("a.toml", "g.ssp").exit_code, 0);
  EXPECT_TRUE(test::text_of(folder_ / "b.ssp") == test::text_of(folder_ / "g.ssp")) << "not the same bytes";
}

TEST_F(Convert, overwrites_nothing_and_names_what_has_no_place) {
  test::write_text(folder_ / "a.toml", "");
  const auto refusal = [&](const char* to) {
    return test::refusal_outline([&] { entrain::convert(folder_ / "a.toml", folder_ / to); });
  };
  EXPECT_EQ(refusal("a.toml"), "file-exists " + (folder_ / "a.toml").string());
  EXPECT_EQ(refusal("a.xml"), "system-format-unknown " + (folder_ / "a.xml").string());
  EXPECT_EQ(convert("a.toml", "a.toml").exit_code, 1);
  test::write_text(folder_ / "m.toml", "[run]\nstop = 1\n[subsystems.p]\nmodel = \"lotka_volterra.prey\"\n");
  const auto native = convert("m.toml", "m.ssp");
  EXPECT_EQ(native.exit_code, 1);
  EXPECT_TRUE(native.err.starts_with("entrain: m.toml:3: 'p' ")) << native.err;
  EXPECT_FALSE(fs::exists(folder_ / "m.ssp"));
}

/// By FMUs, because SSP holds nothing else.
class ConvertedExample : public Convert, public testing::WithParamInterface<std::string> {};

TEST_P(ConvertedExample, runs_the_same) {
  auto example = test::example(GetParam());
  example.stop->value = std::min(example.stop->value, 5.0);
  for (auto& subsystem : example.subsystems) {
    subsystem.fmu = test::fmu_of(subsystem);
    subsystem.model.clear();
  }
  test::write_text(folder_ / "a.toml", system_text(example));
  for (const auto& [from, to] : {std::pair("a.toml", "b.ssp"), {"b.ssp", "c.toml"}}) {
    const auto converted = convert(from, to);
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
  }
  const auto results = test::results_of(folder_, "a.toml", "a");
  EXPECT_GT(results.size(), 1000U);
  EXPECT_TRUE(results == test::results_of(folder_, "b.ssp", "b"));
  EXPECT_TRUE(results == test::results_of(folder_, "c.toml", "c"));
}

INSTANTIATE_TEST_SUITE_P(Examples, ConvertedExample, testing::ValuesIn(test::example_names()),
                         [](const auto& each) { return each.param; });

TEST_F(Convert, into_another_folder_finds_tables_and_fmus) {
  fs::create_directories(folder_ / "in");
  fs::create_directories(folder_ / "out");
  test::write_text(folder_ / "in/load.csv", "time,p\n0,1\n1,2\n");
  test::write_text(folder_ / "in/a.toml",
                   "[run]\nstop = 1.0\nstep = 0.01\n[subsystems.load]\ncsv = \"load.csv\"\ninterpolation = "
                   "\"linear\"\n[subsystems.predator]\nfmu = \"predator.fmu\"\n[connections]\n\"load.p\" = "
                   "\"predator.u\"\n");
  fs::copy_file(test::fmu_folder() + "/2/lotka_volterra_predator.fmu", folder_ / "in/predator.fmu");
  const auto converted = convert("in/a.toml", "out/b.toml");
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  const auto results = test::results_of(folder_, "in/a.toml", "first");
  EXPECT_GT(results.size(), 1000U);
  EXPECT_EQ(results, test::results_of(folder_, "out/b.toml", "second"));
}

TEST_F(Convert, keeps_array_elements_that_a_structural_parameter_makes) {
  test::write_typed3(folder_);
  test::write_text(folder_ / "a.toml",
                   "[run]\nstop = 1.0\nstep = 0.25\n[subsystems.a]\nfmu = \"typed3.fmu\"\nstart = { n = 3, \"v[1]\" = "
                   "4.5, \"v[2]\" = 5.5, \"v[3]\" = 6.5 }\n[subsystems.b]\nfmu = \"typed3.fmu\"\nstart = { n = 3, "
                   "\"v[1]\" = 0.0, \"v[2]\" = 0.0, \"v[3]\" = 0.0 }\n[connections]\n\"a.w[3]\" = \"b.v[3]\"\n");
  const auto results = test::results_of(folder_, "a.toml", "first");
  EXPECT_NE(results.find("b.w[3]"), std::string::npos) << results;
  ASSERT_EQ(convert("a.toml", "b.ssd").exit_code, 0);
  const auto document = test::text_of(folder_ / "b.ssd");
  EXPECT_NE(document.find("<ssd:Connector name=\"w[3]\" kind=\"output\"><ssc:Real/>"), std::string::npos) << document;
  EXPECT_EQ(results, test::results_of(folder_, "b.ssd", "second"));
}

TEST_F(Convert, defines_the_units_of_values_and_writes_them_in_the_type_of_their_variable) {
  test::write_text(folder_ / "a.toml",
                   "[run]\nstop = 1.0\nstep = 0.01\n[subsystems.car]\nfmu = \"" + test::fmu_folder() +
                       "/2/car_body.fmu\"\nstart = { v = 10 }\n[subsystems.car.optional_start]\nF = { "
                       "value = 3.0, unit = \"kN\" }\nm = { value = 1500.0, unit = \"kg\" }\n");
  ASSERT_EQ(convert("a.toml", "b.ssd").exit_code, 0);
  const auto document = test::text_of(folder_ / "b.ssd");
  for (const auto* part :
       {"<ssv:Real value=\"3\" unit=\"kN\"/>", "<ssv:Real value=\"1500\"/>", "<ssv:Real value=\"10\"/>",
        "<ssv:Units><ssc:Unit name=\"kN\"><ssc:BaseUnit kg=\"1\" m=\"1\" s=\"-2\" "
        "factor=\"1000\"/></ssc:Unit></ssv:Units>"})
    EXPECT_NE(document.find(part), std::string::npos) << part << " is missing in\n" << document;
  EXPECT_EQ(test::results_of(folder_, "a.toml", "first"), test::results_of(folder_, "b.ssd", "second"));
}

}  // namespace convert_test
}  // namespace entrain
