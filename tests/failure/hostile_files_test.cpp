// Files made to do harm. Each is refused with its reason, in bounded time and memory.
#include <gtest/gtest.h>

#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/limited_program.hpp"
#include "support/zip_bytes.hpp"

namespace entrain {
namespace hostile_files_test {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::ZipBytes;

struct Hostile {
  std::string name;
  std::string file;  ///< to be checked
  std::string (*content)();
  std::string reason;                                          ///< a code with its last subjects
  std::vector<std::pair<std::string, std::string>> more = {};  ///< files beside it
};

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string archive_of(const ZipBytes::Entry& entry) {
  ZipBytes zip;
  zip.add(entry);
  return zip.finished();
}

/// An FMU 3.0 with this inside its ModelVariables, behind this head.
std::string fmu_with(const std::string& variables, const std::string& head = {}) {
  return archive_of({"modelDescription.xml",
                     head +
                         "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
                         "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>" +
                         variables + "</ModelVariables><ModelStructure/></fmiModelDescription>",
                     false});
}

std::string variable(const std::string& type, const std::string& name, int reference, const std::string& inside = {}) {
  return "<" + type + " name=\"" + name + "\" valueReference=\"" + std::to_string(reference) +
         "\" causality=\"input\" start=\"0\">" + inside + "</" + type + ">";
}

const std::string kEntities =
    "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;\">]>";

std::string ssd_with(const std::string& elements) {
  return "<SystemStructureDescription version=\"1.0\" name=\"x\"><System name=\"s\"><Elements>" + elements +
         "</Elements></System></SystemStructureDescription>";
}

std::string nested_zip() {
  std::string bytes = archive_of({"payload", "x"});
  for (int i = 0; i < 50; ++i) bytes = archive_of({"inner.zip", bytes});
  return bytes;
}
std::string ten_gigabytes_of_zeros() {
  constexpr std::uint64_t kSize = 10'000'000'000;
  return archive_of({"modelDescription.xml", test::deflated_zeros(kSize), true, kSize});
}
std::string zeros_packed_too_well() {
  constexpr std::uint64_t kSize = 3'000'000'000;
  return archive_of({"modelDescription.xml", test::deflated_zeros(kSize), true, kSize});
}
std::string zeros_that_claim_to_be_few() {
  return archive_of({"modelDescription.xml", test::deflated_zeros(10'000'000'000), true, 100});
}
std::string a_million_entries() {
  ZipBytes zip;
  zip.add({"f", "x"});
  zip.add_aliases(1'000'000);
  return zip.finished();
}
std::string link_to_etc() {
  return archive_of({"resources", "/etc", false, 0, 0120777});
}
std::string path_to_etc() {
  return archive_of({"../../../../../../etc/entrain", "x"});
}
std::string name_with_newline() {
  return archive_of({"model\nDescription.xml", "x"});
}
std::string name_with_zero_byte() {
  return archive_of({std::string("modelDescription.xml\0.txt", 25), "x"});
}
std::string entities_in_an_fmu() {
  return fmu_with("", kEntities);
}
std::string entities_in_an_ssd() {
  return kEntities + ssd_with("&c;");
}
std::string deep_elements_in_an_fmu() {
  return fmu_with(repeated("<a>", 1'000'000) + repeated("</a>", 1'000'000));
}
std::string deep_elements_in_an_ssd() {
  return ssd_with(repeated("<System name=\"s\"><Elements>", 500'000) + repeated("</Elements></System>", 500'000));
}
std::string deep_elements_that_never_end() {
  return ssd_with(repeated("<a>", 1'000'000));
}
std::string same_reference_of_two_types() {
  return fmu_with(variable("Float64", "a", 7) + variable("Int32", "b", 7));
}
std::string same_reference_of_two_inputs() {
  return fmu_with(variable("Float64", "a", 7) + variable("Float64", "b", 7));
}
std::string same_name_twice() {
  return fmu_with(variable("Float64", "a", 1) + variable("Float64", "a", 2));
}
std::string array_of(const std::string& dimensions) {
  return fmu_with(variable("Float64", "a", 7, dimensions));
}
std::string array_of_size_zero() {
  return array_of("<Dimension start=\"0\"/>");
}
std::string array_of_half_the_address_space() {
  return array_of("<Dimension start=\"9223372036854775808\"/>");
}
std::string array_whose_size_overflows() {
  return array_of("<Dimension start=\"4294967296\"/><Dimension start=\"4294967296\"/>");
}
std::string array_of_a_structural_size() {
  return fmu_with(
      "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" variability=\"fixed\" "
      "start=\"9223372036854775808\"/>" +
      variable("Float64", "a", 7, "<Dimension valueReference=\"1\"/>"));
}
std::string many_large_arrays() {
  std::string variables;
  for (int i = 0; i < 1000; ++i)
    variables += variable("Float64", "a" + std::to_string(i), i, "<Dimension start=\"100000\"/>");
  return fmu_with(variables);
}
std::string array_of_endless_names() {
  std::string names;
  for (int i = 0; i < 1000; ++i) names += "<Alias name=\"n" + std::to_string(i) + "\"/>";
  return array_of("<Dimension start=\"100000\"/>" + names);
}
std::string as_many_outputs_as_inputs() {
  return fmu_with(
      variable("Float64", "a", 7, "<Dimension start=\"50000\"/>") +
      "<Float64 name=\"y\" valueReference=\"8\" causality=\"output\"><Dimension start=\"50000\"/></Float64>");
}
std::string system_with_a_table() {
  return "[run]\nstop = 1.0\n[subsystems.load]\ncsv = \"load.csv\"\n";
}
std::string table_of_endless_columns() {
  return "time," + repeated("x,", 1'000'000) + "\n0\n";
}
std::string ssd_that_contains_itself() {
  return ssd_with("<Component name=\"c\" type=\"application/x-ssp-definition\" source=\"self.ssd\"/>");
}
std::string ssd_in_a_circle() {
  return ssd_with("<Component name=\"c\" type=\"application/x-ssp-definition\" source=\"b.ssd\"/>");
}
std::string ssd_that_doubles() {
  return ssd_with("<Component name=\"a\" source=\"d1.ssd\"/><Component name=\"b\" source=\"d1.ssd\"/>");
}
std::vector<std::pair<std::string, std::string>> doubling_files() {
  std::vector<std::pair<std::string, std::string>> files;
  for (int i = 1; i <= 40; ++i) {
    const std::string next = "d" + std::to_string(i + 1) + ".ssd";
    files.push_back(
        {"d" + std::to_string(i) + ".ssd",
         ssd_with("<Component name=\"a\" source=\"" + next + "\"/><Component name=\"b\" source=\"" + next + "\"/>")});
  }
  files.push_back({"d41.ssd", ssd_with("")});
  return files;
}
std::string connectors_in_a_circle() {
  return "<SystemStructureDescription version=\"1.0\" name=\"x\"><System name=\"s\"><Elements><System name=\"t\">"
         "<Connectors><Connector name=\"i\" kind=\"input\"/><Connector name=\"o\" kind=\"output\"/></Connectors>"
         "<Connections><Connection startConnector=\"i\" endConnector=\"o\"/></Connections></System>"
         "<Component name=\"c\" source=\"c.fmu\"/></Elements><Connections>"
         "<Connection startElement=\"t\" startConnector=\"o\" endElement=\"t\" endConnector=\"i\"/>"
         "<Connection startElement=\"t\" startConnector=\"o\" endElement=\"c\" endConnector=\"u\"/>"
         "</Connections></System></SystemStructureDescription>";
}
std::string package_that_leads_out() {
  return archive_of({"SystemStructure.ssd", ssd_with("<Component name=\"c\" source=\"../../etc/passwd\"/>")});
}
std::string package_that_contains_itself() {
  return archive_of({"SystemStructure.ssd", ssd_with("<Component name=\"c\" source=\"SystemStructure.ssd\"/>")});
}
std::string endless_key() {
  return repeated("a.", 1'000'000) + "a = 1";
}
std::string deep_lists() {
  return "a = " + repeated("[", 1'000'000);
}

std::vector<Hostile> hostile_files() {
  return {
      {"nested_zip", "a.fmu", nested_zip, "description-missing "},
      {"ten_gigabytes_of_zeros", "a.fmu", ten_gigabytes_of_zeros, "archive-too-large "},
      {"zeros_packed_too_well", "a.fmu", zeros_packed_too_well, "entry-ratio "},
      {"zeros_that_claim_to_be_few", "a.fmu", zeros_that_claim_to_be_few, "entry-larger-than-claimed "},
      {"ten_gigabytes_in_a_package", "a.ssp",
       [] {
         return archive_of({"SystemStructure.ssd", test::deflated_zeros(10'000'000'000), true, 100});
       },
       "entry-larger-than-claimed "},
      {"a_million_entries", "a.fmu", a_million_entries, "archive-too-many-entries "},
      {"link_to_etc", "a.fmu", link_to_etc, "entry-kind "},
      {"path_to_etc", "a.fmu", path_to_etc, "entry-name "},
      {"name_with_newline", "a.fmu", name_with_newline, "model\\x0aDescription.xml"},
      {"name_with_zero_byte", "a.fmu", name_with_zero_byte, "modelDescription.xml\\x00.txt"},
      {"entities_in_an_fmu", "a.fmu", entities_in_an_fmu, "description-not-xml "},
      {"entities_in_an_ssd", "a.ssd", entities_in_an_ssd, "not-xml"},
      {"a_million_nested_elements_in_an_fmu", "a.fmu", deep_elements_in_an_fmu, "description-not-xml "},
      {"a_million_nested_elements_in_an_ssd", "a.ssd", deep_elements_in_an_ssd, "not-xml"},
      {"elements_that_never_end", "a.ssd", deep_elements_that_never_end, "not-xml"},
      {"one_reference_for_two_types", "a.fmu", same_reference_of_two_types, ", a, b"},
      {"one_reference_for_two_inputs", "a.fmu", same_reference_of_two_inputs, ", a, b"},
      {"one_name_twice", "a.fmu", same_name_twice, "description-name-twice "},
      {"array_of_size_0", "a.fmu", array_of_size_zero, "description-dimension-zero "},
      {"array_of_size_2_to_the_63", "a.fmu", array_of_half_the_address_space, "fmu-array-size "},
      {"array_whose_size_overflows", "a.fmu", array_whose_size_overflows, "fmu-array-size "},
      {"array_of_a_structural_size_of_2_to_the_63", "a.fmu", array_of_a_structural_size, "fmu-array-size "},
      {"a_thousand_large_arrays", "a.fmu", many_large_arrays, "fmu-array-total "},
      {"array_with_a_thousand_names", "a.fmu", array_of_endless_names, "fmu-array-names "},
      {"as_many_outputs_as_inputs", "a.fmu", as_many_outputs_as_inputs, "fmu-too-many-pairs "},
      {"time_going_backwards",
       "a.toml",
       system_with_a_table,
       "csv-time-falls",
       {{"load.csv", "time,x\n0,1\n2,1\n1,1\n"}}},
      {"time_that_is_no_number", "a.toml", system_with_a_table, "csv-no-number", {{"load.csv", "time,x\nnan,1\n"}}},
      {"table_of_a_million_columns",
       "a.toml",
       system_with_a_table,
       "csv-column-twice",
       {{"load.csv", table_of_endless_columns()}}},
      {"table_with_a_quote_that_never_ends",
       "a.toml",
       system_with_a_table,
       "csv-open-quote",
       {{"load.csv", "time,x\n0,\"" + repeated("1\n", 1'000'000)}}},
      {"ssd_that_contains_itself", "self.ssd", ssd_that_contains_itself, "contains-itself"},
      {"ssds_in_a_circle",
       "a.ssd",
       ssd_in_a_circle,
       "contains-itself",
       {{"b.ssd", ssd_with("<Component name=\"c\" type=\"application/x-ssp-definition\" source=\"a.ssd\"/>")}}},
      {"ssds_that_double_each_time", "a.ssd", ssd_that_doubles, "too-many-elements", doubling_files()},
      {"connectors_in_a_circle", "a.ssd", connectors_in_a_circle, "connector-circle"},
      {"package_that_leads_out", "a.ssp", package_that_leads_out, "source-leads-out"},
      {"package_that_contains_itself", "a.ssp", package_that_contains_itself, "contains-itself"},
      {"endless_key", "a.toml", endless_key, "key-too-long"},
      {"deep_lists", "a.toml", deep_lists, "not-toml"},
  };
}

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileFile : public testing::TestWithParam<Hostile> {};

TEST_P(HostileFile, is_refused_with_its_reason_in_bounded_time_and_memory) {
  const auto& hostile = GetParam();
  const TemporaryFolder folder;
  test::write_text(folder / hostile.file, hostile.content());
  for (const auto& [name, text] : hostile.more) test::write_text(folder / name, text);
  const auto result = test::run_limited(folder, {"run", hostile.file, "--json"}, 20);
  EXPECT_EQ(result.ended.end_signal, 0);
  EXPECT_EQ(result.ended.exit_code, 1);
  const auto outlines = test::outlines_of_problems(result.ended.out);
  EXPECT_NE(outlines.find(hostile.reason), std::string::npos) << outlines.substr(0, 2000);
  EXPECT_LT(result.peak_kilobytes, 600'000);
}

INSTANTIATE_TEST_SUITE_P(Cases, HostileFile, testing::ValuesIn(hostile_files()),
                         [](const auto& each) { return each.param.name; });

}  // namespace hostile_files_test
}  // namespace entrain
