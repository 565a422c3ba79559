# Whole programs over real sockets: the official SDKs (PyPI and npm, see run.py), and stories of several workers.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(language IN ITEMS python node)
        add_test(NAME e2e.sdk_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        set_tests_properties(e2e.sdk_${language} PROPERTIES TIMEOUT 600)
    endforeach()
    foreach(name IN ITEMS answers bad_provider circuit clients_leave clocks hygiene newcomer records requests s4 safety slow_reader tls)
        add_test(NAME e2e.${name}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/${name}_test.py" $<TARGET_FILE:acog>)
        set_tests_properties(e2e.${name} PROPERTIES TIMEOUT 120)
    endforeach()
endif()
