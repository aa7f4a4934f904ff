#pragma once

#include "entrain/fact.hpp"

namespace entrain::base {

// Facts as bytes (base/bytes.hpp), for what another process reports.

template <class Visitor>
void visit_fields(Visitor& visit, FactValue& value) {
  visit(value.name, value.value, value.unit);
}

template <class Visitor>
void visit_fields(Visitor& visit, SourcePosition& position) {
  visit(position.file, position.line, position.column);
}

template <class Visitor>
void visit_fields(Visitor& visit, Fact& fact) {
  visit(fact.code, fact.subjects, fact.values, fact.remedy, fact.where);
}

}  // namespace entrain::base
