-- Records of holds: reservations that end. What a hold has in each row, and how that goes back.
--
-- Behind what ids.lua says of a record, a hold's has { category (name), owner (key), keep: how long the record is kept once it
-- is settled (ms), costs: by the names of units, `slots` among them, taken, ends (epoch ms), growths: the last ones (8
-- characters each), list: hash of the list that the cells below are of, rows: what their keys have behind the prefix and their
-- cells in turn, answer: of its commit, charged, uncharged and reserved by unit (false: none yet), shared: see
-- hold-shared.lua }. A cell is when what the hold charged was opened and how much that is (6 and 7 bytes; 0: nothing). State E
-- is a hold that ended without being settled; while it is open (R) its record has no end. Once settled it has no rows.
--
-- A place of the index by end and one of the index of its owner's holds go with each: sorted sets of what records' keys have
-- behind the prefix, by end.

local function key_of_record(batch, place) return KEYS[FIRST_ROW - 1 + n[ROWS] + place] end
local function key_of_other(batch, place) return KEYS[FIRST_ROW - 1 + n[ROWS] + n[RECORDS] + place] end

-- The place of a row among those that an operation names: nothing else of it changes.
local function place_of(at, name)
  for _, place in ipairs(at.rows) do
    if name_of(key_of_row(place)) == name then return place end
  end
end

local function is_hold(record)
  local hold = record and record.hold
  return type(hold) == 'table' and type(hold.rows) == 'table' and type(hold.costs) == 'table' and type(hold.ends) == 'number'
    and type(hold.keep) == 'number' and type(hold.owner) == 'string' and type(hold.growths) == 'string'
    and type(hold.list) == 'number'
end

local function is_open_hold(record) return is_hold(record) and record.state == 'R' end

-- What a hold has, by row and limit: { name, { [limit] = { amount, start, limit = .. } } } in turn; nothing where it cannot be
-- read.
local function charged_of(batch, hold)
  local list, rows = lists_of(batch).list_of(hold.list), {}
  if not list then return nil end
  for r = 1, #hold.rows, 2 do
    local cells, bytes = {}, hold.rows[r + 1]
    if type(bytes) ~= 'string' or #bytes ~= 13 * #list.limits then return nil end
    for i, limit in ipairs(list.limits) do
      local start, amount = struct.unpack('<I6i7', bytes, 13 * i - 12)
      if amount > 0 then cells[limit.name] = { amount, start, limit = limit } end
    end
    rows[#rows + 1] = { hold.rows[r], cells }
  end
  return rows
end

-- Writes that into a record: in the policy's own list, or where others charged as well in one that has all.
local function set_charged(batch, hold, rows)
  local known_lists, limits, known = lists_of(batch), {}, {}
  for i, limit in ipairs(known_lists.own.limits) do limits[i], known[limit.name] = limit, true end
  for _, row in ipairs(rows) do
    for name, cell in pairs(row[2]) do
      if not known[name] then limits[#limits + 1], known[name] = cell.limit, true end
    end
  end
  hold.list, hold.rows = known_lists.own_hash, {}
  if #limits > SIZE then hold.list = known_lists.listed(limits) end
  for _, row in ipairs(rows) do
    local bytes = {}
    for i, limit in ipairs(limits) do
      local cell = row[2][limit.name]
      bytes[i] = struct.pack('<I6i7', cell and cell[2] or 0, cell and cell[1] or 0)
    end
    hold.rows[#hold.rows + 1] = row[1]
    hold.rows[#hold.rows + 1] = table.concat(bytes)
  end
end

-- Notes what was charged to a row just now. An opening that is newer than what the hold has takes its place: the older one has
-- ended.
local function add_charged(batch, rows, place, costs)
  local list, limits, name, cells = cells_at(batch, place), lists_of(batch).own.limits, name_of(key_of_row(place)), nil
  for _, row in ipairs(rows) do
    if row[1] == name then cells = row[2] end
  end
  if not cells then
    cells = {}
    rows[#rows + 1] = { name, cells }
  end
  for c = 1, SIZE do
    local more, limit, start = costs[UNIT_OF[c]], limits[c], list[SIZE + c]
    local cell = cells[limit.name]
    if more > 0 and cell and cell[2] == start then
      cell[1] = cell[1] + more
    elseif more > 0 then
      cells[limit.name] = { more, start, limit = limit }
    end
  end
end

-- Rows of a hold that an operation does not name.
local function missing_rows(at, hold)
  local names = {}
  for r = 1, #hold.rows, 2 do
    if not place_of(at, hold.rows[r]) then names[#names + 1] = hold.rows[r] end
  end
  return names
end

-- So much of each unit goes back (`back`, by name; nothing: all of it), and the slots. Rows that cannot be read have lost both.
local function give_back(batch, at, hold, back)
  local function amount_of(cell)
    if cell.limit.slots or not back then return cell[1] end
    return math.min(back[cell.limit.unit] or 0, cell[1])
  end
  for _, row in ipairs(charged_of(batch, hold) or {}) do
    local list = cells_at(batch, place_of(at, row[1]))
    if list then give_back_cells(batch, list, row[2], amount_of) end
  end
end

-- Takes a charge back from a hold as if it had never been: windows that it opened and that nothing else used are closed.
local function undo_charge(batch, at, charged, costs, taken, with_slots)
  local own = lists_of(batch).own
  for _, row in ipairs(charged) do
    local list = cells_at(batch, place_of(at, row[1]))
    for name, cell in pairs(row[2]) do
      local c, amount = own.at[name], costs[cell.limit.unit] or 0
      if c and c <= WINDOWS then undo_cell(list, c, cell[2], amount, taken) end
      if c and c > WINDOWS and with_slots then refund(list, c, cell[2], cell[1]) end
      if not cell.limit.slots then cell[1] = cell[1] - amount end
      if cell[1] <= 0 then row[2][name] = nil end
    end
  end
end

-- Writes the indexes of holds. A key that holds something else stays as it is.
local function write_indexes(batch)
  for place, members in pairs(batch.indexed) do
    for member, score in pairs(members) do
      if score then
        redis.pcall('ZADD', key_of_other(batch, place), string.format('%.0f', score), member)
      else
        redis.pcall('ZREM', key_of_other(batch, place), member)
      end
    end
  end
end

local function set_index(batch, place, member, score)
  if not batch.indexed then
    batch.indexed = {}
    write_late(batch, write_indexes)
  end
  batch.indexed[place] = batch.indexed[place] or {}
  batch.indexed[place][member] = score
end

-- How many holds of an index have not ended: those that it has, and since then; nothing where that cannot be read.
local function count_of(batch, place)
  batch.counts = batch.counts or {}
  if batch.counts[place] == nil then
    local open = redis.pcall('ZCOUNT', key_of_other(batch, place), string.format('(%.0f', now), '+inf')
    batch.counts[place] = type(open) == 'number' and open or false
  end
  return batch.counts[place]
end

local function add_to_count(batch, place, more)
  local open = count_of(batch, place)
  if open then batch.counts[place] = open + more end
end

local function forget(batch, at)
  local member = name_of(key_of_record(batch, at.record))
  set_index(batch, at.index, member, false)
  set_index(batch, at.owner, member, false)
end

-- Writes the record of an open hold, known by its end from here on.
local function keep_hold(batch, at, record, is_new)
  if is_new then add_to_count(batch, at.owner, 1) end
  write_record(batch, at.record, record, ENDLESS)
  local member = name_of(key_of_record(batch, at.record))
  set_index(batch, at.index, member, record.hold.ends)
  set_index(batch, at.owner, member, record.hold.ends)
end

-- Settles a hold: once, since it is not open any more. `back` as of give_back.
local function close_hold(batch, at, record, state, back, answer)
  local hold = record.hold
  if record.state == 'R' then
    give_back(batch, at, hold, back)
    at.has_changed = true
    if hold.ends > now then add_to_count(batch, at.owner, -1) end
    if hold.shared then at.freed = freed_of(hold, back) end
  end
  if hold.shared then hold.shared = { hold.shared[1] } end
  hold.rows, hold.list, hold.answer, record.state = {}, lists_of(batch).own_hash, answer or false, state
  write_record(batch, at.record, record, hold.keep)
  forget(batch, at)
end

-- Makes a hold one that never was.
local function remove_hold(batch, at, record)
  batch.records[at.record], batch.record_ttls[at.record] = false, GONE
  if record.hold.ends > now then add_to_count(batch, at.owner, -1) end
  forget(batch, at)
end
