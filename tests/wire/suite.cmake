# suite.cmake - each tests/wire/NAME.vtc is the ctest case wire.NAME: the gateway as a process, scripted servers and
# clients of varnishtest around it, real sockets.
file(GLOB wire_scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.vtc")
if(TARGET acog)
    foreach(script IN LISTS wire_scripts)
        get_filename_component(name "${script}" NAME_WE)
        add_test(NAME wire.${name}
                 COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/run.sh" "$<TARGET_FILE:acog>" "${script}")
        set_tests_properties(wire.${name} PROPERTIES TIMEOUT 90 SKIP_RETURN_CODE 77)
    endforeach()
endif()
