#pragma once

namespace pugi {
class xml_document;
}

namespace entrain {

/// Makes control characters (written as character references, or raw) and broken UTF-8 in attributes visible as \xNN:
/// names and descriptions of an FMU end up in messages and on terminals. Line ends and tabs stay, except in names.
void make_printable(pugi::xml_document& document);

}  // namespace entrain
