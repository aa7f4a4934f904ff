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
