#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/common.hpp"
#include "cli/table.hpp"

namespace entrain::cli {
namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t columns_of_terminal(std::FILE* stream, std::size_t otherwise) {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no other function for it
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string wrapped_line(std::string_view line, std::size_t columns, std::size_t hanging) {
  const std::size_t indent = indent_of(line);
  const bool command = line.substr(indent).starts_with(kCommandMark);
  const std::string_view end = command ? " \\" : "";
  const std::string margin(hanging, ' ');
  std::string text(line.substr(0, indent));
  std::size_t used = indent;
  bool begins = true;
  std::string_view rest = line.substr(indent);
  while (!rest.empty()) {
    const auto space = rest.find(' ', std::min(rest.find_first_not_of(' '), rest.size()));
    const auto word = rest.substr(0, space);  // with the spaces before it
    rest.remove_prefix(word.size());
    const std::size_t width = display_width(word);
    const std::size_t reserve = rest.empty() ? 0 : end.size();
    if (!begins && used + width + reserve > columns) {
      const auto first = std::min(word.find_first_not_of(' '), word.size());
      text.append(end).append("\n").append(margin).append(word.substr(first));
      used = margin.size() + width - first;
    } else {
      text.append(word);
      used += width;
    }
    begins = false;
  }
  return text;
}

template <class Hanging>
std::string wrapped_lines(std::string_view text, std::size_t columns, const Hanging& hanging) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    result += display_width(line) <= columns ? std::string(line) : wrapped_line(line, columns, hanging(line));
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace

bool stderr_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

std::size_t terminal_columns() {
  constexpr std::size_t kUsualColumns = 80;
  return columns_of_terminal(error_output(), kUsualColumns);
}

std::size_t output_columns() {
  return ::isatty(::fileno(output())) == 1 ? columns_of_terminal(output(), kAnyWidth) : kAnyWidth;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  return wrapped_lines(text, columns, [](std::string_view line) { return indent_of(line) + 2; });
}

std::string wrapped_help(std::string_view text, std::size_t columns) {
  return wrapped_lines(text, columns, [columns](std::string_view line) {
    const std::size_t indent = indent_of(line);
    const auto gap = line.find("  ", indent);
    const auto column = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    const std::size_t meaning = indent > columns / 4 ? indent : column;
    return meaning <= columns / 2 ? meaning : indent + 2;
  });
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
