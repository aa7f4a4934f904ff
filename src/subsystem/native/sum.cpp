#include "subsystem/native/sum.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::subsystem {
namespace {

constexpr std::size_t kMostNumbers = 1000;  // of a sum: more is a mistake

VariableTable sum_variables(std::size_t terms, std::optional<std::size_t> length) {
  VariableTable table;
  for (std::size_t j = 0; j < length.value_or(1); ++j) {
    const std::string place = length ? fmt::format("[{}]", j) : std::string();
    for (std::size_t i = 0; i < terms; ++i)
      table.inputs.push_back(real(fmt::format("in[{}]{}", i, place), "", "is added"));
    table.outputs.push_back(real("out" + place, "", "the sum"));
  }
  return table;
}

class Sum final : public LinearModel {
 public:
  Sum(std::size_t terms, std::optional<std::size_t> length)
      : LinearModel(sum_variables(terms, length)), terms_(terms), length_(length.value_or(1)) {}

  void configure(std::span<const Value>) override {
    Linearization sum;
    sum.B = {0, terms_ * length_};
    sum.C = {length_, 0};
    sum.D = {length_, terms_ * length_};
    for (std::size_t j = 0; j < length_; ++j) {
      for (std::size_t i = 0; i < terms_; ++i) sum.D(j, j * terms_ + i) = 1.0;
    }
    set_matrices(std::move(sum));
  }
  bool is_function() const override { return true; }

 private:
  std::size_t terms_;
  std::size_t length_;
};

/// Takes a number off the front.
std::optional<std::size_t> take_count(std::string_view& text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count == 0 || count > kMostNumbers || text.front() == '0') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return count;
}

}  // namespace

std::unique_ptr<Model> make_sum(std::string_view name) {
  constexpr std::string_view kPrefix = "sum.";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const auto terms = take_count(name);
  if (!terms) return nullptr;
  if (name.empty()) return std::make_unique<Sum>(*terms, std::nullopt);
  if (name.front() != 'x') return nullptr;
  name.remove_prefix(1);
  const auto length = take_count(name);
  if (!length || !name.empty() || *terms * *length > kMostNumbers) return nullptr;
  return std::make_unique<Sum>(*terms, length);
}

}  // namespace entrain::subsystem
