-- Decides requests on the rows that everybody shares, in order, and leases tokens to the process that asks.
--
-- KEYS          as in begin.lua, then
--       3       the book of leases, or missing
--       4..     rows, one a layer
-- NUMBERS       as in rows.lua, then: revision of the settings (text; 0: it follows none), whether windows may be opened
--               (1 or 0), tokens wanted at the most beyond the costs, tokens of its leases that the process has not spent,
--               how long a lease is remembered (ms), how long a process is counted after it last asked (ms), how long a
--               lease can be used (ms), with calendar windows the spans of L rows (their numbers), L x W limits (1e999:
--               unlimited), then the costs
-- ARGV  3       the process
--       4       the lease's id
-- REPLY { now, one letter a cost, tokens charged and leased in all, tokens of others' live leases, what the rows held
--         before, the settings' revision if it was looked at }
--       a charged  r refused  w fits, but would open a window  s other settings are in force  t the clock is outside of
--       the periods  b a row cannot be read
--
-- Book, by cmsgpack: { by process: when it last asked, by lease: { tokens, when } }, times in epoch ms.
--
-- No request opens a window unless it may, and one without costs (a refresh) never does.

local follows, may_open, wanted, has, keep = number(), number() == 1, number(), number(), number()
local counted, usable = number(), number()
local verdict
if follows ~= 0 and follows ~= stored_revision() then verdict = 's' end
--#if calendars
local spans_of = {}
for l = 1, #raw do
  spans_of[l] = spans[number()]
  if spans_of[l].stale then verdict = verdict or 't' end
end
--#end
local limits = {}
for i = 1, #raw * W do limits[i] = number() end
local costs = {}
for i = given + 1, #numbers do costs[#costs + 1] = numbers[i] end

local lists, room, any_closed = {}, math.huge, false
for place = 1, verdict and 0 or #KEYS - FIRST_ROW + 1 do
  local list = row_at(place)
  if not list then
    verdict = 'b'
    break
  end
  lists[place] = list
  reanchor(place, list)
  --#if calendars
  use(spans_of[place])
  --#end
  room = math.min(room, left_in(list, limits, (place - 1) * W))
  for w = 1, V do any_closed = any_closed or not is_open(list, w) end
end

local value = call('GET', KEYS[3])
local book = value and cmsgpack.unpack(value) or { {}, {} }
local processes, leases, leased, live = {}, {}, 0, 1
for process, seen in pairs(book[1]) do
  if now - seen < counted and process ~= ARGV[3] then
    processes[process] = seen
    live = live + 1
  end
end
for id, lease in pairs(book[2]) do
  if now - lease[2] < keep then
    leases[id] = lease
    if now - lease[2] < usable and sub(id, 1, #ARGV[3]) ~= ARGV[3] then leased = leased + lease[1] end
  end
end
processes[ARGV[3]] = now

local letters, charged, most, refused = {}, 0, 1, verdict ~= nil
local full = room
for i, cost in ipairs(costs) do
  if verdict then
    letters[i] = verdict
  elseif cost > room then
    letters[i], refused = 'r', true
  elseif any_closed and not may_open then
    letters[i] = 'w'
  else
    letters[i] = 'a'
    room, charged = room - cost, charged + cost
  end
  if cost > most then most = cost end
end

-- Near the limit tokens are not leased, since what idle leases have would be missed by others.
local extra = 0
if not refused and (not any_closed or charged > 0) and full >= 100 * live * most then
  -- Of what is left, what the process has included: one that asks again and again does not come to have all of it.
  local share = math.min(math.ceil((full + has) / (2 * live)) - has, wanted + charged)
  extra = math.max(0, math.min(share - charged, room))
end

local tokens = charged + extra
for place, list in ipairs(tokens > 0 and lists or {}) do
  --#if calendars
  use(spans_of[place])
  --#end
  local opens = charge(list, tokens)
  put(place, packed(list), opens and ends_of(list))
end
