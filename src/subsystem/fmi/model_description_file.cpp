
#include <cstdint>
#include <system_error>

#include "base/text_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

FmuDescription read_model_description(const std::filesystem::path& file, const std::string& fmu) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::DescriptionMissing, {fmu}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Check that the file is an FMU"});
  }
  constexpr std::uintmax_t kMostBytes = 256U << 20U;  // parsing takes many times the size of the text
  if (size > kMostBytes) {
    throw Error(ErrorCode::InvalidSystem,
                {FactCode::DescriptionTooLarge, {fmu}, {{"bytes", size}, {"limit", kMostBytes}}});
  }
  const std::string text =
      base::read_text_file(file, {"a modelDescription.xml", "Check that the file is an FMU", kMostBytes});
  return parse_model_description(text, fmu);
}

}  // namespace entrain::subsystem
