-- Rows of other lists than the policy's own: windows were added, removed or changed, here or in a policy that other
-- processes still have. Cells that the policy knows are its counters; the others are carried along until they have ended.
--
-- A list is text, one limit a line: `rolling <label> <length in ms>`, `calendar <label> <longest length in ms> <rule>` or
-- `concurrency <label>`, and at the end of a window's ` unit:<name>` where it counts something else than tokens; lines of
-- another form are limits that this version does not know, and never end. In a row limits stand by length, then by label;
-- those without a length come last.

-- The unit of each cell.
local UNIT_OF = { @{%|, } }

local function key_of_row(place) return KEYS[FIRST_ROW - 1 + place] end

local function never_opened()
  return { @{CLOSED|, }, @{0|, }, is_new = true }
end

local function own_bytes(head, list) return struct.pack('<I5@{i7|}@{I6|}', head, unpack(list, 1, 2 * SIZE)) end

-- Damage is shown as such in the reply; nothing is left in such a row.
local function damaged(batch, place)
  batch.raw[place] = DAMAGED_ROW
  local list = { @{CLOSED|, }, @{0|, }, is_damaged = true }
  for u = 1, UNITS_AND_SLOTS do list[ROOM + u], list[FULL + u] = NOTHING, NOTHING end
  return list
end

local function make_lists(batch)
  local own_hash = (n[HEAD] - ROW_VERSION) / 256
  local function hash_of(text)
    local hash = 2166136261
    for i = 1, #text do
      hash = bit.bxor(hash, string.byte(text, i)) % 4294967296
      hash = (hash % 256 * 16777216 + hash * 403) % 4294967296
    end
    return hash
  end

  local function parsed(text)
    local list = { limits = {}, at = {} }
    for line in string.gmatch(text, '[^\n]+') do
      local rule, unit = string.match(line, '^(.*) unit:([%w_-]+)$')
      local label, length = string.match(rule or line, '^rolling ([%w_-]+) (%d+)$')
      if not label then label, length = string.match(rule or line, '^calendar ([%w_-]+) (%d+) ') end
      local slots = string.match(line, '^concurrency ([%w_-]+)$')
      local limits = list.limits
      limits[#limits + 1] = {
        name = line, label = label or slots or line, length = tonumber(length), slots = slots ~= nil,
        unit = slots and 'slots' or unit or 'tokens',
      }
      list.at[line] = #limits
    end
    return list
  end

  local own = parsed(ARGV[2])
  local lists = { [own_hash] = own }

  -- A list by its hash; false where it cannot be found, or is not what its hash says.
  local function list_of(hash)
    if lists[hash] == nil then
      local text = redis.pcall('HGET', KEYS[2], string.format('%08x', hash))
      lists[hash] = type(text) == 'string' and hash_of(text) == hash and parsed(text)
    end
    return lists[hash]
  end

  local function read(place, value)
    local bytes = #value - 5
    local theirs = bytes > 0 and bytes % 13 == 0 and string.byte(value) == ROW_VERSION
      and list_of((struct.unpack('<I4', value, 2)))
    if not theirs or #theirs.limits * 13 ~= bytes then return damaged(batch, place) end
    local list = never_opened()
    list.is_new, list.others = nil, {}
    for i, limit in ipairs(theirs.limits) do
      local used = struct.unpack('<i7', value, 7 * i - 1)
      local start = struct.unpack('<I6', value, 7 * #theirs.limits + 6 * i)
      if used < CLOSED or used > MAX_USED then return damaged(batch, place) end
      local w = own.at[limit.name]
      if w then
        list[w], list[SIZE + w] = used, start
      else
        list.others[#list.others + 1] =
          { name = limit.name, label = limit.label, length = limit.length, slots = limit.slots, start = start, used = used }
      end
    end
    batch.raw[place] = own_bytes(n[HEAD], list)
    return list
  end

  -- By bytes, wherever the server is: its own comparison of texts goes by a locale.
  local function is_before(a, b)
    local x, y = a.length or math.huge, b.length or math.huge
    if x ~= y then return x < y end
    for i = 1, math.min(#a.label, #b.label) do
      x, y = string.byte(a.label, i), string.byte(b.label, i)
      if x ~= y then return x < y end
    end
    return #a.label < #b.label
  end

  -- Slots end when all are back, by whatever clock.
  local function has_ended(other)
    if other.slots then return other.used <= 0 end
    return other.length and other.start + other.length + GRACE_MS <= now
  end

  -- A list of some limits: its hash, the limits in their order. It is there from now on.
  local function listed(limits)
    table.sort(limits, is_before)
    local names = {}
    for i, limit in ipairs(limits) do names[i] = limit.name end
    local text = table.concat(names, '\n')
    local hash = hash_of(text)
    lists[hash] = lists[hash] or parsed(text)
    batch.needed[hash] = text
    return hash, limits
  end

  -- The bytes of a row with all of the policy's windows, and those of others that may still count.
  local function packed(list)
    local limits = {}
    for w = 1, SIZE do
      local limit = own.limits[w]
      limits[w] =
        { name = limit.name, label = limit.label, length = limit.length, start = list[SIZE + w], used = list[w] }
    end
    for _, other in ipairs(list.others) do
      if not has_ended(other) then limits[#limits + 1] = other end
    end
    if #limits == SIZE then
      batch.needed[own_hash] = ARGV[2]
      return own_bytes(n[HEAD], list)
    end
    local hash, cells = listed(limits), {}
    for i, limit in ipairs(limits) do cells[i], cells[#limits + i] = limit.used, limit.start end
    return struct.pack('<BI4' .. string.rep('i7', #limits) .. string.rep('I6', #limits), ROW_VERSION, hash, unpack(cells))
  end

  return { own = own, own_hash = own_hash, list_of = list_of, listed = listed, read = read, packed = packed }
end

local function lists_of(batch)
  batch.lists = batch.lists or make_lists(batch)
  return batch.lists
end
