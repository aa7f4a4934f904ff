#include "description/array_connections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

using Indices = std::vector<std::uint64_t>;

/// Of "[2,3]"; nullopt for anything else.
std::optional<Indices> indices_in(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  Indices indices;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (true) {
    const auto [next, error] = std::from_chars(at, end, indices.emplace_back());
    if (error != std::errc()) return std::nullopt;
    if (next == end) return indices;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
}

class ArrayFinder {
 public:
  explicit ArrayFinder(std::string_view name) : name_(name) {}

  void add(const std::vector<Variable>& ports) {
    for (const auto& port : ports) {
      add(port.name);
      for (const auto& name : port.other_names) add(name);
    }
  }

  std::optional<PortArray> found() {
    std::uint64_t missing = array_.elements.size();
    for (const std::uint64_t size : sizes_) missing = size == 0 || missing % size != 0 ? 0 : missing / size;
    if (is_none_ || array_.elements.empty() || missing != 1) return std::nullopt;
    array_.shape = fmt::format("[{}]", fmt::join(sizes_, ","));
    return std::move(array_);
  }

 private:
  void add(std::string_view port) {
    if (!port.starts_with(name_)) return;
    const std::string_view element = port.substr(name_.size());
    const auto indices = indices_in(element);
    if (indices && array_.elements.empty()) sizes_ = *indices;
    is_none_ = is_none_ || element.empty() || (indices && indices->size() != sizes_.size());
    if (is_none_ || !indices) return;
    for (std::size_t d = 0; d < sizes_.size(); ++d) sizes_[d] = std::max(sizes_[d], (*indices)[d]);
    array_.elements.emplace_back(element);
  }

  std::string_view name_;
  bool is_none_ = false;  ///< a port itself, or several arrays
  Indices sizes_;
  PortArray array_;
};

std::optional<PortArray> array_in(std::string_view name, const std::vector<Variable>& real,
                                  const std::vector<Variable>& discrete) {
  ArrayFinder finder(name);
  finder.add(real);
  finder.add(discrete);
  return finder.found();
}

/// The first dot ends the name of the subsystem.
std::string_view variable_of(std::string_view name) {
  return name.substr(std::min(name.find('.'), name.size() - 1) + 1);
}

}  // namespace

std::optional<PortArray> output_array(const VariableTable& variables, std::string_view name) {
  return array_in(name, variables.outputs, variables.discrete_outputs);
}

std::optional<PortArray> input_array(const VariableTable& variables, std::string_view name) {
  return array_in(name, variables.inputs, variables.discrete_inputs);
}

std::vector<ConnectionDescription> element_connections(const ConnectionDescription& connection,
                                                       const VariableTable* from, const VariableTable* to,
                                                       std::vector<Problem>& problems) {
  const auto outputs = from == nullptr ? std::nullopt : output_array(*from, variable_of(connection.output));
  const auto inputs = to == nullptr || !outputs ? std::nullopt : input_array(*to, variable_of(connection.input));
  if (!inputs) return {connection};
  std::vector<ConnectionDescription> connections;
  if (outputs->shape != inputs->shape) {
    problems.push_back(problem_of(Fact{FactCode::ShapesDiffer,
                                       {connection.output, connection.input},
                                       {{"shape", outputs->shape}, {"input_shape", inputs->shape}}},
                                  "connect their elements one by one, or change the structural parameters",
                                  connection.where));
    return connections;
  }
  connections.reserve(outputs->elements.size());
  for (const auto& element : outputs->elements) {
    auto& single = connections.emplace_back(connection);
    single.output += element;
    single.input += element;
  }
  return connections;
}

}  // namespace entrain::description
