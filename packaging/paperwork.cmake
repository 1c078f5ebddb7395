# The files that every Debian package must contain: copyright, changelog, maintainer scripts.
include(GNUInstallDirs)
set(paperwork ${CMAKE_CURRENT_BINARY_DIR}/paperwork)

# The date of the sources, so that the same sources give the same packages.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(source_time $ENV{SOURCE_DATE_EPOCH})
else()
  if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE source_time
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT source_time)
    file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CMakeLists.txt source_time "%s" UTC)
  endif()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date -u -R -d @${source_time} OUTPUT_VARIABLE debian_date
  OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCH "20[0-9][0-9]" source_year "${debian_date}")
set(CPACK_RANKLOOM_TIME ${source_time})
find_program(RANKLOOM_GZIP gzip)
mark_as_advanced(RANKLOOM_GZIP)

# rankloom_compressed(FROM TO) makes TO.gz without a time in it.
function(rankloom_compressed from to)
  execute_process(COMMAND ${RANKLOOM_GZIP} -9nc ${from} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# rankloom_paperwork(COMPONENT PACKAGE COPYRIGHT_TEMPLATE OTHERS)
function(rankloom_paperwork component package template others)
  if(NOT template)
    set(template copyright.in)
  endif()
  set(folder ${paperwork}/${package})
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${package})
  configure_file(debian/${template} ${folder}/copyright @ONLY)
  configure_file(debian/changelog.in ${folder}/changelog @ONLY)
  rankloom_compressed(${folder}/changelog ${folder}/changelog.Debian.gz)
  rankloom_compressed(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${folder}/changelog.gz)
  install(FILES ${folder}/copyright ${folder}/changelog.Debian.gz ${folder}/changelog.gz DESTINATION ${documents} COMPONENT ${component})
  # Licences of what is compiled in ask for their notices to go with the binary.
  foreach(other IN LISTS others)
    if(EXISTS /usr/share/doc/${other}/copyright)
      install(FILES /usr/share/doc/${other}/copyright DESTINATION ${documents}/contains RENAME ${other} COMPONENT ${component})
    endif()
  endforeach()
endfunction()

# rankloom_scripts(NAME postinst.in prerm.in) writes the scripts of a package; ${scripts} are their paths.
macro(rankloom_scripts name)
  set(scripts)
  foreach(script ${ARGN})
    string(REGEX REPLACE "^.*\\.(postinst|prerm)\\.in$" "\\1" kind ${script})
    set(path ${paperwork}/scripts/${name}/${kind})
    set(script_name ${name})
    configure_file(debian/${script} ${path} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
      WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts ${path})
  endforeach()
endmacro()
