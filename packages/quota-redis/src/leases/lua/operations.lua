-- Operations other than takes of one of the terms.
--
-- NUMBERS       of each operation its code and what it needs; a negative code if it is no plain take
--                 terms, how many, of each costs, own rows          takes
--                 UNDER_ID, terms, how many, of each record, ttl (ms), costs, own rows
--                                                                   takes under ids; read a text each: how its record begins
--                 FREE, record, ttl (ms), terms, own rows           the same of what costs nothing
--                 SETTLE, R, amounts, starts                        give back to windows with given starts, which R names
--                 SETTLE_ID, R, amounts, record, ttl (ms)           the same under an id: to the windows that it charged
--                 RESET, R                                          close all windows
--                 UNDO, R, amounts, starts, when taken              undo a take: give back, and close what it opened in vain
--                 UNDO_ID, R, amounts, starts, when taken, record   the same under an id, which is forgotten
--                 LOOK, R                                           show rows
--               and those on holds, see holds.lua. R is how many rows, and their places; amounts are one a unit.
-- ARGV          SETTLE_ID reads: 'C' (committed) or 'X' (cancelled), nonce, fingerprint; UNDO_ID: nonce
-- REPLY         letters: a admitted  r refused  m admitted earlier, by the same nonce  d duplicate  x cancelled  c conflict
--               s stale  t the clock is outside of the periods  y done  n not this nonce's to settle  b a row or record cannot
--               be read, nothing was done  e the hold has ended  h too many holds  z settled before  v above what the hold has
--               k more rows have to be named
--               States: of letter m the states that the record keeps; of every operation from SETTLE on its rows as of
--               then

-- What other parts add to the operations: functions of batch, operations, reader, and what reads the own rows of terms.
local more_operations = {}

-- Reads what operations are given, in turn.
local function reader(batch)
  local read = {}
  function read.number()
    batch.at = batch.at + 1
    return n[batch.at]
  end
  function read.numbers(count)
    local list = {}
    for i = 1, count do list[i] = read.number() end
    return list
  end
  function read.places() return read.numbers(read.number()) end
  function read.text()
    n[FIRST_TEXT] = n[FIRST_TEXT] + 1
    return ARGV[n[FIRST_TEXT] - 1]
  end
  return read
end

-- All of some rows; nothing if one of them cannot be read.
local function all_of(batch, places)
  local lists = {}
  for l, place in ipairs(places) do lists[l] = cells_at(batch, place) end
  for l = 1, #places do
    if not lists[l] then return nil end
  end
  return lists
end

-- What a record says was charged goes back, to windows that other policies know as well. `amount_of` says how much of a unit.
local function give_back_cells(batch, list, cells, amount_of)
  local own = lists_of(batch).own
  for name, cell in pairs(cells) do
    local c, amount = own.at[name], amount_of(cell)
    if c then refund(list, c, cell[2], amount) end
    for _, other in ipairs(not c and list.others or {}) do
      if other.name == name and other.start == cell[2] and other.used ~= CLOSED and amount ~= 0 then
        other.used, list.is_changed = less(other.used, amount), true
        if other.slots and other.used == 0 then other.used = CLOSED end
      end
    end
  end
end

-- Closes the windows of the policy's own limits; slots stay taken. A row that cannot be read is mended.
local function close(batch, place)
  local list = cells_at(batch, place)
  if not list then
    batch.rows[place] = { @{CLOSED|, }, @{now|, }, is_moved = true }
    batch.needed[lists_of(batch).own_hash] = ARGV[2]
    return
  end
  for w = 1, WINDOWS do
    if list[w] ~= CLOSED then list[w], list.is_changed = CLOSED, true end
  end
end

-- The rows that terms charge, shared ones first.
local function places_of(batch, t, own_places)
  local terms, places = n[TERMS] + t - 1, {}
  for s = 1, n[terms + 2] do places[s] = n[terms + 3 + n[terms + 2] + n[terms + 3] + s] end
  for _, place in ipairs(own_places) do places[#places + 1] = place end
  return places
end

-- The same as tables, counted, and their kinds; nothing and a letter where terms are stale, a letter where some row cannot be
-- read.
local function rows_of_terms(batch, t, own_places)
  local terms, rows, kinds = n[TERMS] + t - 1, {}, {}
  local letter = stale_of(terms)
  if letter then return nil, letter end
  for i, place in ipairs(places_of(batch, t, own_places)) do
    rows[i], kinds[i] = row_at(place), n[terms + 3 + i]
    if rows[i].kind ~= kinds[i] then count(rows[i], kinds[i]) end
    if rows[i].is_damaged then letter = 'b' end
  end
  return rows, letter, kinds
end

-- Decides, and charges costs of every unit (and slots) in all rows or in none.
local function take_all(batch, t, own_places, costs)
  local rows, letter, kinds = rows_of_terms(batch, t, own_places)
  if not rows then return letter end
  for i, list in ipairs(rows) do
    local why = refusal(list, kinds[i], costs)
    letter = letter or why
  end
  if letter then return letter, rows end
  for _, list in ipairs(rows) do
    for u, cost in ipairs(costs) do list[ROOM + u] = list[ROOM + u] - cost end
  end
  return 'a', rows
end

local function make_settles(batch, read)
  local made = {}

  local function own_places(t) return read.numbers(n[n[TERMS] + t + 2]) end
  made.own_places = own_places

  function made.take_free()
    local place, ttl, t, given = read.number(), read.number(), read.number(), read.text()
    local own = own_places(t)
    local letter = place > 0 and known_take(batch, place, given)
    if letter then return letter end
    local rows
    rows, letter = rows_of_terms(batch, t, own)
    if letter then return letter end
    local cells, costs = {}, {}
    for u = 1, UNITS do costs[u] = 0 end
    for i, list in ipairs(rows) do cells[i] = table.concat({ record_cells(list, costs) }) end
    if place == 0 then return 'a' end
    batch.records[place] = struct.pack('<c1I6', 'R', now + ttl) .. given .. table.concat(cells)
    batch.record_ttls[place] = ttl
    return 'a'
  end

  function made.settle(places)
    local amounts, starts = read.numbers(UNITS), read.numbers(#places * WINDOWS)
    local lists = all_of(batch, places)
    if not lists then return 'b' end
    for l, list in ipairs(lists) do
      for w = 1, WINDOWS do refund(list, w, starts[(l - 1) * WINDOWS + w], amounts[UNIT_OF[w]]) end
    end
    return 'y'
  end

  -- A cancel that overtook its reserve marks the id.
  function made.settle_id(places)
    local amounts, place, ttl = read.numbers(UNITS), read.number(), read.number()
    local state, nonce, fingerprint = read.text(), read.text(), read.text()
    local lists, record = all_of(batch, places), record_at(batch, place)
    if not lists or record == nil then return 'b' end
    local known = lists_of(batch)
    if not record and state == 'X' then
      record = { state = 'X', nonce = nonce, fingerprint = fingerprint, tables = '', cells = '', list = known.own_hash }
      write_record(batch, place, record, ttl)
      return 'n'
    end
    -- A hold's end goes by what holds.lua has of it.
    if not record or record.state ~= 'R' or record.nonce ~= nonce or record.hold then return 'n' end
    local by_unit = {}
    for c = 1, WINDOWS do by_unit[known.own.limits[c].unit] = amounts[UNIT_OF[c]] end
    local function amount_of(cell) return cell[1] ~= CLOSED and not cell.limit.slots and by_unit[cell.limit.unit] or 0 end
    for l, list in ipairs(lists) do
      give_back_cells(batch, list, cells_in(record, limits_of(batch, record), table_of(places[l])) or {}, amount_of)
    end
    record.state, record.fingerprint = state, fingerprint
    write_record(batch, place, record, ttl)
    return 'y'
  end

  -- As if the take had never been: windows that it opened and that nothing else used are closed.
  local function undo(places, with_id)
    local amounts, starts, taken = read.numbers(UNITS), read.numbers(#places * WINDOWS), read.number()
    local place, nonce = with_id and read.number(), with_id and read.text()
    local lists = all_of(batch, places)
    if not lists then return 'b' end
    if place then
      local record = record_at(batch, place)
      if record == nil then return 'b' end
      if not record or record.state ~= 'R' or record.nonce ~= nonce then return 'n' end
      batch.records[place], batch.record_ttls[place] = false, GONE
    end
    for l, list in ipairs(lists) do
      for w = 1, WINDOWS do undo_cell(list, w, starts[(l - 1) * WINDOWS + w], amounts[UNIT_OF[w]], taken) end
    end
    return 'y'
  end
  function made.undo(places) return undo(places, false) end
  function made.undo_id(places) return undo(places, true) end

  function made.reset(places)
    for _, place in ipairs(places) do close(batch, place) end
    return 'y'
  end

  function made.look(places) return all_of(batch, places) and 'y' or 'b' end
  return made
end

-- Operations by their codes.
local function make_operations(batch)
  local read = reader(batch)
  local made = make_settles(batch, read)
  -- Names its rows, and answers them as they are then.
  local function on_rows(operation)
    return function()
      local places = read.places()
      local letter = operation(places)
      batch.answers[#batch.answers + 1] = bytes_of(batch, places)
      return letter
    end
  end
  local operations = {
    [FREE] = made.take_free, [SETTLE] = on_rows(made.settle), [SETTLE_ID] = on_rows(made.settle_id),
    [RESET] = on_rows(made.reset), [UNDO] = on_rows(made.undo), [UNDO_ID] = on_rows(made.undo_id), [LOOK] = on_rows(made.look),
  }
  for _, add in ipairs(more_operations) do add(batch, operations, read, made.own_places) end
  return operations
end

local function other(batch, code, at)
  batch.operations = batch.operations or make_operations(batch)
  batch.at, batch.has_odd = at, true
  return batch.operations[code](), batch.at
end
