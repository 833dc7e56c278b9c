-- Rows: what they hold, and the steps from one state of theirs to the next.
--
-- NUMBERS       hash of the policy's list of limits, the lengths of its V windows (ms; of calendar windows at the most);
--               with calendar windows, how many spans follow, and for each of them and each calendar window in turn: start
--               of a period, its end, the end of the next (epoch ms)
-- KEYS  FIRST_ROW..   rows and what else is asked for by its place from there on
--
-- A row is version byte, hash of the list that says which limits it holds (4 bytes), what each of them has used (7 bytes;
-- CLOSED: closed by a reset), then when each of them started (6 bytes, epoch ms). All little-endian. What is used stands
-- first, so that a charge that opens nothing writes no more than that. A row of another list than the policy's own is read
-- and written by lists.lua. In memory a row is { W x used, W x start } of the policy's own limits (CLOSED and 0: never
-- opened), and `others`: the cells of limits that only other policies know. The first V limits are windows; the one behind
-- them, where there is one, is that of slots, which nothing but the ends of holds gives back.

local HASH = number()
local HEAD = ROW_VERSION + 256 * HASH
local lengths = {}
for w = 1, V do lengths[w] = number() end
--#if slots
lengths[W] = math.huge
--#end
--#if calendars

-- Spans: the same for rows whose calendar windows are in given periods. A window is open if it began at `since` or later;
-- one that opens now begins at `begins`. `stale`: the clock is in neither of two periods.
local spans, since, begins = {}, nil, nil
for s = 1, number() do
  local stale = false
  @r{local since_$, begins_$ = now - lengths[$] + 1, now|
  }
  @c{local since_$, end_$, next_$ = number(), number(), number()
  if now >= end_$ then since_$, end_$ = end_$, next_$ end
  if now < since_$ or now >= end_$ then stale = true end
  local begins_$ = since_$|
  }
  spans[s] = { since = { @w{since_$|, } }, begins = { @w{begins_$|, } }, stale = stale }
  if V < W then spans[s].since[W] = 0 end
end

-- From here on windows are looked at as of a span.
local function use(span) since, begins = span.since, span.begins end
--#end

local HEAD_BYTES = pack('<I5', HEAD)
local CELLS = '<@{i7|}@{I6|}'
local OWN_ROW = '<I5@{i7|}@{I6|}'

-- Every row as it was, by place.
local raw = #KEYS >= FIRST_ROW and call('MGET', unpack(KEYS, FIRST_ROW)) or {}
-- Rows of other lists as the reply shows them: their cells in the policy's own form, or DAMAGED.
local shown = {}
-- A row's bytes are in `changed` once something changed it. `ends`: when the last of its windows does, where that may be
-- later than before. `needed`: the lists that rows name which did not, by hash.
local changed, ends, dirty, dirt, needed = {}, {}, {}, 0, {}

local function name_of(place) return KEYS[place + FIRST_ROW - 1] end

local function put(place, value, ends_at)
  if not changed[place] then
    dirt = dirt + 1
    dirty[dirt] = place
  end
  changed[place] = value
  if ends_at and ends_at > (ends[place] or 0) then ends[place] = ends_at end
end

local function damaged(place)
  if not changed[place] then shown[place] = DAMAGED end
end

local function never_opened()
  local list = { is_new = true }
  for w = 1, W do list[w], list[W + w] = CLOSED, 0 end
  return list
end

-- The lists of other policies are rare: what they need is made when the first is met, by lists.lua.
local make_lists, strangers
local function other_lists()
  strangers = strangers or make_lists()
  return strangers
end

-- A row by its place; nothing for one that cannot be read.
local function row_at(place)
  local value = changed[place] or raw[place]
  if not value then
    -- MGET answers nil for keys of another type too.
    if type(redis.pcall('GET', name_of(place))) == 'table' then return damaged(place) end
    return never_opened()
  end
  if #value ~= ROW_BYTES or sub(value, 1, 5) ~= HEAD_BYTES then return other_lists().read(place, value) end
  local list = { unpack_cells(CELLS, value, 6) }
  for w = 1, W do
    if list[w] < CLOSED or list[w] > MAX_USED then return damaged(place) end
  end
  return list
end

local function own_bytes(list) return pack(OWN_ROW, HEAD, unpack(list, 1, 2 * W)) end

local function packed(list)
  if list.others then return other_lists().packed(list) end
  if list.is_new then needed[HASH] = ARGV[2] end
  return own_bytes(list)
end

-- When the last window of a row ends, of those whose end is known here.
local function ends_of(list)
  local last = 0
  for w = 1, V do last = math.max(last, list[W + w] + lengths[w]) end
  for _, other in ipairs(list.others or {}) do last = math.max(last, other.start + (other.length or 0)) end
  return last
end

--#if calendars
local function is_open(list, w) return list[w] ~= CLOSED and list[W + w] >= since[w] end
--#else
local function is_open(list, w) return list[w] ~= CLOSED and now < list[W + w] + lengths[w] end
--#end

-- A start as the clock has it: one in the far future becomes later than what was opened when the clock last stood here.
local function anchored(start) return start - now > MAX_AHEAD_MS and now + 1 or start end

-- Charges every window; whether that opened one.
local function charge(list, tokens)
  local opens = list.others ~= nil
  for w = 1, V do
    local used, start = tokens, anchored(list[W + w])
    if is_open(list, w) then
      used = list[w] + tokens
    else
      -- Later than any earlier opening, so that a start identifies a window.
      --#if calendars
      start, opens = start < begins[w] and begins[w] or start + 1, true
      --#else
      start, opens = start < now and now or start + 1, true
      --#end
    end
    list[W + w] = start
    list[w] = used < MAX_USED and used or MAX_USED
  end
  return opens
end

-- Tokens that still fit into every window under limits that begin behind `from`.
local function left_in(list, limits, from)
  local left = math.huge
  for w = 1, V do
    local room = limits[from + w] - (is_open(list, w) and list[w] or 0)
    if room < left then left = room end
  end
  return left
end

-- Moves windows that a fast clock opened in the far future to the present: the one write a refusal may make. Closed ones
-- keep their start, which the next opening has to be later than.
local function reanchor(place, list)
  local moved = false
  for w = 1, V do
    local start = anchored(list[W + w])
    if list[w] ~= CLOSED and start ~= list[W + w] then list[W + w], moved = start, true end
  end
  if moved then put(place, packed(list), ends_of(list)) end
end

-- What is left of `used` when tokens go back, or come in addition (below 0); all where more was charged than is counted.
local function less(used, tokens)
  if used == MAX_USED then return used end
  local left = used > tokens and used - tokens or 0
  return left < MAX_USED and left or MAX_USED
end

-- Gives tokens back to a window, if it is the very one; whether it was.
local function refund(list, w, start, tokens)
  if list[w] == CLOSED or list[W + w] ~= start then return false end
  list[w] = less(list[w], tokens)
  --#if slots
  -- With the last slot the cell is closed: a row that is kept then is as one that was dropped.
  if w > V and list[w] == 0 then list[w] = CLOSED end
  --#end
  return true
end
