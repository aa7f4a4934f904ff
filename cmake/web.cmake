# The page of the reports, as a C++ source that holds it. Rebuilt when something in web/ changes; empty without npm.
file(GLOB_RECURSE ENTRAIN_WEB_SOURCES CONFIGURE_DEPENDS web/src/*)
set(page ${PROJECT_BINARY_DIR}/web/page.html)
set(source ${PROJECT_BINARY_DIR}/web/page_template.cpp)
add_custom_command(OUTPUT ${page}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page ${page}
  DEPENDS ${ENTRAIN_WEB_SOURCES} web/index.html web/vite.config.js web/tsconfig.json web/package.json web/package-lock.json
    tools/build_page
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Building the page of the reports" VERBATIM)
add_custom_command(OUTPUT ${source}
  COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D SOURCE=${source} -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page} cmake/embed_page.cmake VERBATIM)
# A library of its own, so that only what links the program waits for npm.
add_library(entrain_page STATIC ${source})
target_include_directories(entrain_page PRIVATE src)
target_link_libraries(entrain_page PRIVATE entrain_flags)
target_link_libraries(entrain_report INTERFACE entrain_page)
