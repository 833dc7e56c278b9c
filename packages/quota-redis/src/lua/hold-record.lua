-- Records of holds: reservations that end. What a hold has in each row, and how that goes back.
--
-- Behind what ids.lua says of a record, a hold's has: { category (name), key of the owner, how long the record is kept once
-- it is settled (ms), tokens, slots a row (0 or 1), when it was taken, when it ends (epoch ms), its last growths (8
-- characters each), hash of the list that the cells below are of, rows: what their keys have behind the prefix and their
-- cells in turn, the answer of its commit (charged, uncharged, reserved; false: none yet), and what it has in another slot:
-- see hold-shared.lua }. A cell is when what the hold charged was opened and how much that is (6 and 7 bytes; 0: nothing).
-- State E is a hold that ended without being settled; while it is open (R) its record has no end. Once settled it has no rows.
--
-- A place of the index by end and one of the index of its owner's holds go with each: sorted sets of what records' keys
-- have behind the prefix, by end.

local CATEGORY, OWNER, KEEP, TOKENS, SLOTS, TAKEN, ENDS, GROWTHS, LIST, ROWS, ANSWER = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
-- In `new_records`: a record without an end.
local ENDLESS = -1
-- By place of an index: by member, its score, false where it goes.
local indexed = {}

local function make_records()
  local function name_behind(place) return sub(name_of(place), ids().table_at) end

  -- The place of a row among those that an operation names: nothing else of it changes.
  local function place_of(at, name)
    for _, place in ipairs(at.rows) do
      if name_behind(place) == name then return place end
    end
  end

  local function is_hold(record)
    local hold = record and record[8]
    if type(hold) ~= 'table' or type(hold[ROWS]) ~= 'table' then return false end
    for i = KEEP, ENDS do
      if type(hold[i]) ~= 'number' then return false end
    end
    return type(hold[CATEGORY]) == 'string' and type(hold[OWNER]) == 'string' and type(hold[GROWTHS]) == 'string'
      and type(hold[LIST]) == 'number'
  end

  -- What a hold has, by row and limit: { name, { [limit] = { start, tokens } } } in turn; nothing where it cannot be read.
  local function charged_of(hold)
    local list, rows = other_lists().list_of(hold[LIST]), {}
    if not list then return nil end
    for r = 1, #hold[ROWS], 2 do
      local cells, bytes = {}, hold[ROWS][r + 1]
      if type(bytes) ~= 'string' or #bytes ~= 13 * #list.limits then return nil end
      for i, limit in ipairs(list.limits) do
        local start, tokens = unpack_cells('<I6i7', bytes, 13 * i - 12)
        if tokens > 0 then cells[limit.name] = { start, tokens, limit = limit } end
      end
      rows[#rows + 1] = { hold[ROWS][r], cells }
    end
    return rows
  end

  -- Writes that into a record: in the policy's own list, or where others charged as well in one that has all.
  local function set_charged(hold, rows)
    local own, limits, known = other_lists().own, {}, {}
    for i, limit in ipairs(own.limits) do limits[i], known[limit.name] = limit, true end
    for _, row in ipairs(rows) do
      for name, cell in pairs(row[2]) do
        if not known[name] then limits[#limits + 1], known[name] = cell.limit, true end
      end
    end
    local hash = HASH
    if #limits > W then hash = other_lists().listed(limits) else needed[HASH] = ARGV[2] end
    hold[LIST], hold[ROWS] = hash, {}
    for _, row in ipairs(rows) do
      local bytes = {}
      for i, limit in ipairs(limits) do
        local cell = row[2][limit.name]
        bytes[i] = pack('<I6i7', cell and cell[1] or 0, cell and cell[2] or 0)
      end
      hold[ROWS][#hold[ROWS] + 1] = row[1]
      hold[ROWS][#hold[ROWS] + 1] = table.concat(bytes)
    end
  end

  -- Notes what was charged to a row just now. An opening that is newer than what the hold has takes its place: the older one
  -- has ended.
  local function add_charged(rows, place, tokens, slots)
    local list, own, name, cells = cells_of(place), other_lists().own, name_behind(place), nil
    for _, row in ipairs(rows) do
      if row[1] == name then cells = row[2] end
    end
    if not cells then
      cells = {}
      rows[#rows + 1] = { name, cells }
    end
    for w = 1, W do
      local more, limit, start = w <= V and tokens or slots, own.limits[w], list[W + w]
      local cell = cells[limit.name]
      if more > 0 and cell and cell[1] == start then
        cell[2] = cell[2] + more
      elseif more > 0 then
        cells[limit.name] = { start, more, limit = limit }
      end
    end
  end

  -- Rows of a hold that an operation does not name.
  local function missing(at, hold)
    local names = {}
    for r = 1, #hold[ROWS], 2 do
      if not place_of(at, hold[ROWS][r]) then names[#names + 1] = hold[ROWS][r] end
    end
    return names
  end

  local function give_back_cell(list, name, cell, tokens)
    local back = cell.limit.slots and cell[2] or math.min(tokens, cell[2])
    if back <= 0 then return false end
    local w = other_lists().own.at[name]
    if w then return refund(list, w, cell[1], back) end
    local found = false
    for _, other in ipairs(list.others or {}) do
      if other.name == name and other.start == cell[1] and other.used ~= CLOSED then
        other.used, found = less(other.used, back), true
        if other.slots and other.used == 0 then other.used = CLOSED end
      end
    end
    return found
  end

  -- So many tokens of every window go back, the slots too. Rows that cannot be read have lost both.
  local function give_back(at, hold, tokens)
    for _, row in ipairs(charged_of(hold) or {}) do
      local place = place_of(at, row[1])
      local list, found = cells_of(place), false
      for name, cell in pairs(list and row[2] or {}) do
        if give_back_cell(list, name, cell, tokens) then found = true end
      end
      if found then put(place, packed(list), list.others and ends_of(list)) end
    end
  end

  local function index(place, member, score)
    indexed[place] = indexed[place] or {}
    indexed[place][member] = score
  end

  -- How many holds of an index have not ended: those that it has, and since then; nothing where that cannot be read.
  local stored_of, opened_of = {}, {}
  local function count_of(place)
    if stored_of[place] == nil then
      local count = redis.pcall('ZCOUNT', name_of(place), string.format('(%.0f', now), '+inf')
      stored_of[place] = type(count) == 'number' and count or false
    end
    return stored_of[place] and stored_of[place] + (opened_of[place] or 0)
  end

  local function is_open(record) return is_hold(record) and record[1] == 'R' end

  -- Writes the record of an open hold, known by its end from here on.
  local function keep(at, record, is_new)
    record[5] = MAX_USED
    records[at.record], new_records[at.record] = record, ENDLESS
    local member, ends_at = name_behind(at.record), record[8][ENDS]
    index(at.index, member, ends_at)
    index(at.owner, member, ends_at)
    if is_new then opened_of[at.owner] = (opened_of[at.owner] or 0) + 1 end
  end

  local function forget(at)
    local member = name_behind(at.record)
    index(at.index, member, false)
    index(at.owner, member, false)
  end

  local function uncount(at, hold)
    if hold[ENDS] > now then opened_of[at.owner] = (opened_of[at.owner] or 0) - 1 end
  end

  -- Takes a charge back from a hold as if it had never been: windows that it opened and that nobody else used are closed.
  local function undo_charge(at, charged, tokens, taken, with_slots)
    for _, row in ipairs(charged) do
      local place, found = place_of(at, row[1]), false
      local list = cells_of(place)
      for name, cell in pairs(row[2]) do
        local w = other_lists().own.at[name]
        if w and w <= V and list[w] ~= CLOSED and list[W + w] == cell[1] then
          local left = less(list[w], tokens)
          list[w], found = left == 0 and cell[1] >= taken and CLOSED or left, true
        elseif w and w > V and with_slots then
          found = refund(list, w, cell[1], cell[2]) or found
        end
        if not cell.limit.slots then cell[2] = cell[2] - tokens end
        if cell[2] <= 0 then row[2][name] = nil end
      end
      if found then put(place, packed(list), list.others and ends_of(list)) end
    end
  end

  -- Makes a hold one that never was.
  local function remove(at, record)
    records[at.record], new_records[at.record] = false, 0
    forget(at)
    uncount(at, record[8])
  end

  -- Settles a hold: once, since it is not open thereafter.
  local function close(at, record, state, tokens, answer)
    local hold = record[8]
    if record[1] == 'R' then
      give_back(at, hold, tokens)
      at.has_changed = true
      uncount(at, hold)
      if hold[SHARED] and tokens > 0 then at.freed = freed_of(hold, tokens) end
    end
    if hold[SHARED] then hold[SHARED] = { hold[SHARED][1] } end
    hold[ROWS], hold[LIST], hold[ANSWER] = {}, HASH, answer or false
    record[1] = state
    ids().write(at.record, record, hold[KEEP])
    forget(at)
  end

  return {
    add_charged = add_charged, charged_of = charged_of, close = close, count_of = count_of,
    forget = forget, is_hold = is_hold, is_open = is_open, keep = keep, missing = missing, name_behind = name_behind,
    place_of = place_of, remove = remove, set_charged = set_charged, undo_charge = undo_charge,
  }
end
