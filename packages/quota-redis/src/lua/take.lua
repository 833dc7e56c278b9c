-- Takes: decided in memory, charged in every row or in none.

-- Rows that takes share, by place: { W x used, W x start, added = tokens charged since }, and the `span` that they are
-- charged in. All windows of a row are charged alike and at one instant, so that one number does. None of them starts in
-- the future, where the clock would move it between two charges.
local hot = {}
-- A run: takes of one tariff, one after the other. `room`: what still fits into the hot rows; `pending`: what the run has
-- charged to them and is not in their `added` yet.
local current, room, pending = nil, 0, 0

local function end_run()
  if not current then return end
  for _, row_of in ipairs(current.shared) do
    local list = hot[row_of[1]]
    list.added = list.added + pending
  end
  current, pending = nil, 0
end

local function cool(place)
  local list = hot[place]
  if not list then return end
  end_run()
  hot[place] = nil
  if list.added > 0 then
    --#if calendars
    use(list.span)
    --#end
    local opens = charge(list, list.added)
    put(place, packed(list), opens and ends_of(list))
  end
end

-- A row as it is now; nothing for one that cannot be read.
local function cells_of(place)
  cool(place)
  return row_at(place)
end

-- A hot row; nothing for one that cannot be read or starts in the future.
local function heat(place)
  local list = cells_of(place)
  if not list then return end
  for i = W + 1, W + V do
    if list[i] > now then return end
  end
  list.added = 0
  hot[place] = list
  return list
end

-- Whether operations of a tariff can run on its shared rows.
local function begin_run(tariff)
  end_run()
  room = math.huge
  for _, row_of in ipairs(tariff.shared) do
    local list = hot[row_of[1]]
    --#if calendars
    local span = tariff.spans[row_of[2]]
    if list and list.span ~= span then list = nil end
    --#end
    list = list or heat(row_of[1])
    if not list then return false end
    --#if calendars
    list.span = span
    use(span)
    --#end
    room = math.min(room, left_in(list, tariff.limits, (row_of[2] - 1) * W) - list.added)
  end
  current = tariff
  return true
end

-- The bytes of a row when a tariff is charged to it, and when it ends if that opens a window; false where it does not fit,
-- nothing where it cannot be read.
local function charged(place, tariff, layer)
  local list = cells_of(place)
  if not list then return nil end
  reanchor(place, list)
  --#if calendars
  use(tariff.spans[layer])
  --#end
  if tariff.cost > left_in(list, tariff.limits, (layer - 1) * W) then return false end
  local opens = charge(list, tariff.cost)
  return packed(list), opens and ends_of(list)
end

local latest = now + MAX_AHEAD_MS
@r{local since_$ = now - lengths[$] + 1|
}

-- The same, spelled out for the usual case: a row of the policy's own list, all windows open.
local function charged_open(place, tariff, layer)
  local value = changed[place] or raw[place]
  if not value or #value ~= ROW_BYTES then return charged(place, tariff, layer) end
  local head, @{u$|, }, @{s$|, } = unpack_cells(OWN_ROW, value)
  --#if calendars
  local began = tariff.spans[layer].since
  --#end
  if
    head ~= HEAD
    @w{or u$ < 0 or s$ > latest|
    }
    @r{or s$ < since_$|
    }
    @c{or s$ < began[$]|
    }
  then
    return charged(place, tariff, layer)
  end
  local cost, limits, from = tariff.cost, tariff.limits, (layer - 1) * W
  @w{u$|, } = @w{u$ + cost|, }
  if @w{u$ > limits[from + $]| or } then return false end
  return pack(OWN_ROW, head, @{u$|, }, @{s$|, }), nil
end

-- The rows of the take at hand, in its tariff's `order`; what they become, and when they end if that opens a window.
local places, values, opened = {}, {}, {}

local function read_own(tariff)
  for i = 1, tariff.own do
    read = read + 2
    places[i] = codes[read - 1] * 128 + codes[read]
  end
end

local function read_shared(tariff)
  for i = tariff.own + 1, tariff.layers do
    places[i] = tariff.shared[i - tariff.own][1]
    -- Some of them may be hot, from before or from a run that could not begin: their bytes are asked from here on.
    cool(places[i])
  end
end

-- What costs nothing is admitted, charged nowhere, and opens nothing.
local function take_nothing(tariff)
  read_shared(tariff)
  for i = 1, tariff.layers do
    if not cells_of(places[i]) then return 'b' end
  end
  return 'a'
end

-- Decides, and charges every row or none.
local function take(tariff)
  if tariff.stale then return tariff.stale end
  local cost, order, count = tariff.cost, tariff.order, tariff.own
  if cost == 0 then return take_nothing(tariff) end
  local running = tariff == current or begin_run(tariff)
  if not running then
    count = tariff.layers
    read_shared(tariff)
  end
  local ask = tariff.finite and charged_open or charged
  -- Every row is asked, as each may have a window to move to the present.
  local letter = (not running or cost <= room) and 'a' or 'r'
  for i = 1, count do
    local value, ends_at = ask(places[i], tariff, order[i])
    if value == nil then letter = 'b' elseif not value and letter == 'a' then letter = 'r' end
    values[i], opened[i] = value, ends_at
  end
  if letter ~= 'a' then return letter end
  for i = 1, count do put(places[i], values[i], opened[i]) end
  if running then room, pending = room - cost, pending + cost end
  return 'a'
end
