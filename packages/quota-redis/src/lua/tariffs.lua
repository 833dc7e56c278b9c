-- Tariffs: what decisions of a batch have in common, said once.
--
-- NUMBERS       their number, and for each: revision of the settings that it follows (text; 0: it follows none), cost, L,
--               the rows of L layers (places; 0 where the operation names it), L x W limits in tokens (1e999: unlimited);
--               with calendar windows, the spans of L layers (their numbers)

--#if plans

-- What the operations of a plain batch are where they are not said: takes of the rows behind the shared ones, in turn.
local function codes_in_turn(own, shared)
  local list, rows = {}, #raw
  if ARGV[8] then rows = shared + own * (rows - shared) / (own + 1) end
  for place = shared + 1, rows do
    if (place - shared - 1) % own == 0 then list[#list + 1] = FIRST_TARIFF end
    list[#list + 1] = math.floor(place / 128)
    list[#list + 1] = place % 128
  end
  return list
end

-- The same under ids, whose records stand behind the rows, and what the operations need besides.
local function under_ids(takes, own)
  local list, words, each = {}, {}, 1 + 2 * own
  local count = #takes / each
  for take = 1, count do
    list[#list + 1] = TAKE_ID
    for i = 1, each do list[#list + 1] = takes[each * (take - 1) + i] end
    local record, nonce_bytes = #raw - count + take, #ARGV[8] / count
    list[#list + 1] = math.floor(record / 128)
    list[#list + 1] = record % 128
    words[3 * take + 1] = sub(ARGV[8], nonce_bytes * (take - 1) + 1, nonce_bytes * take)
    words[3 * take + 2], words[3 * take + 3] = ARGV[5], ARGV[6]
  end
  return list, words
end
--#end

-- A tariff's own rows (those that its operations name) come first in `order`, then those that everybody shares.
local tariffs = {}
for t = 1, number() do
  local follows, cost, layers = number(), number(), number()
  --#if plans
  if is_plain and follows == 1 then follows = ARGV[4] end
  --#end
  local order, shared, limits, finite = {}, {}, {}, true
  for l = 1, layers do
    local place = number()
    if place == 0 then order[#order + 1] = l else shared[#shared + 1] = { place, l } end
  end
  local own = #order
  for i = 1, #shared do order[own + i] = shared[i][2] end
  for i = 1, layers * W do
    local limit = number()
    --#if plans
    if is_plain and limit == MAX_USED then limit = math.huge end
    --#end
    limits[i] = limit
    --#if slots
    if limit > MAX_USED and i % W ~= 0 then finite = false end
    --#else
    if limit > MAX_USED then finite = false end
    --#end
  end
  local stale = follows ~= 0 and follows ~= stored_revision() and 's'
  --#if calendars
  local spans_of = {}
  for l = 1, layers do
    spans_of[l] = spans[number() or 1]
    if spans_of[l].stale then stale = stale or 't' end
  end
  --#end
  tariffs[t] = {
    --#if calendars
    spans = spans_of,
    --#end
    stale = stale, cost = cost, layers = layers, finite = finite,
    order = order, own = own, shared = shared, limits = limits,
  }
end

-- ARGV[3], see decide.lua: the operations, read from the left.
local codes, read, words = { string.byte(ARGV[3] or '', 1, -1) }, 0, ARGV
--#if plans
if is_plain then
  table.remove(codes, 1)
  if codes[1] == nil then codes = codes_in_turn(tariffs[1].own, #tariffs[1].shared) end
  if ARGV[8] then codes, words = under_ids(codes, tariffs[1].own) end
end
--#end
local function next_place()
  read = read + 2
  return codes[read - 1] * 128 + codes[read]
end

-- ARGV[4..]: what operations need besides, in their order.
local words_read = 3
local function arg()
  words_read = words_read + 1
  return words[words_read]
end

-- Passes over so many words; where they stand in ARGV, less one.
local function skipped(count)
  words_read = words_read + count
  return words_read - count
end
