-- Carries out one take that only adds to cells, or opens them, in rows of the policy's own lists. It may be under a new id, and
-- be a hold.
--
-- Redis creates a script's functions again at each call, so this one has none. What is unusual (a row of another list or type,
-- a start in the far future, other settings or periods, a known id, buckets and slots) is left to batch.lua.
--
-- KEYS  1..   the take's rows, then the lists of limits that rows use; then, as far as the take has them: the settings; the
--             record of the id; for a hold, the indexes of all open holds and of the owner's
-- ARGV  1     the take: see below
--       then  as far as the take has them: the revision of the settings; the record's text, with the charges of its facts; the
--             hold's name
-- REPLY       as batch.lua replies to this take; or the time if it is too late; or '' if batch.lua has to carry it out: then
--             nothing has changed
--
-- The take, in doubles and (*) bytes:
--   how many rows* and lists* there are; what it has*: 0 or 1 for a revision, with 2 added for an id, or 4 for a hold; now (epoch
--   ms; below 0: the server's own time); the server's time from which on it isn't carried out
--   per row: the first five bytes as a number, how many cells it has*, how many of them count*, and the format of the row (ends
--   with 0*); for each cell that counts: where it is in a row*, its cost, its limit, its length (ms); for a calendar window,
--   which has CALENDAR added to where it is, its start and end
--   each list once: its length (2 bytes), the first five bytes of such rows, and the list
--   under an id: how long its record is kept (for a hold, the time until it ends), the most open holds of the owner, and the
--     record's mark (8 bytes)
--
-- In a row's table, the head is followed by each cell's used amount, then each cell's start. So cells are counted from 2.
local CLOSED, MAX_USED, MAX_AHEAD_MS, GRACE_MS, CALENDAR, ID, HOLD = -1, 9007199254740991, 5000, 60000, 128, 2, 4

local KEYS, call, pcall = KEYS, redis.call, redis.pcall
local pack, unpack_text = struct.pack, struct.unpack
local input = ARGV[1]
local count, lists, has, now, ends_at, at = unpack_text('<BBBdd', input)
if now < 0 then
  local time = call('TIME')
  local ms = time[2] / 1000
  now = time[1] * 1000 + (ms - ms % 1)
  if now >= ends_at then return now end
end
local key, arg, keep_ms, most_holds, mark, facts = count + 2, 2, nil, nil, nil, nil
if has % 2 == 1 then
  if call('GETRANGE', KEYS[key], '0', '21') ~= ARGV[arg] then return '' end
  key, arg = key + 1, arg + 1
end
if has >= ID then
  if call('EXISTS', KEYS[key]) > 0 then return '' end
  keep_ms, most_holds, mark = unpack_text('<ddc8', input, #input - 23)
  facts = pack('<I6', now)
end
if has >= HOLD then
  local from = '(' .. string.format('%.0f', now)
  local all, own = pcall('ZCARD', KEYS[key + 1]), pcall('ZCOUNT', KEYS[key + 2], from, '+inf')
  if type(all) ~= 'number' or type(own) ~= 'number' or own >= most_holds then return '' end
end

-- Space for most takes: growing a table costs more than filling it.
local latest, rows, status, reply = now + MAX_AHEAD_MS, { false, false }, '', ''
-- By row, once one needs more than an addition: when its last opened cell ends; 0 for a new row in which none opened.
local ends, is_new
local known_format, used_format
for r = 1, count do
  local text, row = pcall('GET', KEYS[r]), nil
  local head, size, counted, format
  head, size, counted, format, at = unpack_text('<dBBs', input, at)
  if format ~= known_format then known_format, used_format = format, string.sub(format, 1, 3 + 2 * size) end
  if not text then
    row = { unpack_text(format, string.rep('\255', 5 + 7 * size) .. string.rep('\0', 6 * size)) }
    row[1], text, ends, is_new = head, '\0', ends or {}, is_new or {}
    ends[r], is_new[r] = 0, true
  elseif #text == 5 + 13 * size then row = { unpack_text(format, text) } end
  if not row or row[1] ~= head then return '' end
  rows[r] = row
  if r == count then reply = reply .. text .. pack('<d', now)
  else reply = reply == '' and text or reply .. text end
  for _ = 1, counted do
    local c, cost, limit, length
    c, cost, limit, length, at = unpack_text('<Bddd', input, at)
    local opens, since = now, now - length
    if c >= CALENDAR then
      local closes
      c = c - CALENDAR
      opens, closes, at = unpack_text('<dd', input, at)
      if now < opens or now >= closes then return '' end
      since = opens - 1
    end
    if cost > 0 then
      local used, start = row[c], row[size + c]
      if used < 0 or start <= since or start > latest then
        if start > latest or used < CLOSED or used > MAX_USED then return '' end
        -- A start identifies a window, so it is later than that of the window before.
        if opens <= start then opens = start + 1 end
        used, row[size + c], ends = 0, opens, ends or {}
        if opens + length > (ends[r] or 0) then ends[r] = opens + length end
      end
      used = used + cost
      row[c] = used
      if used > limit then
        if used > MAX_USED then return '' end
        status = 'r'
      end
    end
  end
  if status == '' then
    -- What is written: the whole row, or as far as the used amounts reach.
    local after
    if ends and ends[r] then after = pack(format, unpack(row, 1, 2 * size + 1))
    else after = pack(used_format, unpack(row, 1, size + 1)) end
    row[1] = after
    if facts then facts = facts .. after .. string.sub(text, #after + 1) end
  end
end
-- By row in which a cell opened, the time for which it is kept already.
local kept
if ends then
  -- Whether the cells that the take doesn't charge can be read.
  for r = 1, count do
    local row = rows[r]
    for c = 2, #row / 2 do
      if row[c] < CLOSED or row[c] > MAX_USED then return '' end
    end
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
if status ~= '' then return reply .. status end

-- A list is stored before the first row that refers to it.
for _ = 1, ends and lists or 0 do
  local list
  list, at = unpack_text('<I2c0', input, at)
  local field = string.format('%08x', (unpack_text('<I4', list, 2)))
  if call('HGET', KEYS[count + 1], field) ~= string.sub(list, 6) then return '' end
end
for r = 1, count do
  local text = rows[r][1]
  if kept and kept[r] then
    local lasts = ends[r] + GRACE_MS - now
    if kept[r] >= lasts then call('SET', KEYS[r], text, 'KEEPTTL')
    else call('SET', KEYS[r], text, 'EX', string.format('%d', math.ceil(lasts / 1000))) end
  elseif not ends or ends[r] ~= 0 then call('SETRANGE', KEYS[r], '0', text) end
end

if has >= HOLD then
  local instant, name = string.format('%.0f', now + keep_ms), ARGV[arg + 1]
  call('SET', KEYS[key], mark .. pack('<I6', 281474976710655) .. ARGV[arg] .. facts)
  call('ZADD', KEYS[key + 1], instant, name)
  call('ZADD', KEYS[key + 2], instant, name)
elseif facts then
  local text = mark .. pack('<I6', now + keep_ms) .. ARGV[arg] .. facts
  call('SET', KEYS[key], text, 'EX', string.format('%d', math.ceil(keep_ms / 1000)))
end
return reply
