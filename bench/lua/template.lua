dofile(os.getenv("BENCH_LUA") .. "/report.lua")

-- Arguments of its own: method, query, form, header line. {key} in them becomes a key, {ip} the address of that number.
function init(args)
  take_arguments(args)
  method, query, form, header = args[6] or "GET", args[7] or "", args[8] or "", args[9] or ""
  if query ~= "" then query = "?" .. query end
  if header ~= "" then header = header .. "\r\n" end
end

function request()
  local index = next_number() * 7919 % count
  local known = { key = base .. "-" .. index, ip = instance_ip(index) }
  local head = method .. " " .. wrk.path .. query:gsub("{(%w+)}", known) .. " HTTP/1.1\r\n" .. common_lines .. header
  if form == "" then return head .. "\r\n" end
  local body = form:gsub("{(%w+)}", known)
  return head .. "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end
