#pragma once

#include <string>

/// Where this build keeps what the tests use. Functions in a file of their own, not macros for every test: a compiler
/// cache then serves the tests of another checkout, and constants of other files may use them.
namespace entrain::test {

std::string program();
std::string examples_folder();
std::string fuzz_corpus();
std::string fmu_folder();
std::string fmu_library_folder();
std::string scripted_fmu_library();
std::string scripted_fmu3_library();
std::string scripted_exchange_library();
std::string typed_fmu2_library();
std::string typed_fmu3_library();
std::string array_fmu3_library();
std::string clocked_fmu3_library();
std::string can_fmu3_library();
std::string counting_exchange_library();
std::string stair_exchange1_library();
std::string late_fmu_library(int version);  // of FMI: 1, 2 or 3
std::string forgetful_fmu_library();        // it goes back in part
std::string rod_fmu_library();              // many states that depend on few
std::string trap_fmu_library();
std::string grasping_fmu_library();
std::string printing_fmu_library();
std::string printing_fmu_beside_library();    // its solver is own_solver_library(), to be beside it
std::string printing_fmu_declared_library();  // the same, and it says so
std::string own_solver_library();
std::string needy_fmu_library();
std::string absent_library();

}  // namespace entrain::test
