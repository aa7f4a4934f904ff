#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/choices.hpp"
#include "entrain/export.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// Options of a method are a struct with defaults and one function `void bind(OptionBinder&)` that names each field
/// once. Reading, writing and documenting options are binders; nothing else lists them.
class ENTRAIN_API OptionBinder {
 public:
  virtual ~OptionBinder() = default;

  struct Limits {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
  };
  virtual void number(std::string_view name, double& field, std::string_view help, Limits limits) = 0;
  virtual void integer(std::string_view name, int& field, std::string_view help, Limits limits) = 0;
  virtual void boolean(std::string_view name, bool& field, std::string_view help) = 0;
  /// One of the words of an enumeration.
  template <Choice Enum>
  void choice(std::string_view name, Enum& field, std::string_view help) {
    constexpr auto kWords = words_of<Enum>();
    std::string_view chosen = to_word(field);
    word(name, chosen, help, kWords);
    if (const auto value = from_word<Enum>(chosen)) field = *value;
  }
  virtual void names(std::string_view name, std::vector<std::string>& field, std::string_view help) = 0;
  virtual void list(std::string_view name, std::vector<double>& field, std::string_view help, Limits limits) = 0;
  virtual void numbers(std::string_view name, std::map<std::string, double>& field, std::string_view help,
                       Limits limits) = 0;

 protected:
  /// `field` is one of `words` and stays one.
  virtual void word(std::string_view name, std::string_view& field, std::string_view help,
                    std::span<const std::string_view> words) = 0;
};

/// Something whose options can be listed; implemented by every method.
class ENTRAIN_API HasOptions {
 public:
  virtual ~HasOptions() = default;
  virtual void bind(OptionBinder& binder) = 0;
};

using WrittenOptions = std::map<std::string, Written<OptionValue>>;

/// Where an option was written; nowhere when it was not.
inline SourcePosition position_of(const WrittenOptions& written, const std::string& name) {
  const auto found = written.find(name);
  return found == written.end() ? SourcePosition{} : found->second.where;
}

/// Sets the fields from what the user wrote. Wrong types, values out of limits and unknown keys (with a suggestion)
/// are added to `problems`. `owner` is for the messages, e.g. "method.jacobi".
ENTRAIN_API void read_options(HasOptions& target, const WrittenOptions& written, std::string_view owner,
                              std::vector<Problem>& problems);

/// Every option in force.
ENTRAIN_API std::map<std::string, OptionValue> options_in_force(HasOptions& target);

struct OptionHelp {
  std::string name;
  std::string
      type;  ///< "number", "integer", "boolean", "list of names", "list of numbers", "table of numbers", or "a | b"
  std::string default_value;
  std::string help;
};
ENTRAIN_API std::vector<OptionHelp> describe_options(HasOptions& target);

}  // namespace entrain
