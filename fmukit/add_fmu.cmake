# entrain_add_fmu: an FMU of a C++ model, in this project and in others that have it by find_package(entrain COMPONENTS fmukit).
# Needs the targets entrain::fmukit, entrain::fmukit_flags, entrain::fmi1_exports (2, 3), entrain::fmu_describer and
# entrain::fmu_packer; definition.cpp.in and exports.map lie beside this file.
# entrain_add_fmu(NAME name MODEL text HEADER file FACTORY function [VERSION 1 2 3] [DESCRIPTION text] [FOLDER folder]
#                 [SOURCES file...] [INCLUDES folder...] [INTERNAL_STEP s] [SOLVER exact|erk|cvode] [TOLERANCE t] [CO_SIMULATION_ONLY]
#                 [MODEL_EXCHANGE_ONLY] [NO_ROLLBACK] [NO_DIRECTIONAL] [ADJOINT] [FIXED_PARAMETERS]
#                 [BARE] [STRICT])
# makes <build>/fmus/[<FOLDER>/]<version>/<NAME>.fmu, for FMI 2 and 3 by default; an FMU of FMI 1 is for co-simulation unless it is
# MODEL_EXCHANGE_ONLY.
function(entrain_add_fmu)
  set(flags CO_SIMULATION_ONLY MODEL_EXCHANGE_ONLY NO_ROLLBACK NO_DIRECTIONAL ADJOINT FIXED_PARAMETERS BARE STRICT)
  cmake_parse_arguments(FMU "${flags}" "NAME;MODEL;HEADER;FACTORY;DESCRIPTION;FOLDER;INTERNAL_STEP;SOLVER;TOLERANCE"
    "VERSION;SOURCES;INCLUDES" ${ARGN})
  foreach(needed NAME MODEL HEADER FACTORY)
    if(NOT FMU_${needed})
      message(FATAL_ERROR "entrain_add_fmu(${FMU_NAME}): ${needed} is missing")
    endif()
  endforeach()
  if(FMU_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "entrain_add_fmu(${FMU_NAME}): unknown arguments ${FMU_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT FMU_VERSION)
    set(FMU_VERSION 2 3)
  endif()
  if(NOT TARGET entrain_fmukit_headers)  # in another project
    list(APPEND FMU_INCLUDES ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(FMU_OPTIONS "")
  if(FMU_BARE)
    string(APPEND FMU_OPTIONS ".rollback = false, .input_degree = 0, .directional_derivatives = false, .states = false, "
      ".output_derivative_order = 0, ")
  elseif(FMU_NO_ROLLBACK)
    string(APPEND FMU_OPTIONS ".rollback = false, ")
  endif()
  if(FMU_NO_DIRECTIONAL)
    string(APPEND FMU_OPTIONS ".directional_derivatives = false, ")
  endif()
  if(FMU_ADJOINT)
    string(APPEND FMU_OPTIONS ".adjoint_derivatives = true, ")
  endif()
  if(FMU_FIXED_PARAMETERS)
    string(APPEND FMU_OPTIONS ".tunable_parameters = false, ")
  endif()
  if(FMU_MODEL_EXCHANGE_ONLY)
    string(APPEND FMU_OPTIONS ".co_simulation = false, ")
  elseif(FMU_CO_SIMULATION_ONLY)
    string(APPEND FMU_OPTIONS ".model_exchange = false, ")
  endif()
  if(FMU_INTERNAL_STEP)
    string(APPEND FMU_OPTIONS ".internal_step = ${FMU_INTERNAL_STEP}, ")
  endif()
  if(FMU_SOLVER)
    set(solvers exact erk cvode)
    if(NOT FMU_SOLVER IN_LIST solvers)
      message(FATAL_ERROR "entrain_add_fmu(${FMU_NAME}): SOLVER is exact, erk or cvode, not '${FMU_SOLVER}'")
    endif()
    string(SUBSTRING ${FMU_SOLVER} 0 1 first)
    string(SUBSTRING ${FMU_SOLVER} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND FMU_OPTIONS ".solver = InnerSolver::${first}${rest}, ")
  endif()
  if(FMU_TOLERANCE)
    string(APPEND FMU_OPTIONS ".tolerance = ${FMU_TOLERANCE}, ")
  endif()
  if(FMU_STRICT)
    string(APPEND FMU_OPTIONS ".strict = true")
  endif()

  # What the FMU is, compiled once; what describes it and its libraries share it.
  string(REPLACE "/" "_" target fmu_${FMU_FOLDER}_${FMU_NAME})
  set(work ${PROJECT_BINARY_DIR}/fmukit/${FMU_FOLDER})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/definition.cpp.in ${work}/${FMU_NAME}.cpp @ONLY)
  add_library(${target}_definition OBJECT ${work}/${FMU_NAME}.cpp ${FMU_SOURCES})
  set_target_properties(${target}_definition PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target}_definition PRIVATE ${FMU_INCLUDES})
  target_link_libraries(${target}_definition PRIVATE entrain::fmukit_flags)
  if(TARGET entrain_fmukit_headers)
    target_precompile_headers(${target}_definition REUSE_FROM entrain_fmukit_headers)
  endif()
  add_executable(${target}_describe $<TARGET_OBJECTS:${target}_definition>)
  set_target_properties(${target}_describe PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${work} OUTPUT_NAME describe_${FMU_NAME}
    LINKER_LANGUAGE CXX)
  target_link_libraries(${target}_describe PRIVATE entrain::fmu_describer entrain::fmukit)
  target_link_options(${target}_describe PRIVATE -Wl,--gc-sections)  # a unit holds more than is used

  if(NOT TARGET fmus)
    add_custom_target(fmus ALL)
  endif()
  foreach(version ${FMU_VERSION})
    set(library ${target}_${version})
    add_library(${library} MODULE $<TARGET_OBJECTS:${target}_definition>)
    set_target_properties(${library} PROPERTIES PREFIX "" OUTPUT_NAME ${FMU_NAME} LINKER_LANGUAGE CXX
      LIBRARY_OUTPUT_DIRECTORY ${work}/${version} LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map)
    target_link_libraries(${library} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,entrain::fmi${version}_exports> entrain::fmukit)
    target_link_options(${library} PRIVATE
      -Wl,--gc-sections -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map)
    if(version EQUAL 1)
      # FMI 1.0 has the model identifier before every name, so these get theirs when an FMU is linked.
      set(names GetTypesPlatform GetModelTypesPlatform GetVersion InstantiateSlave InstantiateModel FreeSlaveInstance
        FreeModelInstance SetDebugLogging InitializeSlave Initialize TerminateSlave Terminate ResetSlave GetReal GetInteger
        GetBoolean GetString SetReal SetInteger SetBoolean SetString SetRealInputDerivatives GetRealOutputDerivatives DoStep
        GetRealStatus CancelStep GetStatus GetIntegerStatus GetBooleanStatus GetStringStatus SetTime SetContinuousStates CompletedIntegratorStep GetDerivatives GetEventIndicators
        EventUpdate GetContinuousStates GetStateValueReferences GetNominalContinuousStates)
      foreach(name ${names})
        target_link_options(${library} PRIVATE -Wl,-u,fmi${name} -Wl,--defsym=${FMU_NAME}_fmi${name}=fmi${name})
      endforeach()
    endif()
    target_link_options(${library} PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,defs -Wl,-s)
    set(folder ${PROJECT_BINARY_DIR}/fmus/${FMU_FOLDER}/${version})
    file(MAKE_DIRECTORY ${folder})
    set(fmu ${folder}/${FMU_NAME}.fmu)
    set(description ${work}/${version}/${FMU_NAME}.xml)
    add_custom_command(OUTPUT ${fmu} BYPRODUCTS ${description}
      COMMAND ${target}_describe ${version} ${description}
      COMMAND entrain::fmu_packer ${version} ${description} $<TARGET_FILE:${library}> ${fmu}
      DEPENDS ${library} ${target}_describe entrain::fmu_packer VERBATIM COMMENT "Packing ${FMU_NAME}.fmu")
    add_custom_target(${library}_file DEPENDS ${fmu})
    if(FMU_FOLDER MATCHES "^test/" AND TARGET test_fmus)
      add_dependencies(test_fmus ${library}_file)
    elseif(NOT FMU_FOLDER STREQUAL bench)
      add_dependencies(fmus ${library}_file)
    endif()
  endforeach()
endfunction()
