-- Records of ids: a reservation that is repeated is charged once, and settled once, also by processes with other policies.
--
-- Record, by cmsgpack: state (R C X, and of holds E), nonce, fingerprint, cells of its rows at the reservation (start and
-- used of each limit in turn; 0 and CLOSED: not open), when it ends (epoch ms), hash of the list that says which limits the
-- cells are of, the rows' tables (5 characters each); and of holds what holds.lua says.

local TABLE_BYTES = 5
local records, new_records, stored = {}, {}, {}

local function make_ids()
  -- Where in a key its table begins: behind the prefix in braces.
  local table_at = string.find(KEYS[1], '}', 1, true) + 1
  local function table_of(place) return sub(name_of(place), table_at, table_at + TABLE_BYTES - 1) end

  local function is_record(record)
    return type(record) == 'table' and type(record[1]) == 'string' and type(record[2]) == 'string'
      and type(record[3]) == 'string' and type(record[4]) == 'string' and type(record[5]) == 'number'
      and type(record[6]) == 'number' and type(record[7]) == 'string'
  end

  -- How many limits the cells of a record are of; nothing where that cannot be known.
  local function width_of(record)
    if record[6] == HASH then return W end
    local list = other_lists().list_of(record[6])
    return list and #list.limits
  end

  -- Whether a record holds what it says.
  local function is_whole(record)
    local width = width_of(record)
    return record[1] == 'X' or width and #record[4] == 13 * width * #record[7] / TABLE_BYTES
  end

  -- A record; false where there is none, nothing for one that cannot be read.
  local function record_at(place)
    local record = records[place]
    if record ~= nil then return record end
    local value = raw[place]
    if not value then
      if type(redis.pcall('GET', name_of(place))) == 'table' then return nil end
      records[place] = false
      return false
    end
    local is_read, found = pcall(cmsgpack.unpack, value)
    if not is_read or not is_record(found) then return nil end
    if now < found[5] and not is_whole(found) then return nil end
    records[place] = now < found[5] and found
    return records[place]
  end

  local function write_record(place, record, ttl)
    record[5] = now + ttl
    records[place], new_records[place] = record, ttl
  end

  -- The cells of some rows as they are seen, windows that are not open left out; the policy's own, 13 bytes each. What was just
  -- charged is seen as it is in its row: tokens go back to the very start that stands there.
  local function cells_now(list, cost)
    local cells = {}
    for w = 1, W do
      local open, start = is_open(list, w), list[W + w]
      if w <= V and cost == 0 then start = anchored(start) end
      cells[2 * w - 1], cells[2 * w] = open and start or 0, open and list[w] or CLOSED
    end
    return pack('<@{I6i7|}', unpack(cells))
  end

  -- Where in a record the cells of a row begin; nothing for a row that it does not have.
  local function cells_in(record, table_name)
    for at = 1, #record[7], TABLE_BYTES do
      if sub(record[7], at, at + TABLE_BYTES - 1) == table_name then
        return (at - 1) / TABLE_BYTES * 13 * width_of(record)
      end
    end
  end

  -- The states that a record keeps, of the limits and rows that are asked for.
  local function states_of(record, tables)
    if record[6] == HASH and record[7] == table.concat(tables) then return record[4] end
    local theirs, never, cells = other_lists().list_of(record[6]), pack('<I6i7', 0, CLOSED), {}
    for _, name in ipairs(tables) do
      local at = cells_in(record, name)
      for w = 1, W do
        local i = at and theirs.at[other_lists().own.limits[w].name]
        cells[#cells + 1] = i and sub(record[4], at + 13 * i - 12, at + 13 * i) or never
      end
    end
    return table.concat(cells)
  end

  local function take_once(tariff)
    local place, nonce, fingerprint, ttl = next_place(), arg(), arg(), tonumber(arg())
    local tables = {}
    for i = 1, tariff.layers do
      if i > tariff.own then places[i] = tariff.shared[i - tariff.own][1] end
      tables[tariff.order[i]] = table_of(places[i])
    end
    local record = record_at(place)
    if record == nil then return 'b' end
    if record then
      if record[3] ~= fingerprint then return 'c' end
      if record[1] == 'X' then return 'x' end
      if record[2] ~= nonce then return 'd' end
      stored[#stored + 1] = states_of(record, tables)
      return 'm'
    end
    local letter = take(tariff)
    if letter ~= 'a' then return letter end
    local cells = {}
    for i = 1, tariff.layers do
      local row = i > tariff.own and tariff.shared[i - tariff.own][1] or places[i]
      local list = cells_of(row)
      --#if calendars
      use(tariff.spans[tariff.order[i]])
      --#end
      cells[tariff.order[i]] = cells_now(list, tariff.cost)
    end
    write_record(place, { 'R', nonce, fingerprint, table.concat(cells), 0, HASH, table.concat(tables) }, ttl)
    needed[HASH] = ARGV[2]
    return 'a'
  end

  -- The reservation's record, if it was this nonce's and open; else the letter that says what is. A cancel that overtook its
  -- reserve marks the id.
  local function settle_once(place, state, nonce, fingerprint, ttl)
    local record = record_at(place)
    if record == nil then return nil, 'b' end
    if not record and state == 'X' then write_record(place, { 'X', nonce, fingerprint, '', 0, HASH, '' }, ttl) end
    -- A hold's end goes by what holds.lua has of it.
    if not record or record[1] ~= 'R' or record[2] ~= nonce or record[8] then return nil, 'n' end
    return record
  end

  -- What a record says was charged goes back, to windows that other policies know as well.
  local function refund_record(record, list, place, tokens)
    local at = cells_in(record, table_of(place))
    local found = false
    for i, limit in ipairs(at and other_lists().list_of(record[6]).limits or {}) do
      local start, used = unpack_cells('<I6i7', record[4], at + 13 * i - 12)
      local w, counts = other_lists().own.at[limit.name], used ~= CLOSED and not limit.slots
      if counts and w and refund(list, w, start, tokens) then found = true end
      for _, other in ipairs(counts and not w and list.others or {}) do
        if other.name == limit.name and other.start == start and other.used ~= CLOSED then
          other.used, found = less(other.used, tokens), true
        end
      end
    end
    return found
  end

  -- Whether there was a record of this nonce, which is gone then; nothing for one that cannot be read.
  local function forget_once(place, nonce)
    local record = record_at(place)
    if record == nil then return nil end
    if not record or record[1] ~= 'R' or record[2] ~= nonce then return false end
    records[place], new_records[place] = false, 0
    return true
  end

  return {
    take = take_once, settle = settle_once, write = write_record, refund = refund_record, forget = forget_once,
    --#if holds
    at = record_at, states = states_of, cells = cells_now, table_of = table_of, table_at = table_at,
    --#end
  }
end

-- A function makes them, for each call that needs them, so that plain takes do not pay for it.
local known_ids
local function ids()
  known_ids = known_ids or make_ids()
  return known_ids
end
