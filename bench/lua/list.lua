dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  head = "GET " .. wrk.path .. "?serviceName=" .. base .. "-"
  tail = " HTTP/1.1\r\n" .. common_lines .. "\r\n"
end

function request()
  return head .. (next_number() * 7919 % count) .. tail
end
