# Manual pages: the program writes its own; those of the small programs are made from their --help.
option(RANKLOOM_COMPRESS_PAGES "Compress manual pages when they are installed, as distributions want them" OFF)
include(GNUInstallDirs)

# rankloom_install_pages(COMPONENT PATTERN FOLDER) installs all pages of a folder whose names match rankloom*PATTERN.
function(rankloom_install_pages component pattern folder)
  set(section ${CMAKE_INSTALL_MANDIR}/man1)
  install(DIRECTORY ${folder}/ DESTINATION ${section} COMPONENT ${component} FILES_MATCHING PATTERN "rankloom${pattern}")
  if(RANKLOOM_COMPRESS_PAGES)
    install(CODE "
      file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${section}/rankloom${pattern}\")
      execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  endif()
endfunction()

# rankloom_help_page(NAME PROGRAM "what it does" COMPONENT DEPENDENCY) makes and installs NAME.1 from `PROGRAM --help`; the target
# is NAME_page.
function(rankloom_help_page name program summary component dependency)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(folder ${PROJECT_BINARY_DIR}/share/man/help/${component})
  set(script ${PROJECT_SOURCE_DIR}/cmake/help_page.py)
  add_custom_command(OUTPUT ${folder}/${name}.1
    COMMAND Python3::Interpreter ${script} ${name} ${PROJECT_VERSION} ${summary} ${program} ${folder}/${name}.1
    DEPENDS ${dependency} ${script}
    VERBATIM
    COMMENT "Writing the manual page of ${name}")
  add_custom_target(${name}_page ALL DEPENDS ${folder}/${name}.1)
  string(REGEX REPLACE "^rankloom" "" rest ${name})
  rankloom_install_pages(${component} "${rest}.1" ${folder})
  set_property(GLOBAL APPEND PROPERTY rankloom_help_pages ${name}_page)
endfunction()
