-- Adds and removes technicians in turn, each time on a visit that nothing is under way for, with the revision that its
-- last answer gave. Arguments: a file of `visit<TAB>revision<TAB>assignment or -` lines, the key's header value, the
-- technicians' ids separated by commas, and a number that makes idempotency keys new in every run.
local free, staffed = {}, {}
-- The lists from their first to their last entry. Lua's # does not count a list whose first entries are gone.
local free_at, staffed_at = 1, 1
local last_free, last_staffed = 0, 0
local technicians = {}
local authorization, run
local count = 0
local add_next = true

local function push_free(visit, revision)
  last_free = last_free + 1
  free[last_free] = { visit, revision }
end

local function push_staffed(assignment, revision)
  last_staffed = last_staffed + 1
  staffed[last_staffed] = { assignment, revision }
end

function init(args)
  for line in io.lines(args[1]) do
    local visit, revision, assignment = line:match("^([^\t]+)\t([^\t]+)\t([^\t]+)$")
    if assignment == "-" then push_free(visit, revision) else push_staffed(assignment, revision) end
  end
  authorization = args[2]
  for id in args[3]:gmatch("[^,]+") do technicians[#technicians + 1] = id end
  run = args[4]
end

local function send(method, path, body)
  count = count + 1
  return wrk.format(method, path, {
    ["Authorization"] = authorization,
    ["Content-Type"] = "application/json",
    ["Idempotency-Key"] = string.format("%s-%08d", run, count),
  }, body)
end

function request()
  local add = free_at <= last_free and (add_next or staffed_at > last_staffed)
  add_next = not add
  if add then
    local visit = free[free_at]
    free[free_at] = nil
    free_at = free_at + 1
    return send("POST", "/v1/job-assignments", string.format(
      '{"expected_revision":"%s","appointment_id":"%s","team_member_id":"%s","starts_at":"2026-03-02T15:00:00Z","ends_at":"2026-03-02T16:00:00Z"}',
      visit[2], visit[1], technicians[count % #technicians + 1]))
  end
  local assignment = staffed[staffed_at]
  staffed[staffed_at] = nil
  staffed_at = staffed_at + 1
  return send("DELETE", "/v1/job-assignments/" .. assignment[1], string.format('{"expected_revision":"%s"}', assignment[2]))
end

function response(status, headers, body)
  if status ~= 201 and status ~= 200 then return end
  local visit = body:sub(16, 51)
  local revision, assignment = body:match('"revision":"(%x+)"'), body:match('"assignments":%[{"id":"([^"]+)"')
  if assignment then push_staffed(assignment, revision) else push_free(visit, revision) end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"failed":%d,"refused":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
