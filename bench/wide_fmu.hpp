#pragma once

#include <fmt/format.h>
#include <zip.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace entrain::bench {

inline constexpr int kPorts = 10;  ///< of wide_fmu.c, inputs and outputs

inline std::string wide_description() {
  std::string variables;
  std::string outputs;
  for (int k = 0; k < 2 * kPorts; ++k) {
    const bool is_input = k < kPorts;
    variables +=
        fmt::format(R"(<ScalarVariable name="{}{}" valueReference="{}" causality="{}"><Real{}/></ScalarVariable>)",
                    is_input ? 'u' : 'y', k % kPorts, k, is_input ? "input" : "output", is_input ? " start=\"1\"" : "");
    if (!is_input) outputs += fmt::format(R"(<Unknown index="{}" dependencies=""/>)", k + 1);
  }
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="wide" guid="wide">
<CoSimulation modelIdentifier="wide" canHandleVariableCommunicationStepSize="true"/>
<ModelVariables>{}</ModelVariables><ModelStructure><Outputs>{}</Outputs></ModelStructure></fmiModelDescription>)",
                     variables, outputs);
}

/// `library`: made of wide_fmu.c.
inline void write_wide_fmu(const std::filesystem::path& library, const std::filesystem::path& file) {
  std::ifstream stream(library, std::ios::binary);
  const std::string binary{std::istreambuf_iterator<char>(stream), {}};
  const std::string description = wide_description();
  zip_t* archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  const auto add = [&](const char* name, const std::string& content) {
    zip_file_add(archive, name, zip_source_buffer(archive, content.data(), content.size(), 0), ZIP_FL_ENC_UTF_8);
  };
  add("modelDescription.xml", description);
  add("binaries/linux64/wide.so", binary);
  if (zip_close(archive) != 0) std::exit(1);
}

}  // namespace entrain::bench
