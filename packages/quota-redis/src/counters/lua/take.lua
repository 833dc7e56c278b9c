-- Carries out one take that only adds to cells, or opens them, in rows of the policy's own lists. It may be under a new id, and
-- be a hold.
--
-- Redis creates a script's functions again at each call, so this one has none. What is unusual (a row of another list or type,
-- a start in the far future, other settings or periods, a known id, buckets and slots) is left to batch.lua.
--
-- KEYS  1..   the take's rows, then the lists of limits that rows use; then, as far as the take has them: the settings; the
--             record of the id; for a hold, the indexes of all open holds and of the owner's
-- ARGV  1     bytes, numbers (doubles), and the policy's lists of these rows: see below
--       then  as far as the take has them: the revision of the settings; the record's text; the hold's name
-- REPLY       as batch.lua replies to this take; or the time if that is UNTIL or later; or '' if batch.lua has to carry it out: then nothing has changed

-- The bytes: how many there are (in the first, with itself), then these:
local ROWS, UNITS, LISTS, CALENDARS, ALL_NUMBERS = 1, 2, 3, 4, 5 -- how many of each
local HAS_REVISION, HAS_ID, IS_HOLD = 6, 7, 8 -- 1: it has
local BYTES = 8
-- Then, per row: its list, how many cells it has, and how many of them count. For each of these: which cell of the row it is, its
-- unit, and which of the calendar windows it is (0: none).
--
-- The numbers:
local NOW = 1 -- epoch ms; below 0: the server's own time
local UNTIL = 2 -- see numbers.lua
local NUMBERS = 2
-- Then the cost per unit. Then, per row: its first five bytes as a number; for each cell that counts: the limit, and the length
-- (ms). With calendar windows: the start of each, then since when and until when these starts are right. Under an id: how long
-- its record is kept (for a hold, the time until it ends), and the most open holds of the owner.
--
-- Then each list once: its length (2 bytes), the first bytes of such rows, and the list.
--
-- Cells are counted from 2, as in a row: the head, each cell's used amount, each cell's start.
local CLOSED, MAX_USED, MAX_AHEAD_MS, GRACE_MS = -1, 9007199254740991, 5000, 60000

local KEYS, ARGV, call, pcall = KEYS, ARGV, redis.call, redis.pcall
local pack, unpack_text, rep, sub, byte = struct.pack, struct.unpack, string.rep, string.sub, string.byte
local input = ARGV[1]
local bytes = byte(input)
local b = { byte(input, 2, bytes) }
local numbers = b[ALL_NUMBERS]
-- One value follows what is unpacked: where it ends.
local n = { unpack_text('<' .. rep('d', numbers), input, bytes + 1) }
local now, count = n[NOW], b[ROWS]
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now >= n[UNTIL] then return now end
end
local has_id, is_hold, starts = b[HAS_ID] == 1, b[IS_HOLD] == 1, nil
if b[CALENDARS] > 0 then
  -- Where the numbers of calendar windows begin.
  starts = numbers - (has_id and 4 or 2) - b[CALENDARS]
  local periods = starts + b[CALENDARS]
  if now < n[periods + 1] or now >= n[periods + 2] then return '' end
end
local key, arg = count + 2, 2
if b[HAS_REVISION] == 1 then
  if call('GETRANGE', KEYS[key], '0', '21') ~= ARGV[arg] then return '' end
  key, arg = key + 1, arg + 1
end
if has_id and call('EXISTS', KEYS[key]) > 0 then return '' end
if is_hold then
  local from = '(' .. string.format('%.0f', now)
  local all, own = pcall('ZCARD', KEYS[key + 1]), pcall('ZCOUNT', KEYS[key + 2], from, '+inf')
  if type(all) ~= 'number' or type(own) ~= 'number' or own >= n[numbers] then return '' end
end

local at, number, latest = BYTES, NUMBERS + b[UNITS], now + MAX_AHEAD_MS
-- Space for most takes: growing a table costs more than filling it.
local rows, status, reply = { false, false }, '', ''
-- By row, once one needs more than an addition: when its last opened cell ends; 0 for a new row in which none opened.
local ends, is_new
local known_size, row_bytes, used_format, format
for r = 1, count do
  local size, counted, head = b[at + 2], b[at + 3], n[number + 1]
  if size ~= known_size then
    known_size, row_bytes, used_format = size, 5 + 13 * size, rep('i7', size)
    format = '<I5' .. used_format .. rep('I6', size)
  end
  local text, row = pcall('GET', KEYS[r]), nil
  if not text then
    row = { unpack_text(format, rep('\255', 5 + 7 * size) .. rep('\0', 6 * size)) }
    row[1], text, ends, is_new = head, '\0', ends or {}, is_new or {}
    ends[r], is_new[r] = 0, true
  elseif #text == row_bytes then row = { unpack_text(format, text) } end
  if not row or row[1] ~= head then return '' end
  rows[r], reply = row, reply .. text
  at, number = at + 3, number + 1
  for _ = 1, counted do
    local cost = n[NUMBERS + b[at + 2]]
    if cost > 0 then
      local c, length, calendar = b[at + 1] + 1, n[number + 2], b[at + 3]
      local used, start, opens, since = row[c], row[size + c], now, now - length
      if calendar > 0 then
        opens = n[starts + calendar]
        since = opens - 1
      end
      if used < 0 or start <= since or start > latest then
        if start > latest or used < CLOSED or used > MAX_USED then return '' end
        -- A start identifies a window, so it is later than that of the window before.
        if opens <= start then opens = start + 1 end
        used, row[size + c], ends = 0, opens, ends or {}
        if opens + length > (ends[r] or 0) then ends[r] = opens + length end
      end
      used = used + cost
      row[c] = used
      if used > n[number + 1] then
        if used > MAX_USED then return '' end
        status = 'r'
      end
    end
    at, number = at + 3, number + 2
  end
end
-- By row in which a cell opened, the time for which it is kept already.
local kept
if ends then
  -- Whether the cells that the take doesn't charge can be read.
  at = BYTES
  for r = 1, count do
    local row = rows[r]
    for c = 2, b[at + 2] + 1 do
      if row[c] < CLOSED or row[c] > MAX_USED then return '' end
    end
    at = at + 3 + 3 * b[at + 3]
  end
  if status == '' then
    kept = {}
    for r = 1, count do
      if ends[r] and ends[r] > 0 then
        kept[r] = is_new and is_new[r] and -2 or call('PTTL', KEYS[r])
        -- A row without an expiry was put there by somebody else.
        if kept[r] == -1 then return '' end
      end
    end
  end
end
if status ~= '' then return reply .. pack('<d', now) .. status end

-- The lists that a written row or record refers to are stored before them.
local list_at, list = n[numbers + 1], nil
for _ = 1, (ends or has_id) and b[LISTS] or 0 do
  list, list_at = unpack_text('<I2c0', input, list_at)
  local field = string.format('%08x', (unpack_text('<I4', list, 2)))
  if call('HGET', KEYS[count + 1], field) ~= sub(list, 6) then return '' end
end
at = BYTES
for r = 1, count do
  local row, size = rows[r], b[at + 2]
  at = at + 3 + 3 * b[at + 3]
  if size ~= known_size then
    known_size, used_format = size, rep('i7', size)
    format = '<I5' .. used_format .. rep('I6', size)
  end
  if kept and kept[r] then
    local lasts, text = ends[r] + GRACE_MS - now, pack(format, unpack(row, 1, 2 * size + 1))
    if kept[r] >= lasts then call('SET', KEYS[r], text, 'KEEPTTL')
    -- A test's clock is not the server's.
    elseif n[NOW] >= 0 then call('SET', KEYS[r], text, 'PX', string.format('%.0f', lasts))
    else call('SET', KEYS[r], text, 'PXAT', string.format('%.0f', now + lasts)) end
  elseif not ends or ends[r] ~= 0 then
    call('SETRANGE', KEYS[r], '5', pack('<' .. used_format, unpack(row, 2, size + 1)))
  end
end

if has_id then
  -- Behind the record's text, the facts: see steps.lua.
  local facts, keep_ms, mark = pack('<I6', now), n[numbers - 1], sub(ARGV[arg], 1, 8)
  at = BYTES
  for r = 1, count do
    local row, size, counted = rows[r], b[at + 2], b[at + 3]
    local used = '<' .. rep('i7', size)
    local amounts = { unpack_text(used, rep('\255', 7 * size)) }
    at = at + 3
    for _ = 1, counted do
      amounts[b[at + 1]] = n[NUMBERS + b[at + 2]]
      at = at + 3
    end
    facts = facts .. pack('<I5', row[1]) .. pack(used, unpack(amounts, 1, size))
      .. pack(used .. rep('I6', size), unpack(row, 2, 2 * size + 1))
  end
  local text = sub(ARGV[arg], 9) .. facts
  if is_hold then
    local instant, name = string.format('%.0f', now + keep_ms), ARGV[arg + 1]
    call('SET', KEYS[key], mark .. pack('<I6', 281474976710655) .. text)
    call('ZADD', KEYS[key + 1], instant, name)
    call('ZADD', KEYS[key + 2], instant, name)
  elseif n[NOW] >= 0 then
    call('SET', KEYS[key], mark .. pack('<I6', now + keep_ms) .. text, 'PX', string.format('%.0f', keep_ms))
  else
    local expires = now + keep_ms
    call('SET', KEYS[key], mark .. pack('<I6', expires) .. text, 'PXAT', string.format('%.0f', expires))
  end
end
return reply .. pack('<d', now)
