dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
end

-- Each pass over the instances has other metadata, so that every registration is a change.
function request()
  local n = next_number()
  return form_request("POST", register_form(n % count, math.floor(n / count)))
end
