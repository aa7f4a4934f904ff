#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/common.hpp"

namespace entrain::cli {
namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

}  // namespace

bool stderr_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

std::size_t terminal_columns() {
  constexpr std::size_t kUsualColumns = 80;
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no other function for it
  if (::ioctl(::fileno(error_output()), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(std::size_t columns, std::string text) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && taken++ == columns) {
      text.resize(i);
      break;
    }
  }
  return text;
}

}  // namespace entrain::cli
