-- Rows in memory: what they hold, and the steps from one state of theirs to the next.
--
-- A row is version byte, hash of the list that says which limits it holds (4 bytes), what each of them has used (7 bytes;
-- CLOSED: closed by a reset), then when each of them started (6 bytes, epoch ms). All little-endian. The used amounts
-- stand first, so that a charge that opens nothing writes no more than that. A row of another list than the policy's
-- own is read and written by lists.lua. The first WINDOWS cells are windows; behind them, where there is one, is that
-- of slots.
--
-- In memory a row is a table { SIZE x used, SIZE x start (CLOSED and 0: never opened), ROOM + u: the rest of unit u,
-- FULL + u: the rest when the cells were read }, and
--   kind        limits and periods by which the rest is counted, see terms.lua; false or none: there are only cells
--   is_ahead    some window starts further in the future than a clock may, or would if it opened: takes charge one by one
--   is_usual    all windows are open; `starts` are then their bytes, once they were needed
--   is_changed, is_moved   the used amounts changed, or more than that
--   is_new, others         it was not there; cells of limits that only other policies know
--   ends_at     it is kept until then at least (epoch ms)
--   is_damaged  it cannot be read

-- Charges what was taken of a row's room to its cells. One that opens starts later than any earlier opening, so that a start
-- identifies a window.
local function fold(list)
  local kind = list.kind
  if not kind then return list end
  list.kind = false
  @{local amount_$ = list[FULL + %] - list[ROOM + %]
  if amount_$ > 0 then
    local used, start = list[$], list[SIZE + $]
    local began = start
    if start - now > MAX_AHEAD_MS and $ <= WINDOWS then start = now + 1 end
    if used == CLOSED or began < SINCE_$ then used, start = 0, math.max(OPENS_$, start + 1) end
    if start ~= began then list[SIZE + $], list.is_moved = start, true end
    used = used + amount_$
    list[$], list.is_changed = used < MAX_USED and used or MAX_USED, true
  end|
  }
  return list
end

-- Counts the rest under limits and periods: a window that is not open counts as if it opened now.
local function count(list, kind)
  if list.is_damaged then return list end
  if list.kind then fold(list) end
  local @u{left_$|, }@s{, left_%|} = @u{MAX_USED|, }@s{, MAX_USED|}
  @{local used_$, start_$, room_$, open_$ = list[$], list[SIZE + $], n[kind + $], true
  if used_$ == CLOSED or start_$ < SINCE_$ then open_$ = false else room_$ = room_$ - used_$ end
  if room_$ < left_% then left_% = room_$ end|
  }
  @u{list[ROOM + $], list[FULL + $] = left_$, left_$|
  }
  @s{list[ROOM + %], list[FULL + %] = left_%, left_%|}
  list.kind, list.starts = kind, false
  list.is_ahead = @w{start_$ - now >= MAX_AHEAD_MS| or }
  list.is_usual = not list.is_ahead and @w{open_$ and used_$ < MAX_USED / 2| and }
  return list
end

-- A row as a take left it, and whether that opened it.
local function bytes_of_take(place, known)
  if not batch.kept[place] then return string.sub(raw[place], 1, 5) .. known .. string.sub(raw[place], 6 + USED_BYTES) end
  batch.kept[place] = nil
  return known, true
end

-- A row that is not there, is of another list, or cannot be read.
local function other_row(place, bytes)
  if bytes then return lists_of(batch).read(place, bytes) end
  -- MGET has nothing of a key of another type either.
  if type(redis.pcall('GET', key_of_row(place))) == 'table' then return damaged(batch, place) end
  raw[place] = BLANK_ROW
  return never_opened()
end

-- A row as a table, which it is from here on; it has room for all that most rows come to have.
local function row_at(place)
  local known, bytes, is_new, list = rows[place], raw[place], nil, nil
  if known ~= UNTOUCHED then
    if type(known) == 'table' then return known end
    bytes, is_new = bytes_of_take(place, known)
  end
  if bytes and #bytes == ROW_BYTES then
    local head, @{used_$|, }, @{start_$|, } = struct.unpack('<I5@{i7|}@{I6|}', bytes)
    if head == n[HEAD] and not (@{used_$ < CLOSED or used_$ > MAX_USED| or }) then
      list = {
        @{used_$|, }, @{start_$|, }, @u{0, 0|, }@s{, 0, 0|},
        kind = false, starts = false, is_ahead = false, is_usual = false, is_changed = known ~= UNTOUCHED,
      }
      if is_new then list.is_new, list.is_moved = true, true end
    end
  end
  list = list or other_row(place, bytes)
  rows[place], batch.tables[#batch.tables + 1] = list, place
  return list
end
