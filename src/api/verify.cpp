#include "advise/choose_method.hpp"
#include "session/repeatable.hpp"
#include "verify/verification.hpp"

namespace entrain {

Verification verify(const SystemDescription& written, const RunOptions& options, const Extensions& extensions) {
  session::require_repeatable(written, "verify");
  // Chosen anew for h/2 and h/4, the method could be another one, and the runs could not be compared.
  const auto chosen = advising::choose_method(written, extensions);
  auto result = verifying::verify_chosen(chosen.description, options, extensions);
  result.remarks.insert(result.remarks.begin(), chosen.notes.begin(), chosen.notes.end());
  return result;
}

}  // namespace entrain
