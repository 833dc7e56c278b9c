-- How a batch begins: its numbers, the time, and its rows as they are.
--
-- KEYS  1       the settings in force, beginning with their revision; or missing
--       2       the lists of limits that rows name, a hash
--       3..     rows, each once; behind them records of ids, each once; behind them all other keys that operations name
-- ARGV  1       numbers, doubles: see NUMBERS
--       2       the policy's list of limits
--       3       the names of its units
--       4..     texts that terms and operations name, or read in turn
--
-- NUMBERS       now (epoch ms; below 0: asks TIME), head of a row of the policy's list, how many rows, records, behind which of
--               the numbers the terms and the operations stand, which of ARGV operations begin with, lengths of the WINDOWS
--               windows (ms; of calendar windows at the most), the kinds and the terms (see terms.lua), then the operations (see
--               operations.lua)
--
-- Three phases: every key is read, all operations are decided in order in memory, every changed key is written once (see
-- write.lua). The first write is one that a full or read-only server refuses: then nothing at all was done. No shebang: a full
-- server still answers refusals and looks.
--
-- A server makes each function of a script again whenever it runs it. One costs about a hundredth of a call, and as much again
-- for every few variables of another part that it uses. So the phases are no functions, and what a call with a take or some of
-- usual rows does not need is made by `make_odd` once that is met, all other operations by `make_rare`. Parts know of each other
-- the time `now`, the numbers `n`, `raw` (rows as they were read), `rows` and `batch`.

local call, n = redis.call, { struct.unpack('<' .. string.rep('d', #ARGV[1] / 8), ARGV[1]) }
local now = n[NOW]
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local raw = n[ROWS] > 0 and call('MGET', unpack(KEYS, FIRST_ROW, FIRST_ROW - 1 + n[ROWS])) or {}
-- By place: UNTOUCHED, the bytes that a take left, or a table as of rows.lua. Made in one piece, since a table that grows costs
-- more than all that is written into it.
local rows = { string.byte(string.rep('\0', n[ROWS]), 1, -1) }
-- `tables`: places of those that are tables. `revision`: of the settings in force; empty where there are none.
local batch = { raw = raw, rows = rows, tables = {}, revision = false, records = false }

if n[RECORDS] > 0 then
  -- By place: text, DAMAGED, or false if it is gone.
  batch.records = {}
  local from, to = FIRST_ROW + n[ROWS], FIRST_ROW + n[ROWS] - 1 + n[RECORDS]
  local stored = call('EXISTS', unpack(KEYS, from, to)) > 0 and call('MGET', unpack(KEYS, from, to)) or {}
  for record = 1, #stored do
    -- MGET has nothing of a key of another type either.
    batch.records[record] = stored[record] or call('EXISTS', KEYS[from - 1 + record]) > 0 and DAMAGED or nil
  end
end
