-- What every script shares: the arguments, and one line with the figures at the end.
-- Arguments: base name, number of keys, keys per service, first number.

function take_arguments(args)
  base = args[1] or "bench"
  count = tonumber(args[2] or "1")
  per_service = tonumber(args[3] or "1")
  number = tonumber(args[4] or "0")
end

function next_number()
  number = number + 1
  return number - 1
end

function instance_ip(index)
  return string.format("127.%d.%d.%d", 1 + math.floor(index / 65536) % 128, math.floor(index / 256) % 256, index % 256)
end

function form_request(method, form)
  return method .. " " .. wrk.path .. " HTTP/1.1\r\nHost: localhost\r\n"
    .. "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " .. #form .. "\r\n\r\n" .. form
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("FIGURES %d %d %f %f %f %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
