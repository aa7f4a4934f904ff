#include <nanobind/ndarray.h>

#include "common.hpp"

namespace entrain::python {
namespace {

using Numbers = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;

/// Of results that `owner` keeps alive.
Numbers view_of(const std::vector<double>& numbers, nb::handle owner) {
  return {numbers.data(), {numbers.size()}, owner};
}

const Results::Column& column_of(const Results& results, std::size_t index) {
  if (index >= results.columns.size()) throw nb::index_error("no such signal");
  return results.columns[index];
}

/// As other processes get it: arrays, which pickle sends as they are.
nb::tuple state_of(nb::handle_t<Results> self) {
  const auto& results = nb::cast<const Results&>(self);
  nb::list axes, columns;
  for (const auto& axis : results.axes) axes.append(view_of(axis, self));
  for (const auto& c : results.columns) {
    columns.append(nb::make_tuple(c.name, c.unit, c.description, c.axis, view_of(c.values, self), c.text));
  }
  return nb::make_tuple(axes, columns, results.cut);
}

std::vector<double> numbers_of(nb::handle array) {
  const auto numbers = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array);
  return {numbers.data(), numbers.data() + numbers.size()};
}

Results results_of(nb::tuple state) {
  Results results;
  for (const auto axis : state[0]) results.axes.push_back(numbers_of(axis));
  for (const auto column : state[1]) {
    Results::Column c;
    c.name = nb::cast<std::string>(column[0]);
    c.unit = nb::cast<std::string>(column[1]);
    c.description = nb::cast<std::string>(column[2]);
    c.axis = nb::cast<std::size_t>(column[3]);
    c.values = numbers_of(column[4]);
    c.text = nb::cast<bool>(column[5]);
    if (c.axis >= results.axes.size() || c.values.size() != results.axes[c.axis].size()) {
      throw nb::value_error("the state of the results is damaged");
    }
    results.columns.push_back(std::move(c));
  }
  results.cut = nb::cast<bool>(state[2]);
  return results;
}

}  // namespace

nb::object results_object(Results results) {
  return nb::cast(std::make_unique<Results>(std::move(results)));
}

void bind_results(nb::module_& module) {
  nb::class_<Results>(module, "Results")
      .def_prop_ro("names",
                   [](const Results& results) {
                     std::vector<std::string> names;
                     for (const auto& column : results.columns) names.push_back(column.name);
                     return names;
                   })
      .def_ro("cut", &Results::cut)
      .def("unit", [](const Results& r, std::size_t i) { return column_of(r, i).unit; })
      .def("description", [](const Results& r, std::size_t i) { return column_of(r, i).description; })
      .def("is_text", [](const Results& r, std::size_t i) { return column_of(r, i).text; })
      .def("axis", [](const Results& r, std::size_t i) { return column_of(r, i).axis; })
      .def("values", [](nb::handle_t<Results> self,
                        std::size_t i) { return view_of(column_of(nb::cast<const Results&>(self), i).values, self); })
      .def("times",
           [](nb::handle_t<Results> self, std::size_t i) {
             const auto& results = nb::cast<const Results&>(self);
             return view_of(results.times(column_of(results, i)), self);
           })
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](Results& results, nb::tuple state) { new (&results) Results(results_of(std::move(state))); })
      .def("write", [](const Results& results, const std::filesystem::path& file) {
        const nb::gil_scoped_release released;
        write_results(results, file);
      });
  module.def("read_results", [](const std::filesystem::path& path) {
    Results results;
    {
      const nb::gil_scoped_release released;
      results = read_results(path);
    }
    return results_object(std::move(results));
  });
}

}  // namespace entrain::python
