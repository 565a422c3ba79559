# Whole programs over real sockets: the official SDKs (PyPI and npm, see run.py), and stories of several workers.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(language IN ITEMS python node)
        add_test(NAME e2e.sdk_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        add_test(NAME e2e.loops_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/loops/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        # They install the same SDKs in the same place.
        set_tests_properties(e2e.sdk_${language} e2e.loops_${language} PROPERTIES TIMEOUT 600
                             RESOURCE_LOCK sdk_${language})
    endforeach()
    file(GLOB stories CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.py")
    list(FILTER stories EXCLUDE REGEX "/sdk_test\\.py$") # which run.py runs
    foreach(story IN LISTS stories)
        get_filename_component(name "${story}" NAME_WE)
        string(REGEX REPLACE "_test$" "" name "${name}")
        add_test(NAME e2e.${name} COMMAND ${Python3_EXECUTABLE} "${story}" $<TARGET_FILE:acog>)
        set_tests_properties(e2e.${name} PROPERTIES TIMEOUT 120)
    endforeach()
endif()
