-- Sends one request repeatedly: wrk -s wrk.lua URL -- BODY_FILE ANSWERS NAME VALUE NAME VALUE …
-- It ends after the duration that wrk gets, or earlier after ANSWERS answers if that is not 0.

function init(args)
  wrk.method = "POST"
  local file = assert(io.open(args[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
  for index = 3, #args, 2 do wrk.headers[args[index]] = args[index + 1] end

  local count = tonumber(args[2])
  if count > 0 then
    local left = count
    -- wrk waits for its whole duration, even if its threads stop. So this script ends the process.
    response = function(status)
      if status ~= 200 then os.exit(1) end
      left = left - 1
      if left == 0 then
        io.write(string.format('{"requests": %d, "errors": 0}\n', count))
        os.exit(0)
      end
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('{"requests": %d, "micros": %d, "p50": %d, "p99": %d, "errors": %d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
