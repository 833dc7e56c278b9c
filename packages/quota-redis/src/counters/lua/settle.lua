-- Settles a reservation, or ends a hold: refunds cells of rows of the policy's own lists, and replaces the record.
--
-- Like take.lua, it has no functions. What is unusual (another record than expected, another instant, a row that is missing,
-- damaged or of another list) is left to batch.lua.
--
-- KEYS  1..   the rows, then the record; for an open hold, the indexes of all open holds and of the owner's
-- ARGV  1     bytes, then numbers (doubles): see below
--       2     the mark of the expected record
--       3     the record's text
--       4     for an open hold, its name
-- REPLY       as batch.lua replies to this operation; or the time if that is UNTIL or later; or '' if batch.lua has to carry it out

-- The bytes: how many there are (in the first, with itself), and how many rows. Then, per row: how many cells it has, and how
-- many refunds. For each of these: the cell, and 1 if it is closed when nothing is left.
--
-- The numbers:
local NOW = 1 -- epoch ms; below 0: the server's own time
local UNTIL = 2 -- see numbers.lua
local ENDS = 3 -- when the hold ends: it isn't carried out then (epoch ms)
local KEEP_MS = 4 -- how long the record is kept
local NUMBERS = 4
-- Then, per row: its first five bytes as a number; for each refund: the start of the window, and the amount.
--
-- Cells are counted from 2, as in a row: the head, each cell's used amount, each cell's start.
local CLOSED, MAX_USED = -1, 9007199254740991

local KEYS, ARGV, call, pcall = KEYS, ARGV, redis.call, redis.pcall
local pack, unpack_text, rep, sub, byte = struct.pack, struct.unpack, string.rep, string.sub, string.byte
local input = ARGV[1]
local bytes = byte(input)
local b, n = { byte(input, 2, bytes) }, { unpack_text('<' .. rep('d', (#input - bytes) / 8), input, bytes + 1) }
local now, count = n[NOW], b[1]
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now >= n[UNTIL] then return now end
end
if now >= n[ENDS] then return '' end
local record = pcall('GET', KEYS[count + 1])
if type(record) ~= 'string' or #record < 14 or sub(record, 1, 8) ~= ARGV[2] then return '' end
if now >= unpack_text('<I6', record, 9) then return '' end

local at, number, rows, reply = 1, NUMBERS, {}, ''
local known_size, row_bytes, used_format, format
for r = 1, count do
  local size, refunds = b[at + 1], b[at + 2]
  if size ~= known_size then
    known_size, row_bytes, used_format = size, 5 + 13 * size, rep('i7', size)
    format = '<I5' .. used_format .. rep('I6', size)
  end
  local text = pcall('GET', KEYS[r])
  if type(text) ~= 'string' or #text ~= row_bytes then return '' end
  local row, has_changed = { unpack_text(format, text) }, false
  if row[1] ~= n[number + 1] then return '' end
  for c = 2, size + 1 do
    if row[c] < CLOSED or row[c] >= MAX_USED then return '' end
  end
  at, number, reply = at + 2, number + 1, reply .. text
  for _ = 1, refunds do
    local c = b[at + 1] + 1
    local used = row[c]
    -- A start identifies a window.
    if used ~= CLOSED and row[size + c] == n[number + 1] then
      used, has_changed = used - n[number + 2], true
      if used < 0 then used = 0 elseif used > MAX_USED then used = MAX_USED end
      if used == 0 and b[at + 2] == 1 then used = CLOSED end
      row[c] = used
    end
    at, number = at + 2, number + 2
  end
  if has_changed then rows[r] = pack('<' .. used_format, unpack(row, 2, size + 1)) end
end

for r = 1, count do
  if rows[r] then call('SETRANGE', KEYS[r], '5', rows[r]) end
end
local keep_ms, text = n[KEEP_MS], ARGV[3]
text = sub(text, 1, 8) .. pack('<I6', now + keep_ms) .. sub(text, 9)
call('SET', KEYS[count + 1], text, 'EX', string.format('%d', math.ceil(keep_ms / 1000)))
if ARGV[4] then
  call('ZREM', KEYS[count + 2], ARGV[4])
  call('ZREM', KEYS[count + 3], ARGV[4])
end
return reply .. pack('<d', now)
