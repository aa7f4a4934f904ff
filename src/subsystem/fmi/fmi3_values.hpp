#pragma once

#include <span>

#include "subsystem/fmi/fmi3_api.h"
#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

struct Fmi3Called {
  fmi3Status status = fmi3OK;
  const char* function = "";
};

/// The functions of FMI 3 that set and get the values of one variable, for each type.
class Fmi3Values {
 public:
  struct Callee {
    base::ForeignCode& code;
    fmi3Instance instance;
  };

  explicit Fmi3Values(const FmuLibrary& library) : library_(library) {}

  /// All elements of the variable.
  Fmi3Called set(const Callee& callee, const FmuVariable& variable, std::span<const Value> values) const;
  Fmi3Called get(const Callee& callee, const FmuVariable& variable, std::span<Value> values) const;

 private:
  Fmi3Called set_binaries(const Callee& callee, const FmuVariable& variable, std::span<const Value> values) const;
  Fmi3Called get_binaries(const Callee& callee, const FmuVariable& variable, std::span<Value> values) const;

  const FmuLibrary& library_;
  FmuSymbol<fmi3GetFloat64TYPE> get_float64_{library_, "fmi3GetFloat64"};
  FmuSymbol<fmi3SetFloat64TYPE> set_float64_{library_, "fmi3SetFloat64"};
  FmuSymbol<fmi3GetFloat32TYPE> get_float32_{library_, "fmi3GetFloat32"};
  FmuSymbol<fmi3SetFloat32TYPE> set_float32_{library_, "fmi3SetFloat32"};
  FmuSymbol<fmi3GetInt8TYPE> get_int8_{library_, "fmi3GetInt8"};
  FmuSymbol<fmi3SetInt8TYPE> set_int8_{library_, "fmi3SetInt8"};
  FmuSymbol<fmi3GetUInt8TYPE> get_uint8_{library_, "fmi3GetUInt8"};
  FmuSymbol<fmi3SetUInt8TYPE> set_uint8_{library_, "fmi3SetUInt8"};
  FmuSymbol<fmi3GetInt16TYPE> get_int16_{library_, "fmi3GetInt16"};
  FmuSymbol<fmi3SetInt16TYPE> set_int16_{library_, "fmi3SetInt16"};
  FmuSymbol<fmi3GetUInt16TYPE> get_uint16_{library_, "fmi3GetUInt16"};
  FmuSymbol<fmi3SetUInt16TYPE> set_uint16_{library_, "fmi3SetUInt16"};
  FmuSymbol<fmi3GetInt32TYPE> get_int32_{library_, "fmi3GetInt32"};
  FmuSymbol<fmi3SetInt32TYPE> set_int32_{library_, "fmi3SetInt32"};
  FmuSymbol<fmi3GetUInt32TYPE> get_uint32_{library_, "fmi3GetUInt32"};
  FmuSymbol<fmi3SetUInt32TYPE> set_uint32_{library_, "fmi3SetUInt32"};
  FmuSymbol<fmi3GetInt64TYPE> get_int64_{library_, "fmi3GetInt64"};
  FmuSymbol<fmi3SetInt64TYPE> set_int64_{library_, "fmi3SetInt64"};
  FmuSymbol<fmi3GetUInt64TYPE> get_uint64_{library_, "fmi3GetUInt64"};
  FmuSymbol<fmi3SetUInt64TYPE> set_uint64_{library_, "fmi3SetUInt64"};
  FmuSymbol<fmi3GetBooleanTYPE> get_boolean_{library_, "fmi3GetBoolean"};
  FmuSymbol<fmi3SetBooleanTYPE> set_boolean_{library_, "fmi3SetBoolean"};
  FmuSymbol<fmi3GetStringTYPE> get_string_{library_, "fmi3GetString"};
  FmuSymbol<fmi3SetStringTYPE> set_string_{library_, "fmi3SetString"};
  FmuSymbol<fmi3GetBinaryTYPE> get_binary_{library_, "fmi3GetBinary"};
  FmuSymbol<fmi3SetBinaryTYPE> set_binary_{library_, "fmi3SetBinary"};
};

}  // namespace entrain::subsystem
