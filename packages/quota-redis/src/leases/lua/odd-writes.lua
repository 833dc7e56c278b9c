-- Writes of all but charges to open windows.

-- Stores the lists that are needed, before the first row or record that names them.
local function store_lists()
  local fields = {}
  for hash, text in pairs(batch.needed) do
    local field = string.format('%08x', hash)
    local stored = call('HGET', KEYS[2], field)
    if stored and stored ~= text then error({ err = 'QUOTALIST another list is stored as ' .. field }) end
    if not stored then fields[#fields + 1], fields[#fields + 2] = field, text end
  end
  if fields[1] then call('HSET', KEYS[2], unpack(fields)) end
end

-- What a row is written as that is not only charged: UNTOUCHED where it is as it was; and how long it is kept from now on (ms),
-- 0 where that is no longer than before.
local function whole_row(place, list)
  if not list.is_changed and not list.is_moved then return UNTOUCHED end
  if list.is_new then batch.needed[(n[HEAD] - ROW_VERSION) / 256] = ARGV[2] end
  local text = list.others and lists_of(batch).packed(list) or own_bytes(n[HEAD], list)
  -- When the last cell ends, of those whose end is known here.
  local last = list.ends_at or 0
  for w = 1, WINDOWS do last = math.max(last, list[SIZE + w] + n[LENGTHS + w]) end
  for _, other in ipairs(list.others or {}) do last = math.max(last, other.start + (other.length or 0)) end
  local lasts = last + GRACE_MS - now
  if not list.is_new and call('PTTL', key_of_row(place)) >= lasts then return text, 0 end
  return text, math.max(1, lasts)
end

-- Sets a key that goes after so long, 0: as before. A test's clock is not the server's.
local last_lasts, last_end
local function set_for(key, text, lasts)
  if lasts == 0 then return call('SET', key, text, 'KEEPTTL') end
  if lasts ~= last_lasts then
    last_lasts, last_end = lasts, string.format('%.0f', n[NOW] >= 0 and lasts or now + lasts)
  end
  return call('SET', key, text, n[NOW] >= 0 and 'PX' or 'PXAT', last_end)
end

-- Writes everything but rows: records, and what operations have; shows rows that were not looked at, or that were not
-- there and still are not, as such.
local function write_others()
  local records, first = batch.records, FIRST_ROW - 1 + n[ROWS]
  for record, ttl in pairs(batch.record_ttls) do
    local key, text = KEYS[first + record], records[record]
    if not text then call('DEL', key)
    elseif ttl == ENDLESS then call('SET', key, text)
    else set_for(key, text, ttl) end
  end
  for _, late in ipairs(batch.late or {}) do late(batch) end
  for place = 1, batch.has_odd and n[ROWS] or 0 do
    if not raw[place] or #raw[place] ~= ROW_BYTES then raw[place] = BLANK_ROW end
  end
end
