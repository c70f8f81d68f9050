-- What every script shares: the arguments, and one line with the figures at the end.
-- Arguments: base name, number of keys, keys per service, first number, "lasting" for instances that need no beats;
-- after these, what only one script knows.

-- The header lines of every request; BENCH_AUTHORIZATION is who signs in.
local authorization = os.getenv("BENCH_AUTHORIZATION") or ""
common_lines = "Host: localhost\r\n" .. (authorization == "" and "" or "Authorization: " .. authorization .. "\r\n")

function take_arguments(args)
  base = args[1] or "bench"
  count = tonumber(args[2] or "1")
  per_service = tonumber(args[3] or "1")
  number = tonumber(args[4] or "0")
  lasting = args[5] == "lasting"
end

function next_number()
  number = number + 1
  return number - 1
end

function instance_ip(index)
  return string.format("127.%d.%d.%d", 1 + math.floor(index / 65536) % 128, math.floor(index / 256) % 256, index % 256)
end

local ORDINARY = "zone%22%3A%22a%22%2C%22preserved.register.source%22%3A%22SPRING_CLOUD%22"
local LASTING = "preserved.heart.beat.timeout%22%3A%227200000%22%2C%22preserved.ip.delete.timeout%22%3A%227200000%22"

-- The form of a registration, as registerForm() of request-text.ts.
function register_form(index, version)
  return "serviceName=DEFAULT_GROUP%40%40" .. base .. "-" .. math.floor(index / per_service)
    .. "&groupName=DEFAULT_GROUP&ip=" .. instance_ip(index)
    .. "&port=8080&weight=1.0&enable=true&healthy=true&ephemeral=true&metadata=%7B%22version%22%3A%22" .. version
    .. "%22%2C%22" .. (lasting and LASTING or ORDINARY) .. "%7D"
end

function form_request(method, form)
  return method .. " " .. wrk.path .. " HTTP/1.1\r\n" .. common_lines
    .. "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " .. #form .. "\r\n\r\n" .. form
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("FIGURES %d %d %f %f %f %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
