-- What is done with holds. A function makes it, for each call that needs it.
--
-- Every one of these operations tells three texts beside its letter, in the reply's third part: facts, a JSON array, its
-- rows as they are thereafter, one behind the other in the policy's own form, zeros for one that cannot be read; and where it
-- ended a hold that has tokens in another slot, what goes back there, as facts.

local function make_holds()
  local made = make_records()

  local function facts_of(...)
    local facts = { ... }
    for i, fact in ipairs(facts) do
      facts[i] = type(fact) == 'number' and string.format('%.0f', fact) or cjson.encode(fact)
    end
    return '[' .. table.concat(facts, ',') .. ']'
  end

  local function bytes_of(rows)
    local bytes = {}
    for l, place in ipairs(rows) do
      local list = cells_of(place)
      bytes[l] = list and own_bytes(list) or string.rep('\0', ROW_BYTES)
    end
    return table.concat(bytes)
  end

  local function listed_places()
    local list = {}
    for l = 1, next_place() do list[l] = next_place() end
    return list
  end

  -- The places that every one of these operations names.
  local target
  local function next_target()
    target = { rows = listed_places(), record = next_place(), index = next_place(), owner = next_place() }
    return target
  end

  local function next_tariff()
    read = read + 1
    local tariff = tariffs[codes[read] - FIRST_TARIFF + 1]
    read_own(tariff)
    return tariff
  end

  -- The record, a hold's or not, settled if it has ended; false where there is none; or nothing and a letter with its facts.
  local function found(at)
    local record = ids().at(at.record)
    if record == nil then return nil, 'b' end
    -- It is known from here on, and no row: the reply goes without it.
    raw[at.record] = false
    if not record or not made.is_open(record) or record[8][ENDS] > now then return record end
    local missing = made.missing(at, record[8])
    if missing[1] then return nil, 'k', facts_of(unpack(missing)) end
    made.close(at, record, 'E', record[8][TOKENS])
    return record
  end

  -- The same for its holder: an open hold whose rows are all there and can be read, else the letter that says what it is.
  local function open_hold(at, nonce)
    local record, letter, facts = found(at)
    if record == nil then return nil, letter, facts end
    if not record or record[2] ~= nonce or not made.is_hold(record) then return nil, 'n' end
    if record[1] ~= 'R' then return nil, record[1] == 'E' and 'e' or 'z' end
    local missing, charged = made.missing(at, record[8]), made.charged_of(record[8])
    if missing[1] then return nil, 'k', facts_of(unpack(missing)) end
    for _, row in ipairs(charged or {}) do charged = charged and cells_of(made.place_of(at, row[1])) and charged end
    if not charged then return nil, 'b' end
    return record, charged
  end

  local function room_for_slots(tariff, rows)
    for l = 1, tariff.layers do
      local list = cells_of(rows[l])
      if not list then return nil end
      if math.max(0, list[W]) + 1 > tariff.limits[l * W] then return false end
    end
    return true
  end

  local function take_slots(tariff, rows, ends_at)
    for l = 1, tariff.layers do
      local list = cells_of(rows[l])
      if list[W] == CLOSED then
        -- Later than any earlier start, so that a slot of a row that was lost is not given back to this one.
        list[W], list[2 * W] = 1, math.max(now, list[2 * W] + 1)
      else
        list[W] = list[W] + 1
      end
      put(rows[l], packed(list), math.max(ends_of(list), ends_at))
    end
  end

  local function refuse(tariff, rows)
    for l = 1, tariff.cost > 0 and tariff.layers or 0 do reanchor(rows[l], cells_of(rows[l])) end
    return 'r'
  end

  -- Tokens and slots, all or none.
  local function decide(tariff, rows, slots, ends_at)
    if tariff.stale then return tariff.stale end
    if slots > 0 then
      local has_room = room_for_slots(tariff, rows)
      if has_room == nil then return 'b' end
      if not has_room then return refuse(tariff, rows) end
    end
    local letter = take(tariff)
    if letter == 'a' and slots > 0 then take_slots(tariff, rows, ends_at) end
    return letter
  end

  -- Of a hold: its end, the mark of the take that made it, and whether that has yet to say what it was charged elsewhere.
  local function hold_facts(record)
    if not made.is_hold(record) then return nil end
    local hold = record[8]
    if not hold[SHARED] then return facts_of(hold[ENDS]) end
    return facts_of(hold[ENDS], hold[SHARED][1], record[1] == 'R' and #hold[SHARED] == 1 and 1 or 0)
  end

  local function known_id(record, at, nonce, fingerprint)
    if record[3] ~= fingerprint then return 'c' end
    if record[1] == 'X' then return 'x', record[2] == nonce and hold_facts(record) end
    if record[2] ~= nonce then return 'd' end
    if record[1] == 'E' then return 'e', hold_facts(record) end
    local tables = {}
    for l, row in ipairs(at.rows) do tables[l] = ids().table_of(row) end
    return 'm', hold_facts(record), ids().states(record, tables)
  end

  local function take_hold()
    local tariff, at = next_tariff(), next_target()
    local nonce, fingerprint, ttl, lasts, slots = arg(), arg(), tonumber(arg()), tonumber(arg()), tonumber(arg())
    local most, category, owner, shared, ends_at = tonumber(arg()), arg(), arg(), next_shared(), 0
    local record, letter, facts = found(at)
    if record == nil then return letter, facts end
    if record then return known_id(record, at, nonce, fingerprint) end
    local open = made.count_of(at.index) and made.count_of(at.owner)
    if not open then return 'b' end
    if open >= most then return 'h' end
    ends_at = now + lasts
    letter = decide(tariff, at.rows, slots, ends_at)
    if letter ~= 'a' then return letter, nil, letter == 'r' and bytes_of(at.rows) end
    local cells, tables, rows = {}, {}, {}
    for l, row in ipairs(at.rows) do
      local list = cells_of(row)
      --#if calendars
      use(tariff.spans[l])
      --#end
      cells[l], tables[l] = ids().cells(list, tariff.cost), ids().table_of(row)
      made.add_charged(rows, row, tariff.cost, slots)
    end
    local hold = { category, owner, ttl, tariff.cost, slots, now, ends_at, '', HASH, {}, false }
    made.set_charged(hold, rows)
    if shared then add_shared(hold, shared) end
    record = { 'R', nonce, fingerprint, table.concat(cells), 0, HASH, table.concat(tables), hold }
    made.keep(at, record, true)
    return 'a', hold_facts(record), bytes_of(at.rows)
  end

  local function extend()
    local at, nonce, ttl = next_target(), arg(), tonumber(arg())
    local record, charged, facts = open_hold(at, nonce)
    if not record then return charged, facts end
    local hold = record[8]
    hold[ENDS] = math.max(hold[ENDS], now + ttl)
    for _, row in ipairs(hold[SLOTS] > 0 and charged or {}) do
      local place = made.place_of(at, row[1])
      local list = cells_of(place)
      -- A row with slots lives as long as whoever has one.
      if not list.is_new then put(place, packed(list), math.max(ends_of(list), hold[ENDS])) end
    end
    made.keep(at, record)
    return 'y', facts_of(hold[ENDS])
  end

  -- A growth that was made and is asked for again is answered, and charged no more. Where it is among others.
  local function is_among(growths, growth)
    for i = 1, #growths, 8 do
      if sub(growths, i, i + 7) == growth then return i end
    end
    return nil
  end

  -- Of a hold that does not grow any more: no end, and whether this growth was made while it could.
  local function grown(at, nonce, growth)
    local record = ids().at(at.record)
    local is_known = record and record[2] == nonce and made.is_hold(record) and is_among(record[8][GROWTHS], growth)
    return is_known and facts_of(0, 1) or nil
  end

  local function grow()
    local tariff, at, nonce, growth, shared = next_tariff(), next_target(), arg(), arg(), next_shared()
    local record, charged, facts = open_hold(at, nonce)
    if not record then return charged, facts or grown(at, nonce, growth) end
    local hold = record[8]
    if is_among(hold[GROWTHS], growth) then return 'y', facts_of(hold[ENDS]), bytes_of(at.rows) end
    local letter = take(tariff)
    if letter ~= 'a' then return letter, nil, letter == 'r' and bytes_of(at.rows) end
    for l = 1, tariff.layers do made.add_charged(charged, at.rows[l], tariff.cost, 0) end
    made.set_charged(hold, charged)
    if shared then add_shared(hold, shared) end
    hold[TOKENS], hold[GROWTHS] = hold[TOKENS] + tariff.cost, sub(growth .. hold[GROWTHS], 1, 8 * MAX_GROWTHS)
    made.keep(at, record)
    return 'y', facts_of(hold[ENDS]), bytes_of(at.rows)
  end

  -- As if a growth had never been, or where none is named the take.
  local function undo()
    local at, nonce, growth, tokens, taken = next_target(), arg(), arg(), tonumber(arg()), tonumber(arg())
    local record, charged, facts = open_hold(at, nonce)
    if not record then return charged, facts end
    local hold, is_whole = record[8], growth == ''
    local among = not is_whole and is_among(hold[GROWTHS], growth)
    if not is_whole and not among then return 'n' end
    made.undo_charge(at, charged, tokens, taken, is_whole)
    if is_whole then
      made.remove(at, record)
    else
      hold[GROWTHS] = sub(hold[GROWTHS], 1, among - 1) .. sub(hold[GROWTHS], among + 8)
      hold[TOKENS] = hold[TOKENS] - tokens
      made.set_charged(hold, charged)
      made.keep(at, record)
    end
    return 'y', nil, bytes_of(at.rows)
  end

  -- Charges in the windows that are open now, whatever the limits or as far as they allow; how much, or nothing and a letter.
  local function overrun(tariff, rows, tokens, fits)
    if tariff.stale then return nil, tariff.stale end
    for l = 1, tariff.layers do
      local list = cells_of(rows[l])
      if not list then return nil, 'b' end
      --#if calendars
      use(tariff.spans[l])
      --#end
      if fits then tokens = math.max(0, math.min(tokens, left_in(list, tariff.limits, (l - 1) * W))) end
    end
    for l = 1, tokens > 0 and tariff.layers or 0 do
      local list = cells_of(rows[l])
      --#if calendars
      use(tariff.spans[l])
      --#end
      charge(list, tokens)
      put(rows[l], packed(list), ends_of(list))
    end
    return tokens
  end

  local function cancel(at, nonce, fingerprint, ttl)
    local record, letter, facts = found(at)
    if record == nil then return letter, facts end
    if not record then
      ids().write(at.record, { 'X', nonce, fingerprint, '', 0, HASH, '' }, ttl)
      return 'y', facts_of(0, 0, 0)
    end
    if record[2] ~= nonce or not made.is_hold(record) then return 'n' end
    if record[1] == 'R' then
      record, letter, facts = open_hold(at, nonce)
      if not record then return letter, facts end
      made.close(at, record, 'X', record[8][TOKENS])
    end
    return 'y', facts_of(0, 0, 0), bytes_of(at.rows)
  end

  local function commit(tariff, at, nonce, given, above, most)
    local record, letter, facts = found(at)
    if record == nil then return letter, facts end
    if not record or record[2] ~= nonce or not made.is_hold(record) then return 'n' end
    local hold = record[8]
    if hold[ANSWER] then return 'y', facts_of(unpack(hold[ANSWER])), bytes_of(at.rows) end
    if record[1] == 'X' then return 'x' end
    local tokens, late = hold[TOKENS], record[1] == 'E'
    local actual = given or tokens
    if late and above ~= 'charge' then return 'e', facts_of(0, 0, tokens) end
    if not late then
      if actual > tokens and above == 'refuse' then return 'v', facts_of(0, 0, tokens) end
      record, letter, facts = open_hold(at, nonce)
      if not record then return letter, facts end
    end
    local within = late and 0 or math.min(actual, tokens)
    local excess, more = math.min(actual - within, late and tokens + most or most), 0
    if excess > 0 then
      more, letter = overrun(tariff, at.rows, excess, above == 'fit')
      if not more then return letter, facts_of(0, 0, tokens) end
    end
    local charged = within + more
    local answer = { charged, actual - charged, tokens }
    made.close(at, record, 'C', tokens - within, answer)
    return 'y', facts_of(charged, actual - charged, tokens, excess > 0 and 1 or 0, more), bytes_of(at.rows)
  end

  local function settle()
    local tariff, at = next_tariff(), next_target()
    local state, nonce, fingerprint, ttl = arg(), arg(), arg(), tonumber(arg())
    local actual, above, most = tonumber(arg()), arg(), tonumber(arg())
    if state == 'X' then return cancel(at, nonce, fingerprint, ttl) end
    return commit(tariff, at, nonce, actual, above, most)
  end

  -- The end of a hold, if it has come. What cannot be read is not looked for again.
  local function sweep()
    local at = next_target()
    local before = ids().at(at.record)
    local was_open = before and made.is_open(before)
    if not was_open then
      made.forget(at)
      return 'n'
    end
    local record, letter, facts = found(at)
    if record == nil then return letter, facts end
    if record[1] ~= 'E' then return 'n' end
    local hold = record[8]
    return 'y', facts_of(hold[CATEGORY], hold[OWNER], record[3], hold[TOKENS], hold[ENDS]), bytes_of(at.rows)
  end

  -- What a hold is, and what it has in the first of its rows that are named.
  local function show()
    local at = next_target()
    local record = ids().at(at.record)
    if record == nil then return 'b' end
    if not made.is_open(record) or record[8][ENDS] <= now then return 'n' end
    local hold, cells, name = record[8], {}, made.name_behind(at.rows[1])
    for _, row in ipairs(made.charged_of(hold) or {}) do
      for w = 1, W do
        local cell = row[1] == name and row[2][other_lists().own.limits[w].name]
        if cell then cells[2 * w - 1], cells[2 * w] = cell[1], cell[2] end
      end
    end
    for w = 1, W do cells[2 * w - 1], cells[2 * w] = cells[2 * w - 1] or -1, cells[2 * w] or 0 end
    return 'y', facts_of(record[2], record[3], hold[TOKENS], hold[SLOTS], hold[TAKEN], hold[ENDS], unpack(cells, 1, 2 * W))
  end

  local operations = {
    [TAKE_HOLD] = take_hold, [EXTEND] = extend, [GROW] = grow, [SETTLE_HOLD] = settle, [SWEEP] = sweep, [SHOW] = show,
    [UNDO_HOLD] = undo,
  }
  return function(operation)
    local letter, facts, rows = operations[operation]()
    -- A hold that had ended was settled, whatever came of the operation itself.
    if not rows and target.has_changed then rows = bytes_of(target.rows) end
    stored[#stored + 1] = facts or '[]'
    stored[#stored + 1] = rows or ''
    stored[#stored + 1] = target.freed and facts_of(unpack(target.freed)) or ''
    return letter
  end
end
