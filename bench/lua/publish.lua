dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  filler = string.rep("spring.datasource.hikari.maximum-pool-size%3D20%0A", 32)
end

-- Every content is a new one: 1.5 KB, as configContent() of request-text.ts.
function request()
  local n = next_number()
  return form_request("POST", "dataId=" .. base .. "-" .. (n % count) .. "&group=DEFAULT_GROUP&content=version%3D"
    .. string.format("%010d", n) .. "%0A" .. filler)
end
