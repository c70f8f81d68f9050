dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  head = "GET " .. wrk.path .. "?dataId=" .. base .. "-"
  tail = "&group=DEFAULT_GROUP HTTP/1.1\r\n" .. common_lines .. "\r\n"
end

function request()
  return head .. (next_number() * 7919 % count) .. tail
end
