dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  -- What is on the way at once must not be the same instance: no order holds between two connections.
  lag = math.min(1000, math.floor(count / 2))
end

-- By turns one instance leaves, and one that left a while ago comes back.
function request()
  local n = next_number()
  local index = math.floor(n / 2) % count
  if n % 2 == 1 then return form_request("POST", register_form((index + count - lag) % count, 0)) end
  return "DELETE " .. wrk.path .. "?serviceName=DEFAULT_GROUP%40%40" .. base .. "-" .. math.floor(index / per_service)
    .. "&ip=" .. instance_ip(index) .. "&port=8080&ephemeral=true HTTP/1.1\r\n" .. common_lines .. "\r\n"
end
