#include "common.hpp"

namespace entrain::python {
namespace {

/// A warning while the call lasts, by the thread that waits for it. One that is made an error cannot end the run from
/// there, but is seen.
void warn_of(const Fact& call) {
  const nb::gil_scoped_acquire locked;
  try {
    const std::string text = render(call) + "; Ctrl-C ends the run";
    nb::module_::import_("entrain._error").attr("warn")(nb::make_tuple(text));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("entrain");
  }
}

}  // namespace
}  // namespace entrain::python

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // notebooks keep objects to the end, and what they keep is not lost
  module.doc() = "The engine, as the package entrain uses it. Not for users: the names here change.";
  using namespace entrain::python;
  static const auto* const long_calls = new entrain::LongCallWatch(warn_of);  // to the very end, as the module
  static_cast<void>(long_calls);
  bind_values(module);
  bind_description(module);
  bind_method(module);
  bind_real_time(module);
  bind_results(module);
  bind_run(module);
  bind_simulation(module);
  bind_sweep(module);
  bind_verbs(module);
}
