-- Rows in memory: what they hold, and the steps from one state of theirs to the next.
--
-- A row is version byte, hash of the list that says which limits it holds (4 bytes), what each of them has used (7 bytes;
-- CLOSED: closed by a reset), then when each of them started (6 bytes, epoch ms). All little-endian. What is used stands
-- first, so that a charge that opens nothing writes no more than that. A row of another list than the policy's own is read
-- and written by lists.lua. The first WINDOWS cells are windows; behind them, where there is one, is that of slots.
--
-- In memory a row is a table { SIZE x used, SIZE x start (CLOSED and 0: never opened), ROOM + u: what is left of unit u,
-- FULL + u: what was left when the cells were read }, and
--   kind        limits and periods that what is left is counted by, see terms.lua; nothing: the cells are all there is
--   is_ahead    some window starts further in the future than a clock may
--   is_usual    all windows are open; `starts` are then their bytes, once somebody needed them
--   is_changed, is_moved   what is used changed, or more than that
--   is_new, others         it was not there; cells of limits that only other policies know
--   ends_at     it is kept until then at least (epoch ms)
--   is_damaged  it cannot be read

-- The unit of each cell.
local UNIT_OF = { @{%|, } }

-- The lists of other policies are rare: what they need is made when the first is met, by lists.lua.
local make_lists
local function lists_of(batch)
  batch.lists = batch.lists or make_lists(batch)
  return batch.lists
end

local function key_of_row(place) return KEYS[FIRST_ROW - 1 + place] end

local function never_opened()
  return { @{CLOSED|, }, @{0|, }, is_new = true }
end

local function own_bytes(head, list) return struct.pack('<I5@{i7|}@{I6|}', head, unpack(list, 1, 2 * SIZE)) end

-- Damage is shown as such in the reply; nothing is left in such a row.
local function damaged(batch, place)
  batch.raw[place] = DAMAGED_ROW
  local list = { @{CLOSED|, }, @{0|, }, is_damaged = true }
  for u = 1, UNITS_AND_SLOTS do list[ROOM + u], list[FULL + u] = NOTHING, NOTHING end
  return list
end

-- The cells of bytes; a damaged row where they cannot be.
local function cells_of(batch, place, bytes)
  if #bytes ~= ROW_BYTES or struct.unpack('<I5', bytes) ~= batch.head then return lists_of(batch).read(place, bytes) end
  local @{used_$|, }, @{start_$|, } = struct.unpack('<@{i7|}@{I6|}', bytes, 6)
  if @{used_$ < CLOSED or used_$ > MAX_USED| or } then return damaged(batch, place) end
  return { @{used_$|, }, @{start_$|, } }
end

-- A row as a table, which it is from here on.
local function row_at(batch, place)
  local known, bytes = batch.rows[place], batch.raw[place]
  if type(known) == 'table' then return known end
  local list
  if batch.opened[place] then
    list = cells_of(batch, place, known)
    list.is_new, list.is_moved, batch.opened[place] = true, true, nil
  elseif known ~= UNTOUCHED then
    list = cells_of(batch, place, string.sub(bytes, 1, 5) .. known .. string.sub(bytes, 6 + 7 * WINDOWS))
    list.is_changed = true
  elseif bytes then
    list = cells_of(batch, place, bytes)
  elseif type(redis.pcall('GET', key_of_row(place))) == 'table' then
    -- MGET has nothing of a key of another type either.
    list = damaged(batch, place)
  else
    list, batch.raw[place] = never_opened(), BLANK_ROW
  end
  batch.rows[place], batch.tables[#batch.tables + 1] = list, place
  return list
end

-- A start as the clock has it: one in the far future becomes later than what was opened when the clock last stood here.
local function anchored(now, start) return start - now > MAX_AHEAD_MS and now + 1 or start end

local function is_open(list, kind, c) return list[c] ~= CLOSED and list[SIZE + c] >= kind[SIZE + c] end

-- Charges a cell. One that opens starts later than any earlier opening, so that a start identifies a window.
local function charge(now, list, kind, c, amount)
  local used, start = list[c], list[SIZE + c]
  local began = start
  if start - now > MAX_AHEAD_MS and c <= WINDOWS then start = now + 1 end
  if used == CLOSED or began < kind[SIZE + c] then used, start = 0, math.max(kind[2 * SIZE + c], start + 1) end
  if start ~= began then list[SIZE + c], list.is_moved = start, true end
  list[c], list.is_changed = math.min(used + amount, MAX_USED), true
end

-- Charges what was taken of a row's room to its cells.
local function fold(now, list)
  local kind = list.kind
  if not kind then return list end
  list.kind = nil
  @{local spent_$ = list[FULL + %] - list[ROOM + %]
  if spent_$ > 0 then charge(now, list, kind, $, spent_$) end|
  }
  return list
end

-- Counts what is left under limits and periods: a window that is not open counts as if it opened now.
local function count(now, list, kind)
  if list.is_damaged then return list end
  fold(now, list)
  list.kind, list.starts = kind, nil
  for u = 1, UNITS_AND_SLOTS do list[ROOM + u] = MAX_USED end
  @{local used_$, start_$, room_$, open_$ = list[$], list[SIZE + $], kind[$], true
  if used_$ == CLOSED or start_$ < kind[SIZE + $] then open_$ = false else room_$ = room_$ - used_$ end
  if room_$ < list[ROOM + %] then list[ROOM + %] = room_$ end|
  }
  for u = 1, UNITS_AND_SLOTS do list[FULL + u] = list[ROOM + u] end
  list.is_ahead = @w{used_$ ~= CLOSED and start_$ - now > MAX_AHEAD_MS| or }
  list.is_usual = not list.is_ahead and @w{open_$ and used_$ < MAX_USED / 2| and }
  return list
end

-- Moves windows that a fast clock opened in the far future to the present: the one write that a refusal may make. Closed ones
-- keep their start, which the next opening has to be later than.
local function reanchor(now, list, costs)
  for c = 1, WINDOWS do
    local start = anchored(now, list[SIZE + c])
    if costs[UNIT_OF[c]] > 0 and list[c] ~= CLOSED and start ~= list[SIZE + c] then
      list[SIZE + c], list.is_moved = start, true
    end
  end
  local kind = list.kind
  if kind then count(now, list, kind) end
end

-- Whether a row has too little for costs: 'r', or 'b' where it cannot be read. A unit that costs nothing refuses nobody.
local function refusal(now, list, kind, costs)
  if list.is_damaged then return 'b' end
  for u = 1, #costs do
    if costs[u] > 0 and costs[u] > list[ROOM + u] then
      -- What was taken under no limit at all is counted again.
      if list[FULL + u] == MAX_USED and list[ROOM + u] < MAX_USED then count(now, list, kind) end
      if costs[u] > list[ROOM + u] then return 'r' end
    end
  end
  return nil
end

-- When the last cell of a row ends, of those whose end is known here.
local function end_of_row(n, list)
  local last = list.ends_at or 0
  for c = 1, WINDOWS do last = math.max(last, list[SIZE + c] + n[LENGTHS + c]) end
  for _, other in ipairs(list.others or {}) do last = math.max(last, other.start + (other.length or 0)) end
  return last
end
