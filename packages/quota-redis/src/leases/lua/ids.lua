-- Records of ids: a reservation that is repeated is charged once, and settled once, also by processes with other policies.
--
-- Record: state (R C X, and of holds E), when it ends (6 bytes, epoch ms), hash of the list that says which limits its cells are
-- of (4), then behind their lengths (2, 2, 2 and 4 bytes) nonce, fingerprint, the tables of its rows (5 characters each) and
-- their cells at the reservation, a row's bytes without the head each; and of holds by cmsgpack what hold-record.lua says.

local RECORD_HEAD = '<c1I6I4Hc0Hc0Hc0I4c0'
-- Has something written behind rows and records.
local function write_late(batch, write)
  batch.late = batch.late or {}
  batch.late[#batch.late + 1] = write
end

-- Where in a key its table begins: behind the prefix in braces.
local function name_of(key) return string.sub(key, string.find(KEYS[1], '}', 1, true) + 1) end
local function table_of(place) return string.sub(name_of(key_of_row(place)), 1, TABLE_BYTES) end

-- The limits that the cells of a record are of; nothing where that cannot be known.
local function limits_of(batch, record)
  local list = lists_of(batch).list_of(record.list)
  return list and list.limits
end

-- A record; false where there is none, nothing for one that cannot be read.
local function record_at(batch, place)
  local text = batch.records[place]
  if not text then return false end
  local is_read, state, ends, list, nonce, fingerprint, tables, cells, at = pcall(struct.unpack, RECORD_HEAD, text)
  if not is_read then return nil end
  if now >= ends then return false end
  local record = { state = state, ends = ends, list = list, nonce = nonce, fingerprint = fingerprint, tables = tables, cells = cells }
  if at <= #text then
    is_read, record.hold = pcall(cmsgpack.unpack, string.sub(text, at))
    if not is_read then return nil end
  end
  local limits = limits_of(batch, record)
  if state ~= 'X' and not (limits and #cells == 13 * #limits * #tables / TABLE_BYTES) then return nil end
  return record
end

-- Writes a record that goes after so long (ms), or ENDLESS.
local function write_record(batch, place, record, ttl)
  local ends = ttl == ENDLESS and NEVER or now + ttl
  local nonce, fingerprint, tables, cells = record.nonce, record.fingerprint, record.tables, record.cells
  batch.records[place] = struct.pack(
    RECORD_HEAD, record.state, ends, record.list, #nonce, nonce, #fingerprint, fingerprint, #tables, tables, #cells, cells
  ) .. (record.hold and cmsgpack.pack(record.hold) or '')
  batch.record_ttls[place] = ttl
end

-- The cells that a record has of a row, by limit: { used, start }; nothing for a row that it does not have.
local function cells_in(record, limits, table_name)
  for at = 1, #record.tables, TABLE_BYTES do
    if string.sub(record.tables, at, at + TABLE_BYTES - 1) == table_name then
      local cells, from = {}, (at - 1) / TABLE_BYTES * 13 * #limits
      for i, limit in ipairs(limits) do
        cells[limit.name] = {
          (struct.unpack('<i7', record.cells, from + 7 * i - 6)),
          (struct.unpack('<I6', record.cells, from + 7 * #limits + 6 * i - 5)),
          limit = limit,
        }
      end
      return cells
    end
  end
end

-- The states that a record keeps, of the policy's own limits and of the rows of these tables.
local function states_of(batch, record, tables)
  local own = lists_of(batch).own
  if record.list == lists_of(batch).own_hash and record.tables == tables then return record.cells end
  local rows = {}
  for at = 1, #tables, TABLE_BYTES do
    local cells, used, start = cells_in(record, limits_of(batch, record), string.sub(tables, at, at + TABLE_BYTES - 1)), {}, {}
    for c = 1, SIZE do
      local cell = cells and cells[own.limits[c].name]
      used[c], start[c] = cell and cell[1] or CLOSED, cell and cell[2] or 0
    end
    rows[#rows + 1] = struct.pack('<@{i7|}', unpack(used)) .. struct.pack('<@{I6|}', unpack(start))
  end
  return table.concat(rows)
end

-- The answer to a take under an id that was used; nothing where its record has ended. `given` is the beginning that the take's
-- own record would have behind its end.
local function known_take(batch, place, given)
  local record = record_at(batch, place)
  if record == nil then return 'b' end
  if not record then return nil end
  local _, nonce, fingerprint, tables = struct.unpack('<I4Hc0Hc0Hc0', given)
  if record.fingerprint ~= fingerprint then return 'c' end
  if record.state == 'X' then return 'x' end
  if record.nonce ~= nonce then return 'd' end
  if record.state == 'E' then return 'e' end
  batch.answers[#batch.answers + 1] = states_of(batch, record, tables)
  return 'm'
end
