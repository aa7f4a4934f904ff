#include "studio/page.hpp"

namespace entrain::studio {

std::string page_with_nonce(std::string_view nonce) {
  constexpr std::string_view kPlace = "STUDIO_NONCE";
  const auto page = page_template();
  std::string text;
  std::size_t done = 0;
  for (auto at = page.find(kPlace); at != std::string_view::npos; at = page.find(kPlace, done)) {
    text.append(page.substr(done, at - done)).append(nonce);
    done = at + kPlace.size();
  }
  return text.append(page.substr(done));
}

}  // namespace entrain::studio
