dofile(os.getenv("BENCH_LUA") .. "/report.lua")

function init(args)
  take_arguments(args)
  metadata = "&metadata=%7B%22version%22%3A%22"
  metadata_end = "%22%2C%22zone%22%3A%22a%22%2C%22preserved.register.source%22%3A%22SPRING_CLOUD%22%7D"
end

-- Each pass over the instances has other metadata, so that every registration is a change.
function request()
  local n = next_number()
  local index = n % count
  return form_request("POST", "serviceName=DEFAULT_GROUP%40%40" .. base .. "-" .. math.floor(index / per_service)
    .. "&groupName=DEFAULT_GROUP&ip=" .. instance_ip(index)
    .. "&port=8080&weight=1.0&enable=true&healthy=true&ephemeral=true" .. metadata .. math.floor(n / count) .. metadata_end)
end
