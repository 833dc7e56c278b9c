-- Decides requests on the rows that everybody shares, in order, and leases tokens to the process that asks.
--
-- KEYS  1       version of the settings in force (decimal), or missing
--       2       the book of leases, or missing
--       3..     rows, one a layer, in the form of decide.lua
-- ARGV  1       numbers, as JSON: now (epoch ms; -1 asks TIME), test clock or not (1 or 0), grace: how long a row outlives
--               its windows (ms), W, W window lengths (ms), settings version, whether windows may be opened (1 or 0),
--               tokens wanted at the most beyond the costs, tokens of its leases that the process has not spent, how long
--               a lease is remembered (ms), how long a process is counted after it last asked (ms), how long a lease can
--               be used (ms), L x W limits (1e999: unlimited), then the costs
--       2       the process
--       3       the lease's id
-- REPLY { now, one letter a cost, tokens charged and leased in all, live leases of others in tokens, what the rows held
--         before }
--       a charged  r refused  w fits, but would open a window  s newer settings are in force
--
-- Book: by cmsgpack, { by process: when it last asked, by lease: { tokens, when } }, times in epoch ms.
--
-- Every key is read before anything is written, and the first write is a SET, as in decide.lua. No request opens a window
-- unless it may, and one without costs (a refresh) never does.

local CLOSED, MAX_AHEAD, MAX_USED = -1, 5000, 9007199254740991
local call = redis.call

local numbers, given = cjson.decode(ARGV[1]), 0
local function number()
  given = given + 1
  return numbers[given]
end

local now, test_clock, grace, W = number(), number() == 1, number(), number()
if not test_clock then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local lengths = {}
for w = 1, W do lengths[w] = number() end
local version, may_open, wanted, has, keep = number(), number() == 1, number(), number(), number()
local counted, usable = number(), number()
local L = #KEYS - 2
local limits = {}
for i = 1, L * W do limits[i] = number() end
local costs = {}
for i = given + 1, #numbers do costs[#costs + 1] = numbers[i] end

local raw = call('MGET', unpack(KEYS))
local rows_before = {}
for l = 1, L do rows_before[l] = raw[2 + l] end
local function reply(letters, tokens, held)
  return { string.format('%.0f', now), letters, string.format('%.0f', tokens), string.format('%.0f', held), rows_before }
end
if (tonumber(raw[1]) or 0) > version then return reply(string.rep('s', #costs), 0, 0) end

local cells, row_bytes = '<' .. string.rep('I6i7', W), 1 + 13 * W
local rows, room, any_closed, ahead = {}, math.huge, false, false
for l = 1, L do
  local value, list = raw[2 + l], {}
  if not value then
    call('GET', KEYS[2 + l])
    for i = 1, 2 * W do list[i] = CLOSED end
  elseif #value ~= row_bytes then
    error({ err = 'QUOTAROW not a row: ' .. KEYS[2 + l] })
  else
    list = { struct.unpack(cells, value, 2) }
  end
  rows[l] = list
  for w = 1, W do
    local start, used = list[2 * w - 1], list[2 * w]
    -- Opened by a clock that ran ahead: moved to the present, as any decision does.
    if start - now > MAX_AHEAD then
      start, ahead = now, true
      list[2 * w - 1] = now
    end
    local open = used ~= CLOSED and now < start + lengths[w]
    if not open then any_closed = true end
    room = math.min(room, limits[(l - 1) * W + w] - (open and used or 0))
  end
end

local book = raw[2] and cmsgpack.unpack(raw[2]) or { {}, {} }
local processes, leases, held, live = {}, {}, 0, 1
for process, seen in pairs(book[1]) do
  if now - seen < counted and process ~= ARGV[2] then
    processes[process] = seen
    live = live + 1
  end
end
for id, lease in pairs(book[2]) do
  if now - lease[2] < keep then
    leases[id] = lease
    if now - lease[2] < usable and string.sub(id, 1, #ARGV[2]) ~= ARGV[2] then held = held + lease[1] end
  end
end
processes[ARGV[2]] = now

local letters, charged, most, refused = {}, 0, 1, false
local full = room
for i, cost in ipairs(costs) do
  if cost > room then
    letters[i], refused = 'r', true
  elseif any_closed and not may_open then
    letters[i] = 'w'
  else
    letters[i] = 'a'
    room, charged = room - cost, charged + cost
  end
  if cost > most then most = cost end
end

-- Near the limit tokens are not leased, since what idle holders have would be missed by others.
local extra = 0
if not refused and (not any_closed or charged > 0) and full >= 100 * live * most then
  -- Of what is left, what the process has included: one that asks again and again does not come to have all of it.
  local share = math.min(math.ceil((full + has) / (2 * live)) - has, wanted + charged)
  extra = math.max(0, math.min(share - charged, room))
end

local tokens = charged + extra
if tokens > 0 or ahead then
  local opened = {}
  for l = 1, L do
    local list, over = rows[l], 0
    for w = 1, W do
      local start, used = list[2 * w - 1], list[2 * w]
      if tokens > 0 and used ~= CLOSED and now < start + lengths[w] then
        list[2 * w] = math.min(MAX_USED, used + tokens)
      elseif tokens > 0 then
        -- Later than any earlier opening, so that a start identifies a window.
        list[2 * w - 1] = start < now and now or start + 1
        list[2 * w], opened[l] = tokens, true
      end
      over = math.max(over, list[2 * w - 1] + lengths[w])
    end
    local value = struct.pack('<B' .. string.rep('I6i7', W), 1, unpack(list, 1, 2 * W))
    if not opened[l] and not ahead then
      call('SET', KEYS[2 + l], value, 'KEEPTTL')
    elseif test_clock then
      call('SET', KEYS[2 + l], value, 'PX', math.max(1, over + grace - now))
    else
      call('SET', KEYS[2 + l], value, 'PXAT', over + grace)
    end
  end
end
if tokens > 0 then
  leases[ARGV[3]] = { tokens, now }
  call('SET', KEYS[2], cmsgpack.pack({ processes, leases }), 'PX', keep)
end
return reply(table.concat(letters), tokens, held)
