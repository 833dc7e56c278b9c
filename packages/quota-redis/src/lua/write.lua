-- How a batch ends: what changed is written, then the reply is put together. Expiry is garbage collection only: a row goes when
-- all its windows are over, and never earlier than it would have gone before.

-- Lists are there before the first row or record that names them.
local function new_lists(needed)
  local fields = {}
  for hash, text in pairs(needed) do
    local field = string.format('%08x', hash)
    local stored = call('HGET', KEYS[2], field)
    if stored and stored ~= text then error({ err = 'QUOTALIST another list is stored as ' .. field }) end
    if not stored then
      fields[#fields + 1] = field
      fields[#fields + 1] = text
    end
  end
  return fields
end

-- What a row that is a table is written as: UNTOUCHED where it is as it was; how long it is kept from now on (ms) where that is
-- longer than before.
local function row_text(batch, place, list)
  fold(batch.now, list)
  if not list.is_changed and not list.is_moved then return UNTOUCHED end
  if list.is_new then batch.needed[(batch.head - ROW_VERSION) / 256] = ARGV[2] end
  if not list.is_moved and not list.is_new and not list.others then return struct.pack('<@{i7|}', unpack(list, 1, SIZE)) end
  local text = list.others and lists_of(batch).packed(list) or own_bytes(batch.head, list)
  local lasts = end_of_row(batch.n, list) + GRACE_MS - batch.now
  if not list.is_new and call('PTTL', key_of_row(place)) >= lasts then return text, 0 end
  return text, math.max(1, lasts)
end

-- Sets a key that goes after so long; a test's clock is not the server's.
local function set_for(batch, key, text, lasts)
  if lasts ~= batch.last_lasts then
    batch.last_lasts, batch.last_end = lasts, string.format('%.0f', batch.is_test and lasts or batch.now + lasts)
  end
  return call('SET', key, text, batch.is_test and 'PX' or 'PXAT', batch.last_end)
end

local function write_records(batch)
  local records, first = batch.records, FIRST_ROW - 1 + batch.row_count
  for record, ttl in pairs(batch.record_ttls) do
    local key, text = KEYS[first + record], records[record]
    if not text then call('DEL', key)
    elseif ttl == ENDLESS then call('SET', key, text)
    else set_for(batch, key, text, ttl) end
  end
end

-- Writes everything that changed.
local function write(batch, rows, KEYS)
  local kept_for = {}
  for _, place in ipairs(batch.tables) do
    rows[place], kept_for[place] = row_text(batch, place, rows[place])
  end
  if next(batch.opened) or next(batch.record_ttls) then batch.needed[(batch.head - ROW_VERSION) / 256] = ARGV[2] end
  local fields = next(batch.needed) and new_lists(batch.needed)
  if fields and fields[1] then call('HSET', KEYS[2], unpack(fields)) end
  for place = 1, batch.row_count do
    local text = rows[place]
    if text ~= UNTOUCHED then
      local key, lasts = KEYS[FIRST_ROW - 1 + place], kept_for[place]
      if batch.opened[place] then set_for(batch, key, text, batch.opened[place] - batch.now)
      elseif not lasts then call('SETRANGE', key, '5', text)
      elseif lasts == 0 then call('SET', key, text, 'KEEPTTL')
      else set_for(batch, key, text, lasts) end
    end
  end
  if next(batch.record_ttls) then write_records(batch) end
  for _, late in ipairs(batch.late or {}) do late(batch) end
end

-- REPLY what the rows held before, one behind the other in the policy's own form (zeros: nothing, 'b' all over: cannot be read),
--       now (a double), one letter an operation (none: all are admitted takes); where there is more, { that, what operations
--       told in turn, the settings' revision if it was looked at }
local function reply(batch, raw, letters, count)
  -- Rows that nobody looked at, and those that were not there and still are not.
  if batch.has_odd or batch.has_looked then
    for place = 1, batch.row_count do
      if not raw[place] or #raw[place] ~= ROW_BYTES then raw[place] = BLANK_ROW end
    end
  end
  for taken = 1, letters and count or 0 do letters[taken] = letters[taken] or 'a' end
  raw[#raw + 1] = struct.pack('<d', batch.now)
  local text = table.concat(raw) .. (letters and table.concat(letters) or '')
  if not batch.told[1] and not batch.revision then return text end
  return { text, batch.told, batch.revision or '' }
end

-- What few batches need is made for those alone.
local function rare(batch)
  batch.rare = batch.rare or make_rare()
  return batch.rare
end

local letters, count = run(
  batch, batch.n, batch.raw, batch.rows, batch.records, ARGV, struct.unpack, struct.pack, rare
)
write(batch, batch.rows, KEYS)
return reply(batch, batch.raw, letters, count)
