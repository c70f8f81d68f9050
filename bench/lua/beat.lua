dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  head = "PUT " .. wrk.path .. "?serviceName=DEFAULT_GROUP%40%40" .. base .. "-"
  middle = "%22%2C%22metadata%22%3A%7B%7D%2C%22port%22%3A8080%2C%22scheduled%22%3Atrue%2C%22serviceName%22%3A%22DEFAULT_GROUP%40%40"
    .. base .. "-"
  tail = "%22%2C%22weight%22%3A1%7D HTTP/1.1\r\n" .. common_lines .. "\r\n"
end

function request()
  local index = next_number() * 7919 % count
  local service = math.floor(index / per_service)
  return head .. service .. "&beat=%7B%22cluster%22%3A%22DEFAULT%22%2C%22ip%22%3A%22" .. instance_ip(index)
    .. middle .. service .. tail
end
