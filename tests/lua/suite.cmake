# `acog test` over every folder that has tests in Lua, one ctest case each: the API's, the policies', the examples'.
if(TARGET acog)
    file(GLOB folders LIST_DIRECTORIES true RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS
         "${CMAKE_SOURCE_DIR}/examples/*" "${CMAKE_SOURCE_DIR}/policies/*")
    foreach(path IN ITEMS tests/lua LISTS folders)
        file(GLOB_RECURSE lua_tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${path}/*_test.lua")
        if(lua_tests)
            set(options "")
            if(path MATCHES "^policies/") # every line of a policy is run by its own tests
                set(options --coverage-min 100)
            endif()
            add_test(NAME lua.${path} COMMAND acog test ${options} "${path}"
                     WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
            set_tests_properties(lua.${path} PROPERTIES TIMEOUT 120)
        endif()
    endforeach()
endif()
