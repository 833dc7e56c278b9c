-- How a batch begins: its numbers, the time, and its rows as they are.
--
-- KEYS  1       the settings in force, beginning with their revision; or missing
--       2       the lists of limits that rows name, a hash
--       3..     rows, each once; behind them records of ids, each once; behind them all other keys that operations name
-- ARGV  1       numbers, doubles: see NUMBERS
--       2       the policy's list of limits
--       3..     texts that terms and operations name, or read in turn
--
-- NUMBERS       now (epoch ms; below 0: asks TIME), head of a row of the policy's list, how many rows, records, kinds, terms,
--               which of ARGV the operations begin with, lengths of the WINDOWS windows (ms; of calendar windows at the most),
--               the kinds and the terms (see terms.lua), then the operations (see operations.lua)
--
-- Three phases: every key is read, all operations are decided in order in memory, every changed key is written once (see
-- write.lua). The first write is one that a full or read-only server refuses: then nothing at all was done. No shebang: a full
-- server still answers refusals and looks. What parts share stands in `batch`; a part that is rarely needed is made by a
-- function, since each closure costs a fiftieth of a decision.

local call = redis.call
local batch = { n = { struct.unpack('<' .. string.rep('d', #ARGV[1] / 8), ARGV[1]) } }

local function begin(batch, n, KEYS, ARGV)
  batch.is_test = n[NOW] >= 0
  if not batch.is_test then
    local time = call('TIME')
    n[NOW] = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  batch.now, batch.head, batch.text = n[NOW], n[HEAD], n[FIRST_TEXT]
  batch.row_count, batch.record_count = n[ROWS], n[RECORDS]
  batch.raw = n[ROWS] > 0 and call('MGET', unpack(KEYS, FIRST_ROW, FIRST_ROW - 1 + n[ROWS])) or {}
  -- By place. `rows`: UNTOUCHED, the bytes that a take left, or a table as of rows.lua; made in one piece, since a table that
  -- grows costs more than all that is written into it. `records`: text, DAMAGED, or false of what is gone.
  batch.rows = { string.byte(string.rep('\0', n[ROWS]), 1, -1) }
  -- Places of those that are tables.
  batch.tables = {}
  batch.records, batch.record_ttls, batch.needed = {}, {}, {}
  -- When rows that takes opened end, by place.
  batch.opened = {}
  -- What operations answer beside their letter, in turn.
  batch.told = {}

  local first = FIRST_ROW + n[ROWS]
  local found = n[RECORDS] > 0 and call('EXISTS', unpack(KEYS, first, first - 1 + n[RECORDS])) or 0
  if found == 0 then return end
  local stored = call('MGET', unpack(KEYS, first, first - 1 + n[RECORDS]))
  for record = 1, n[RECORDS] do
    -- MGET has nothing of a key of another type either.
    batch.records[record] = stored[record] or call('EXISTS', KEYS[first - 1 + record]) > 0 and DAMAGED or nil
  end
end

begin(batch, batch.n, KEYS, ARGV)
