-- The steps of an operation. The first step that fails ends it with a status, so steps that may fail come before those that
-- change something. To add a step, write a function here and add its name to `by_code` and to numbers.ts, at the same position.
--
-- A step receives the index before its first number. It returns the index of its last one and, if it failed, a status.

local first_record = FIRST_ROW - 1 + n[ROWS]
local first_index = first_record + n[RECORDS]
local records, open_counts, record_writes, index_writes = {}, {}, {}, {}
if n[RECORDS] > 0 and call('EXISTS', unpack(KEYS, first_record + 1, first_index)) > 0 then
  records = call('MGET', unpack(KEYS, first_record + 1, first_index))
  for place = 1, n[RECORDS] do
    records[place] = records[place] or call('EXISTS', KEYS[first_record + place]) > 0 and 'damaged' or nil
  end
end
-- The operation's last take: the index of its costs, and its group.
local taken, taken_group
-- The policy's lists that records use.
local used_lists = {}

-- An instant; a number below 0 is that many ms from now.
local function instant_of(number) return number < 0 and now - number or number end

local steps = {}

-- EXPECT record, mark ('' for no record). Otherwise 'k', and the record is added to the answers.
function steps.expect(s)
  local text, mark = records[n[s + 1]], ARGV[n[s + 2]]
  if text and #text >= 14 and now >= unpack_text('<I6', text, 9) then text = nil end
  if (text and sub(text, 1, 8) or '') == mark then return s + 2 end
  answer('record', text or '')
  return s + 2, 'k'
end

-- WITHIN from, until: otherwise 'w'
function steps.within(s) return s + 2, (now < n[s + 1] or now >= n[s + 2]) and 'w' or nil end

-- FEWER index, most: fewer than `most` holds are open; otherwise 'h'
function steps.fewer(s)
  local place, most = n[s + 1], n[s + 2]
  if not open_counts[place] then
    local count = redis.pcall('ZCOUNT', KEYS[first_index + place], '(' .. string.format('%.0f', now), '+inf')
    if type(count) ~= 'number' then return s + 2, 'b' end
    open_counts[place] = count
  end
  return s + 2, open_counts[place] >= most and 'h' or nil
end

-- TAKE, CHARGE, FIT group, costs, own rows: see take; 's' or 't' if the group is stale
local function take_as(mode)
  return function(s)
    taken_group, taken = n[s + 1], s + 1
    local ends = s + 1 + units + n[taken_group + OWN]
    if n[taken_group + IS_STALE] then return ends, n[taken_group + IS_STALE] end
    if mode == 'take' then return ends, take(taken_group, taken, 1) end
    return ends, made.take(taken_group, taken, 1, mode)
  end
end
steps.take, steps.charge, steps.fit = take_as('take'), take_as('charge'), take_as('fit')

-- READABLE row, its list: otherwise 'b', or 'l' as for a take
function steps.readable(s)
  if row_at(n[s + 1], lists[n[s + 2]]) then return s + 2 end
  return s + 2, is_stopped and 'l' or 'b'
end

-- GIVE row, cell, start, amount, closes: see give_back
function steps.give(s)
  local row = row_at(n[s + 1])
  if row then give_back(row, n[s + 1], n[s + 2], n[s + 3], n[s + 4], n[s + 5] == 1) end
  return s + 5
end

-- REPAIR row, its list: replaces a row that cannot be read with a closed one
function steps.repair(s)
  local place, list = n[s + 1], lists[n[s + 2]]
  if not row_at(place, list) then
    rows[place], changes[place] = new_row(list), MOVED
    for c = 1, list.size do rows[place][list.size + c] = now end
  end
  return s + 2
end

-- KEEP row, its list, instant: an existing row does not expire earlier
function steps.keep(s)
  local place, instant = n[s + 1], instant_of(n[s + 3])
  local row = row_at(place, lists[n[s + 2]])
  if row and not (row.is_new and changes[place] == 0) then
    row.kept_until, changes[place] = max(row.kept_until or 0, instant), changes[place] + MOVED
  end
  return s + 3
end

-- The facts of the last take: how many cells its rows have (2 bytes); each cell's charge (7 bytes each; below 0: the cell doesn't
-- count); the time (6 bytes); then the rows, as they are stored.
local function facts()
  local amounts, parts = {}, {}
  local shared, own = n[taken_group + SHARED], n[taken_group + OWN]
  local shared_places, own_places = taken_group + BEHIND_GROUP + shared + own, taken + units - shared
  for r = 1, shared + own do
    local tariff = n[taken_group + BEHIND_GROUP + r]
    local list = n[tariff]
    local row = rows[n[(r > shared and own_places or shared_places) + r]]
    for c = 1, list.size do
      amounts[#amounts + 1] = pack('<i7', n[tariff + c] > 0 and n[taken + n[tariff + c]] or -1)
    end
    parts[r] = list.head .. pack(list.row_format, unpack(row, 1, 2 * list.size))
    -- The list of an existing row of the policy's own was stored with it.
    if row.is_new or row.others then used_lists[list] = true end
  end
  return pack('<I2', #amounts) .. table.concat(amounts) .. pack('<I6', now) .. table.concat(parts)
end

-- RECORD record, text, how long to keep it (ms; 0 removes it, below 0 keeps it for ever), 1 to append the last take's facts
function steps.record(s)
  local place, text, lasts = n[s + 1], ARGV[n[s + 2]], n[s + 3]
  record_writes[place] = lasts
  if lasts == 0 then records[place] = nil
  else
    local ends = lasts < 0 and 281474976710655 or now + lasts
    records[place] = sub(text, 1, 8) .. pack('<I6', ends) .. sub(text, 9) .. (n[s + 4] == 1 and facts() or '')
  end
  return s + 4
end

-- INDEX index, name of a record, its end (below 0: in that many ms; infinite: no longer open), change of the open count
function steps.index(s)
  local place = n[s + 1]
  index_writes[#index_writes + 1] = { KEYS[first_index + place], ARGV[n[s + 2]], instant_of(n[s + 3]) }
  if open_counts[place] then open_counts[place] = open_counts[place] + n[s + 4] end
  return s + 4
end

-- LIST hash of a list of limits (8 digits): the list is added to the answers, empty if it is unknown
function steps.list(s)
  local stored = redis.pcall('HGET', KEYS[2], ARGV[n[s + 1]])
  answer('list', type(stored) == 'string' and stored or '')
  return s + 1
end

local by_code = {
  steps.take, steps.charge, steps.fit, steps.expect, steps.within, steps.fewer, steps.readable, steps.give, steps.repair,
  steps.keep, steps.record, steps.index, steps.list,
}

function made.write_others()
  for list in pairs(used_lists) do store_own_list(list) end
  for place, lasts in pairs(record_writes) do
    local key = KEYS[first_record + place]
    if lasts == 0 then call('DEL', key)
    elseif lasts < 0 then call('SET', key, records[place])
    else set(key, records[place], lasts) end
  end
  for _, write in ipairs(index_writes) do
    if write[3] == math.huge then call('ZREM', write[1], write[2])
    else call('ZADD', write[1], string.format('%.0f', write[3]), write[2]) end
  end
end

-- Carries out the operation whose steps begin after `before`. Returns the status if it failed.
return function(before, length)
  local s, status = before, nil
  while not status and s < before + length do s, status = by_code[n[s + 1]](s + 1) end
  return status
end
