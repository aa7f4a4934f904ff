include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS entrain_program entrain_worker_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS entrain_shared EXPORT entrain LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/entrain DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/entrain)
if(NOT ENTRAIN_SANITIZE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/fmus/2 ${PROJECT_BINARY_DIR}/fmus/3 DESTINATION ${CMAKE_INSTALL_DATADIR}/entrain/fmus)
endif()
install(EXPORT entrain FILE entrain-targets.cmake NAMESPACE entrain:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)
configure_package_config_file(cmake/entrain-config.cmake.in entrain-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)
write_basic_package_version_file(entrain-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/entrain-config.cmake ${PROJECT_BINARY_DIR}/entrain-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)
