#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "entrain/model.hpp"
#include "entrain/system_description.hpp"

namespace entrain::subsystem {

/// A table over time as a model without inputs and states. Before its first and behind its last row it keeps the values
/// of that row.
class CsvSource : public Model {
 public:
  virtual Time first_time() const = 0;
  virtual Time last_time() const = 0;
};

/// Inputs that take no real numbers, by the column that feeds them.
using FedInputs = std::map<std::string, Variable>;

/// The first line names the columns: "time", then the outputs, each with a unit if need be: "torque [N.m]". Commas,
/// tabs or semicolons separate them. A column that feeds an input of another type has that type, and is held. Throws
/// Error{FileFailed} or Error{InvalidSystem}, naming the line that makes no sense.
std::unique_ptr<CsvSource> read_csv_source(const std::filesystem::path& file, TableInterpolation interpolation,
                                           const FedInputs& fed = {});
/// The same from text; `file` is for the messages.
std::unique_ptr<CsvSource> parse_csv_source(std::string_view text, const std::filesystem::path& file,
                                            TableInterpolation interpolation, const FedInputs& fed = {});

}  // namespace entrain::subsystem
