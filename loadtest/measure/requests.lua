-- Sends requests at random, and ends with one line of JSON. Arguments: a file of `path<TAB>header<TAB>value` lines, and a
-- number that determines the sequence. The texts are built once: what is measured is the server, not this.
local requests = {}

function init(args)
  for line in io.lines(args[1]) do
    local path, header, value = line:match("^([^\t]+)\t([^\t]+)\t([^\t]+)$")
    requests[#requests + 1] = wrk.format("GET", path, { [header] = value })
  end
  math.randomseed(tonumber(args[2]))
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"failed":%d,"refused":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
