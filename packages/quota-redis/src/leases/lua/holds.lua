-- Operations on holds.
--
-- NUMBERS       H is R (see operations.lua), record, index of all holds by end, that of its owner; T terms and own rows; amounts
--               and costs are one a unit, of costs slots behind them
--                 TAKE_HOLD, H, T, costs, ttl of the record (ms), how long it lasts (ms), most open holds, S
--                 EXTEND, H, how long from now on (ms)
--                 GROW, H, T, costs, S
--                 SETTLE_HOLD, H, T, ttl of the record (ms), actual cost (-1: what the hold has), most beyond the hold
--                 SWEEP, H                                     end it if its time has come
--                 SHOW, H                                      show what it has
--                 UNDO_HOLD, H, costs, when it was charged     undo a take of a hold, or a growth
-- ARGV          TAKE_HOLD reads: how the record of an id begins, category, owner, S; EXTEND: nonce; GROW: nonce, 8 characters
--               that are this growth's own, S; SETTLE_HOLD: 'C' or 'X', nonce, fingerprint, 'refuse', 'charge' or 'fit';
--               UNDO_HOLD: nonce, the growth's characters (empty: the take). S: see hold-shared.lua
-- REPLY         every one answers three texts beside its letter: its rows as they are then (or of letter m the states that the
--               record keeps), facts, a JSON array; and where it ended a hold that has something in another slot, what goes
--               back there, as facts

local UNIT_NAMES = {}
for name in string.gmatch(ARGV[3], '%S+') do UNIT_NAMES[#UNIT_NAMES + 1] = name end

local function facts_of(list)
  local facts = {}
  for i, fact in ipairs(list) do facts[i] = type(fact) == 'number' and string.format('%.0f', fact) or cjson.encode(fact) end
  return '[' .. table.concat(facts, ',') .. ']'
end

-- Amounts by the names of units, those of 0 left out; and those of the policy's units in turn.
local function named(amounts)
  local by_name = {}
  for u, amount in ipairs(amounts) do
    if amount > 0 then by_name[UNIT_NAMES[u] or 'slots'] = amount end
  end
  return by_name
end
local function in_units(by_name)
  local amounts = {}
  for u, name in ipairs(UNIT_NAMES) do amounts[u] = by_name and by_name[name] or 0 end
  return amounts
end
local function joined(list, ...)
  for _, more in ipairs({ ... }) do
    for _, value in ipairs(more) do list[#list + 1] = value end
  end
  return list
end
local function pairs_of(by_name)
  local list = {}
  for name, amount in pairs(by_name) do joined(list, { name, amount }) end
  return list
end

-- The record, a hold's or not, settled if it has ended; false where there is none; or nothing and a letter with its facts.
local function found(batch, at)
  local record = record_at(batch, at.record)
  if record == nil then return nil, 'b' end
  if not record or not is_open_hold(record) or record.hold.ends > now then return record end
  local missing = missing_rows(at, record.hold)
  if missing[1] then return nil, 'k', missing end
  close_hold(batch, at, record, 'E')
  return record
end

-- The same for its holder: an open hold whose rows are all there and can be read, and what it has; else the letter that says
-- what it is.
local function open_hold(batch, at, nonce)
  local record, letter, facts = found(batch, at)
  if record == nil then return nil, letter, facts end
  if not record or record.nonce ~= nonce or not is_hold(record) then return nil, 'n' end
  if record.state ~= 'R' then return nil, record.state == 'E' and 'e' or 'z' end
  local missing, charged = missing_rows(at, record.hold), charged_of(batch, record.hold)
  if missing[1] then return nil, 'k', missing end
  for _, row in ipairs(charged or {}) do charged = charged and cells_at(batch, place_of(at, row[1])) and charged end
  if not charged then return nil, 'b' end
  return record, charged
end

-- Of a hold: its end, the mark of the take that made it, and whether that has yet to say what it was charged elsewhere.
local function hold_facts(record)
  if not is_hold(record) then return nil end
  local hold = record.hold
  if not hold.shared then return { hold.ends } end
  return { hold.ends, hold.shared[1], record.state == 'R' and #hold.shared == 1 and 1 or 0 }
end

-- Notes what an operation charged in rows, and writes them into the record.
local function note_charges(batch, hold, charged, rows, costs, ends)
  for _, place in ipairs(rows) do
    add_charged(batch, charged, place, costs)
    -- A row with slots lives as long as the holds that have them.
    local list = batch.rows[place]
    if (costs[UNITS + 1] or 0) > 0 then list.ends_at, list.is_moved = math.max(list.ends_at or 0, ends), true end
  end
  set_charged(batch, hold, charged)
end

-- A growth that was made and is asked for again is answered, and charged no more. Where it is among others.
local function is_among(growths, growth)
  for i = 1, #growths, 8 do
    if string.sub(growths, i, i + 7) == growth then return i end
  end
  return nil
end

local function slots_of(costs) return { unpack(costs, 1, UNITS_AND_SLOTS) } end

local function take_hold(batch, at, read, own_places)
  local t = read.number()
  local own, costs = own_places(t), slots_of(read.numbers(UNITS + 1))
  local keep, lasts, most = read.number(), read.number(), read.number()
  local given, category, owner, shared = read.text(), read.text(), read.text(), next_shared(read)
  local record, letter, facts = found(batch, at)
  if record == nil then return letter, facts end
  if record then
    letter = known_take(batch, at.record, given)
    if letter == 'm' then at.states = table.remove(batch.answers) end
    local is_mine = letter == 'm' or letter == 'e' or letter == 'x' and record.nonce == select(2, struct.unpack('<I4Hc0', given))
    return letter, is_mine and hold_facts(record)
  end
  local open = count_of(batch, at.index) and count_of(batch, at.owner)
  if not open then return 'b' end
  if open >= most then return 'h' end
  letter, record = take_all(batch, t, own, costs)
  at.has_changed = letter == 'a' or letter == 'r'
  if letter ~= 'a' then return letter end
  local list, nonce, fingerprint, tables = struct.unpack('<I4Hc0Hc0Hc0', given)
  local cells = {}
  for i, row in ipairs(record) do cells[i] = table.concat({ record_cells(row, costs) }) end
  local hold = {
    category = category, owner = owner, keep = keep, costs = named(costs), taken = now, ends = now + lasts,
    growths = '', answer = false,
  }
  if shared then add_shared(hold, shared) end
  record = { state = 'R', list = list, nonce = nonce, fingerprint = fingerprint, tables = tables, cells = table.concat(cells), hold = hold }
  note_charges(batch, hold, {}, places_of(batch, t, own), costs, hold.ends)
  keep_hold(batch, at, record, true)
  return 'a', hold_facts(record)
end

local function extend(batch, at, read)
  local ttl, nonce = read.number(), read.text()
  local record, charged, facts = open_hold(batch, at, nonce)
  if not record then return charged, facts end
  local hold = record.hold
  hold.ends = math.max(hold.ends, now + ttl)
  for _, row in ipairs(hold.costs.slots and charged or {}) do
    local list = cells_at(batch, place_of(at, row[1]))
    if not list.is_new then list.ends_at, list.is_moved = math.max(list.ends_at or 0, hold.ends), true end
  end
  keep_hold(batch, at, record)
  return 'y', { hold.ends }
end

-- Of a hold that does not grow any more: no end, and whether this growth was made while it could.
local function grown(batch, at, nonce, growth)
  local record = record_at(batch, at.record)
  local is_known = record and record.nonce == nonce and is_hold(record) and is_among(record.hold.growths, growth)
  return is_known and { 0, 1 } or nil
end

local function grow(batch, at, read, own_places)
  local t = read.number()
  local own, costs = own_places(t), slots_of(read.numbers(UNITS + 1))
  local nonce, growth, shared = read.text(), read.text(), next_shared(read)
  local record, charged, facts = open_hold(batch, at, nonce)
  if not record then return charged, facts or grown(batch, at, nonce, growth) end
  local hold = record.hold
  at.has_changed = true
  if is_among(hold.growths, growth) then return 'y', { hold.ends } end
  -- Larger sums are not exact.
  for name, amount in pairs(named(costs)) do
    if (hold.costs[name] or 0) + amount > MAX_USED then return 'r' end
  end
  local letter = take_all(batch, t, own, costs)
  if letter ~= 'a' then return letter end
  note_charges(batch, hold, charged, places_of(batch, t, own), costs, hold.ends)
  if shared then add_shared(hold, shared) end
  for name, amount in pairs(named(costs)) do hold.costs[name] = (hold.costs[name] or 0) + amount end
  hold.growths = string.sub(growth .. hold.growths, 1, 8 * MAX_GROWTHS)
  keep_hold(batch, at, record)
  return 'y', { hold.ends }
end

-- As if a growth had never been, or where none is named the take.
local function undo_hold(batch, at, read)
  local costs, taken, nonce, growth = named(read.numbers(UNITS)), read.number(), read.text(), read.text()
  local record, charged, facts = open_hold(batch, at, nonce)
  if not record then return charged, facts end
  local hold, is_whole = record.hold, growth == ''
  local among = not is_whole and is_among(hold.growths, growth)
  if not is_whole and not among then return 'n' end
  undo_charge(batch, at, charged, costs, taken, is_whole)
  at.has_changed = true
  if is_whole then
    remove_hold(batch, at, record)
    return 'y'
  end
  hold.growths = string.sub(hold.growths, 1, among - 1) .. string.sub(hold.growths, among + 8)
  for name, amount in pairs(costs) do hold.costs[name] = (hold.costs[name] or 0) - amount end
  set_charged(batch, hold, charged)
  keep_hold(batch, at, record)
  return 'y'
end

-- Charges in the windows that are open now, whatever the limits or as far as they allow, unit by unit; how much, or nothing and a
-- letter.
local function overrun(batch, t, own, amounts, fits)
  local rows, letter = rows_of_terms(batch, t, own)
  if letter then return nil, letter end
  for _, list in ipairs(rows) do
    if list.is_ahead then reanchor(list, amounts) end
    for u, amount in ipairs(amounts) do
      if fits then amounts[u] = math.max(0, math.min(amount, list[ROOM + u])) end
    end
  end
  for _, list in ipairs(rows) do
    for u, amount in ipairs(amounts) do list[ROOM + u] = list[ROOM + u] - amount end
    fold(list)
  end
  return amounts
end

local function cancel(batch, at, nonce, fingerprint, ttl)
  local record, letter, facts = found(batch, at)
  if record == nil then return letter, facts end
  if not record then
    record = { state = 'X', nonce = nonce, fingerprint = fingerprint, tables = '', cells = '', list = lists_of(batch).own_hash }
    write_record(batch, at.record, record, ttl)
    return 'y'
  end
  if record.nonce ~= nonce or not is_hold(record) then return 'n' end
  if record.state == 'R' then
    record, letter, facts = open_hold(batch, at, nonce)
    if not record then return letter, facts end
    close_hold(batch, at, record, 'X')
  end
  at.has_changed = true
  return 'y'
end

-- What a commit comes to, unit by unit: what of it is within the hold, what has to be charged in addition, and what goes back.
local function commit_of(reserved, actual, most, is_late)
  local within, excess, back, is_above = {}, {}, {}, false
  for u, had in ipairs(reserved) do
    within[u] = is_late and 0 or math.min(actual[u], had)
    excess[u] = math.min(actual[u] - within[u], is_late and had + most[u] or most[u])
    back[UNIT_NAMES[u]] = had - within[u]
    is_above = is_above or excess[u] > 0
  end
  return within, excess, back, is_above
end

local function commit(batch, at, t, own, nonce, actual, above, most)
  local record, letter, facts = found(batch, at)
  if record == nil then return letter, facts end
  if not record or record.nonce ~= nonce or not is_hold(record) then return 'n' end
  local hold, nothing = record.hold, in_units()
  local answer = hold.answer
  at.has_changed = true
  if answer then return 'y', joined({ 0 }, in_units(answer[1]), in_units(answer[2]), in_units(answer[3])) end
  if record.state == 'X' then return 'x' end
  local reserved, late = in_units(hold.costs), record.state == 'E'
  local failed = joined({ 0 }, nothing, nothing, reserved)
  for u, amount in ipairs(actual) do
    if amount < 0 then actual[u] = reserved[u] end
  end
  if late and above ~= 'charge' then return 'e', failed end
  if not late then
    for u, amount in ipairs(above == 'refuse' and actual or {}) do
      if amount > reserved[u] then return 'v', failed end
    end
    record, letter, facts = open_hold(batch, at, nonce)
    if not record then return letter, facts end
  end
  local within, more, back, is_above = commit_of(reserved, actual, most, late)
  if is_above then
    more, letter = overrun(batch, t, own, more, above == 'fit')
    if not more then return letter, failed end
  end
  local charged, uncharged = {}, {}
  for u, amount in ipairs(within) do charged[u], uncharged[u] = amount + more[u], actual[u] - amount - more[u] end
  close_hold(batch, at, record, 'C', back, { named(charged), named(uncharged), hold.costs })
  return 'y', joined({ is_above and 1 or 0 }, charged, uncharged, reserved, more)
end

local function settle_hold(batch, at, read, own_places)
  local t = read.number()
  local own, ttl = own_places(t), read.number()
  local actual, most = read.numbers(UNITS), read.numbers(UNITS)
  local state, nonce, fingerprint, above = read.text(), read.text(), read.text(), read.text()
  if state == 'X' then return cancel(batch, at, nonce, fingerprint, ttl) end
  return commit(batch, at, t, own, nonce, actual, above, most)
end

-- The end of a hold, if it has come. What cannot be read is not looked for again.
local function sweep(batch, at)
  local before = record_at(batch, at.record)
  if not before or not is_open_hold(before) then
    forget(batch, at)
    return 'n'
  end
  local record, letter, facts = found(batch, at)
  if record == nil then return letter, facts end
  if record.state ~= 'E' then return 'n' end
  local hold = record.hold
  return 'y', joined({ hold.category, hold.owner, record.fingerprint, hold.ends }, pairs_of(hold.costs))
end

-- What a hold is, and what it has in the first of its rows that are named.
local function show(batch, at)
  local record = record_at(batch, at.record)
  if record == nil then return 'b' end
  if not is_open_hold(record) or record.hold.ends <= now then return 'n' end
  local hold, cells, name = record.hold, {}, name_of(key_of_row(at.rows[1]))
  for _, row in ipairs(charged_of(batch, hold) or {}) do
    for c = 1, SIZE do
      local cell = row[1] == name and row[2][lists_of(batch).own.limits[c].name]
      if cell then cells[2 * c - 1], cells[2 * c] = cell[2], cell[1] end
    end
  end
  for c = 1, SIZE do cells[2 * c - 1], cells[2 * c] = cells[2 * c - 1] or -1, cells[2 * c] or 0 end
  local facts = { record.nonce, record.fingerprint, hold.taken, hold.ends }
  return 'y', joined(facts, { unpack(cells, 1, 2 * SIZE) }, pairs_of(hold.costs))
end

more_operations[#more_operations + 1] = function(batch, operations, read, own_places)
  -- Names its rows, and answers them as they are then, where it is about them or ended a hold that has something in them.
  local function on_hold(operation)
    return function()
      local at = { rows = read.places(), record = read.number(), index = read.number(), owner = read.number() }
      local letter, facts = operation(batch, at, read, own_places)
      local answers = batch.answers
      answers[#answers + 1] = at.states or at.has_changed and bytes_of(batch, at.rows) or ''
      answers[#answers + 1] = facts and facts_of(facts) or '[]'
      answers[#answers + 1] = at.freed and facts_of(at.freed) or ''
      return letter
    end
  end
  local all = {
    [TAKE_HOLD] = take_hold, [EXTEND] = extend, [GROW] = grow, [SETTLE_HOLD] = settle_hold, [SWEEP] = sweep, [SHOW] = show,
    [UNDO_HOLD] = undo_hold,
  }
  for code, operation in pairs(all) do operations[code] = on_hold(operation) end
end
