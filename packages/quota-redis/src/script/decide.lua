-- Decides a batch of operations, in order, as one atomic step.
--
-- KEYS  1       version of the settings in force (decimal), or missing
--       2..     rows and id records, each key once
-- ARGV  1       numbers, as JSON; one text, since each conversion costs as much as deciding:
--                 now (epoch ms; -1 asks TIME), test clock or not (1 or 0), grace: how long a row outlives its windows
--                 (ms), W, W window lengths (ms), P, and P plans: settings version, cost, L, the rows of L layers
--                 (index into KEYS, or 0 where the operation names it), L x W limits in tokens (1e999: unlimited)
--       2       operations, as characters below 128 each; a row or record is two, high and low 7 bits of its index
--                 plan + 6, row..           take; names the rows that the plan left open
--                 0, plan + 6, row.., record   take under an id
--                 1, L, row..               give tokens back to windows with given starts
--                 2, L, row.., record       the same under an id
--                 3, L, row..               close all windows
--                 4, L, row..               undo a take: give back, and close what it opened if nobody else used it
--                 5, L, row.., record       the same under an id, which is forgotten
--               where L, the number of rows, is two characters as well
--       3..     what operations need besides, in their order
--                 0: nonce, fingerprint, ttl (ms)
--                 1: L x W starts, tokens
--                 2: 'C' (committed) or 'X' (cancelled), nonce, fingerprint, ttl (ms), then as 1
--                 4: L x W starts, tokens, when it was taken (epoch ms)
--                 5: nonce, then as 4
-- REPLY { now, one letter an operation, stored states of letters m in turn, what KEYS held before }
--       a admitted  r refused  m admitted earlier, by the same nonce  d duplicate  x cancelled  c conflict  s stale
--       y done  n not this nonce's to settle
--
-- Row: version byte 1, then for each window start (6 bytes, epoch ms) and used (7 bytes; -1: closed by a reset).
-- Record: state (R C X), nonce, fingerprint, row states at the reservation, when it ends (epoch ms); by cmsgpack.
--
-- Three phases: every key is read once, all is decided in memory, every changed key is written once. Nothing is
-- written before the last read and the first write is a SET, so that a full or read-only server refuses the script
-- whole. No shebang: a full server still answers refusals and looks.

local CLOSED, MAX_AHEAD, MAX_USED = -1, 5000, 9007199254740991
local ARGV, KEYS, call, pack, unpack_cells = ARGV, KEYS, redis.call, struct.pack, struct.unpack

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
local cells = '<' .. string.rep('I6i7', W)
local row = '<B' .. string.rep('I6i7', W)
local row_bytes = 1 + 13 * W

-- Phase 1: read.
local raw = call('MGET', unpack(KEYS))
local version = tonumber(raw[1]) or 0

-- A plan's own rows (those that its operations name) come first in `order`, then those that everybody shares.
local plans = {}
for p = 1, number() do
  local stale, cost, layers = version > number(), number(), number()
  local order, shared, limits, finite = {}, {}, {}, true
  for l = 1, layers do
    local key = number()
    if key == 0 then order[#order + 1] = l else shared[#shared + 1] = { key, l } end
  end
  local own = #order
  for i = 1, #shared do order[own + i] = shared[i][2] end
  for i = 1, layers * W do
    local limit = number()
    limits[i] = limit
    if limit > MAX_USED then finite = false end
  end
  plans[p] = {
    stale = stale, cost = cost, layers = layers, finite = finite,
    order = order, own = own, shared = shared, limits = limits,
  }
end

local codes = { string.byte(ARGV[2], 1, -1) }
local read = 0
local function index()
  read = read + 2
  return codes[read - 1] * 128 + codes[read]
end

-- A row's bytes are in `changed` once an operation changed it, until then in `raw`. `opened`: its expiry changes too.
local changed, opened, dirty, dirt = {}, {}, {}, 0

local function put(key, value, opens)
  if not changed[key] then
    dirt = dirt + 1
    dirty[dirt] = key
  end
  changed[key] = value
  if opens then opened[key] = true end
end

local function packed(list) return pack(row, 1, unpack(list, 1, 2 * W)) end

-- Charges a list of cells; whether that opened a window.
local function charge(list, tokens)
  local opens = false
  for w = 1, W do
    local start, used = list[2 * w - 1], list[2 * w]
    if used ~= CLOSED and now < start + lengths[w] then
      used = used + tokens
    else
      -- Later than any earlier opening, so that a start identifies a window.
      list[2 * w - 1] = start < now and now or start + 1
      used, opens = tokens, true
    end
    list[2 * w] = used < MAX_USED and used or MAX_USED
  end
  return opens
end

-- Rows that operations share, by key: { start, used, start, used .., added = tokens charged since }. All windows of a
-- row are charged alike and at one instant, so that one number does. None of them starts in the future, where the
-- clock would move it between two charges.
local hot = {}
-- A run: operations of one plan, one after the other. `room`: what still fits into the hot rows; `pending`: what the
-- run has charged to them and is not in their `added` yet.
local current, room, pending = nil, 0, 0

local function end_run()
  if not current then return end
  for _, row_of in ipairs(current.shared) do
    local list = hot[row_of[1]]
    list.added = list.added + pending
  end
  current, pending = nil, 0
end

local function cool(key)
  local list = hot[key]
  if not list then return end
  end_run()
  hot[key] = nil
  if list.added > 0 then
    local opens = charge(list, list.added)
    put(key, packed(list), opens)
  end
end

-- The cells of a row; where there is none, one whose windows never opened.
local function cells_of(key)
  cool(key)
  local value = changed[key] or raw[key]
  if not value then
    -- MGET answers nil for keys of another type too; GET tells them apart, before anything is written.
    call('GET', KEYS[key])
    local list = {}
    for i = 1, 2 * W do list[i] = CLOSED end
    return list
  end
  if #value ~= row_bytes then error({ err = 'QUOTAROW not a row: ' .. KEYS[key] }) end
  return { unpack_cells(cells, value, 2) }
end

-- Tokens that still fit into every window under the limits of a plan's layer.
local function left_in(list, plan, layer)
  local left, limits, from = math.huge, plan.limits, (layer - 1) * W
  for w = 1, W do
    local used = list[2 * w]
    if used == CLOSED or now >= list[2 * w - 1] + lengths[w] then used = 0 end
    if limits[from + w] - used < left then left = limits[from + w] - used end
  end
  return left
end

-- A hot row, or nothing for one that starts in the future.
local function heat(key)
  local list = cells_of(key)
  for i = 1, 2 * W, 2 do
    if list[i] > now then return end
  end
  list.added = 0
  hot[key] = list
  return list
end

-- Whether operations of a plan can run on its shared rows.
local function begin_run(plan)
  end_run()
  room = math.huge
  for _, row_of in ipairs(plan.shared) do
    local list = hot[row_of[1]] or heat(row_of[1])
    if not list then return false end
    room = math.min(room, left_in(list, plan, row_of[2]) - list.added)
  end
  current = plan
  return true
end

-- Moves windows that a fast clock opened in the far future to the present: the one write a refusal may make.
local function reanchor(key, list)
  local moved = false
  for i = 1, 2 * W, 2 do
    if list[i] - now > MAX_AHEAD then list[i], moved = now, true end
  end
  if moved then put(key, packed(list), true) end
end

-- The bytes of a row when a plan is charged to it, and whether that opens a window; false where it does not fit.
local function charged(key, plan, layer)
  local list = cells_of(key)
  reanchor(key, list)
  if plan.cost > left_in(list, plan, layer) then return false end
  local opens = charge(list, plan.cost)
  return packed(list), opens
end

local ended_1, ended_2, ended_3 = now - lengths[1], now - (lengths[2] or 0), now - (lengths[3] or 0)
local latest = now + MAX_AHEAD

-- The same, spelled out for the usual case: three windows, all open. (All windows of a row are closed, or none.)
local function charged_open(key, plan, layer)
  local value = changed[key] or raw[key]
  if not value or #value ~= row_bytes then return charged(key, plan, layer) end
  local s1, u1, s2, u2, s3, u3 = unpack_cells(cells, value, 2)
  if
    u1 == CLOSED or s1 <= ended_1 or s2 <= ended_2 or s3 <= ended_3
    or s1 > latest or s2 > latest or s3 > latest
  then
    return charged(key, plan, layer)
  end
  local cost, limits, from = plan.cost, plan.limits, (layer - 1) * 3
  u1, u2, u3 = u1 + cost, u2 + cost, u3 + cost
  if u1 > limits[from + 1] or u2 > limits[from + 2] or u3 > limits[from + 3] then return false end
  return pack(row, 1, s1, u1, s2, u2, s3, u3), false
end

-- The rows of the take at hand, in its plan's `order`; what they become, and whether that opens a window.
local keys, values, opens = {}, {}, {}

local function read_keys(plan)
  for i = 1, plan.own do
    read = read + 2
    keys[i] = codes[read - 1] * 128 + codes[read]
  end
end

-- Decides, and charges every row or none.
local function take(plan)
  if plan.stale then return 's' end
  local cost, order, count = plan.cost, plan.order, plan.own
  local running = plan == current or begin_run(plan)
  if not running then
    count = plan.layers
    for i = plan.own + 1, count do
      keys[i] = plan.shared[i - plan.own][1]
      -- Some of them may be hot, from before or from the run that could not begin: their bytes are asked from here on.
      cool(keys[i])
    end
  end
  local ask = W == 3 and plan.finite and charged_open or charged
  -- Every row is asked, as each may have a window to move to the present.
  local admitted = not running or cost <= room
  for i = 1, count do
    local value, opened_any = ask(keys[i], plan, order[i])
    if not value then admitted = false end
    values[i], opens[i] = value, opened_any
  end
  if not admitted then return 'r' end
  for i = 1, count do put(keys[i], values[i], opens[i]) end
  if running then room, pending = room - cost, pending + cost end
  return 'a'
end

local records, dirty_records, stored = {}, {}, {}

-- What is done under ids, and what is no take. A function is made for each call of the script, so that plain takes do
-- not pay for these.
local function make_other()
  local at = 2
  local function arg()
    at = at + 1
    return ARGV[at]
  end

  local function record_at(key)
    local record = records[key]
    if record ~= nil then return record end
    record = raw[key] and cmsgpack.unpack(raw[key])
    if not record then call('GET', KEYS[key]) end
    if record and now >= record[5] then record = false end
    records[key] = record
    return record
  end

  local function write_record(key, state, nonce, fingerprint, states, ttl)
    records[key] = { state, nonce, fingerprint, states, now + ttl }
    dirty_records[key] = ttl
  end

  local function take_once(plan, key, nonce, fingerprint, ttl)
    local record = record_at(key)
    if record then
      if record[3] ~= fingerprint then return 'c' end
      if record[1] == 'X' then return 'x' end
      if record[2] ~= nonce then return 'd' end
      stored[#stored + 1] = record[4]
      return 'm'
    end
    local letter = take(plan)
    if letter == 'a' then
      local states = {}
      for i = 1, plan.layers do
        local row_key = i <= plan.own and keys[i] or plan.shared[i - plan.own][1]
        cool(row_key)
        states[plan.order[i]] = string.sub(changed[row_key], 2)
      end
      write_record(key, 'R', nonce, fingerprint, table.concat(states), ttl)
    end
    return letter
  end

  -- Whether the reservation was this nonce's, and open. A cancel that overtook its reserve marks the id.
  local function settle_once(key, state, nonce, fingerprint, ttl)
    local record = record_at(key)
    if not record and state == 'X' then write_record(key, 'X', nonce, fingerprint, '', ttl) end
    if not record or record[1] ~= 'R' or record[2] ~= nonce then return false end
    write_record(key, state, nonce, fingerprint, record[4], ttl)
    return true
  end

  -- Tokens go back to the windows with the given starts and to no others. `mine`: whether they may.
  local function settle(layers, mine)
    local starts = at
    at = at + #layers * W
    local tokens = tonumber(arg())
    if not mine then return 'n' end
    for l = 1, #layers do
      local list, found = cells_of(layers[l]), false
      for w = 1, W do
        local used = list[2 * w]
        if used ~= CLOSED and list[2 * w - 1] == tonumber(ARGV[starts + (l - 1) * W + w]) then
          list[2 * w] = used > tokens and used - tokens or 0
          found = true
        end
      end
      if found then put(layers[l], packed(list)) end
    end
    return 'y'
  end

  local function undo(layers, mine)
    local starts = at
    at = at + #layers * W
    local tokens, taken = tonumber(arg()), tonumber(arg())
    if not mine then return 'n' end
    for l = 1, #layers do
      local list, found = cells_of(layers[l]), false
      for w = 1, W do
        local start, used = list[2 * w - 1], list[2 * w]
        if used ~= CLOSED and start == tonumber(ARGV[starts + (l - 1) * W + w]) then
          list[2 * w] = used > tokens and used - tokens or start >= taken and CLOSED or 0
          found = true
        end
      end
      if found then put(layers[l], packed(list)) end
    end
    return 'y'
  end

  -- Whether there was a record of this nonce, which is gone then.
  local function forget_once(key, nonce)
    local record = record_at(key)
    if not record or record[1] ~= 'R' or record[2] ~= nonce then return false end
    records[key] = false
    dirty_records[key] = 0
    return true
  end

  local function close(key)
    local list = cells_of(key)
    if list[1] == CLOSED then return end
    for w = 1, W do list[2 * w] = CLOSED end
    put(key, packed(list))
  end

  local function listed_rows()
    local list = {}
    for l = 1, index() do list[l] = index() end
    return list
  end

  return function(operation)
    if operation == 0 then
      read = read + 1
      local plan = plans[codes[read] - 6]
      read_keys(plan)
      return take_once(plan, index(), arg(), arg(), tonumber(arg()))
    end
    local list = listed_rows()
    if operation == 1 then return settle(list, true) end
    if operation == 2 then
      local state = arg()
      return settle(list, settle_once(index(), state, arg(), arg(), tonumber(arg())))
    end
    if operation == 4 then return undo(list, true) end
    if operation == 5 then return undo(list, forget_once(index(), arg())) end
    for l = 1, #list do close(list[l]) end
    return 'y'
  end
end

-- Phase 2: decide.
local letters, n, last, other = {}, 0, #codes, nil
while read < last do
  read = read + 1
  local operation = codes[read]
  local letter
  if operation > 5 then
    local plan = plans[operation - 6]
    read_keys(plan)
    letter = take(plan)
  else
    other = other or make_other()
    letter = other(operation)
  end
  n = n + 1
  letters[n] = letter
end
for key in pairs(hot) do cool(key) end

-- Phase 3: write. Expiry is garbage collection only: a row goes when all its windows are over.
for d = 1, dirt do
  local key = dirty[d]
  local value = changed[key]
  if not opened[key] then
    call('SET', KEYS[key], value, 'KEEPTTL')
  else
    local list, over = { unpack_cells(cells, value, 2) }, 0
    for w = 1, W do over = math.max(over, list[2 * w - 1] + lengths[w]) end
    if test_clock then
      call('SET', KEYS[key], value, 'PX', math.max(1, over + grace - now))
    else
      call('SET', KEYS[key], value, 'PXAT', over + grace)
    end
  end
end
for key, ttl in pairs(dirty_records) do
  if records[key] then
    call('SET', KEYS[key], cmsgpack.pack(records[key]), 'PX', ttl)
  else
    call('DEL', KEYS[key])
  end
end

return { string.format('%.0f', now), table.concat(letters), stored, raw }
