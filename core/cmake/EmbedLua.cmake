# embed_lua(TARGET FILE...): compiles Lua files into TARGET as one table, acog_embedded_lua[], whose rows
# hold the module name ("lua/version", "policies/acog"), the path and the bytes. The text stays a real
# .lua file, so luacheck, editors and tracebacks see it as one.
function(embed_lua target)
    set(output "${CMAKE_BINARY_DIR}/generated/embedded_lua.c")
    add_custom_command(
        OUTPUT "${output}"
        COMMAND ${CMAKE_COMMAND} "-DINPUTS=${ARGN}" "-DOUTPUT=${output}" "-DROOT=${CMAKE_SOURCE_DIR}"
                -P ${CMAKE_SOURCE_DIR}/core/cmake/EmbedLuaFiles.cmake
        DEPENDS ${ARGN} "${CMAKE_SOURCE_DIR}/core/cmake/EmbedLuaFiles.cmake"
        VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()
