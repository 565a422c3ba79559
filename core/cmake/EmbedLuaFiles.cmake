# Writes OUTPUT: struct acog_embedded_lua acog_embedded_lua[], one row for each of INPUTS.
set(arrays "")
set(rows "")
set(index 0)
foreach(input IN LISTS INPUTS)
    file(RELATIVE_PATH path "${ROOT}" "${input}")
    file(READ "${input}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char file_${index}[] = {\n${bytes}\n};\n")
    string(APPEND rows "    {\"${path}\", file_${index}, sizeof(file_${index})},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"acog/embedded_lua.h\"

${arrays}
const struct acog_embedded_lua acog_embedded_lua[] = {
${rows}};
const size_t acog_embedded_lua_count = sizeof(acog_embedded_lua) / sizeof(acog_embedded_lua[0]);
")
