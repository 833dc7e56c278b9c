-- Takes from rows that are counted, that open, or that refuse; and records of ids that takes make.

-- What the rows that everybody shares have left of each unit, counted under terms: NOTHING where one has to be looked at.
local function room_of(terms)
  local is_ahead, @u{room_$|, } = false, @u{MAX_USED|, }
  local shared = n[terms + 2]
  local places = terms + 3 + shared + n[terms + 3]
  for s = 1, shared do
    local list, kind = row_at(n[places + s]), n[terms + 3 + s]
    if list.kind ~= kind then count(list, kind) end
    is_ahead = is_ahead or list.is_ahead
    @u{if list[ROOM + $] < room_$ then room_$ = list[ROOM + $] end|
    }
  end
  if is_ahead then return @u{NOTHING|, } end
  return @u{room_$|, }
end

-- Charges to rows that everybody shares what takes spent of their room.
local function spend(terms, @u{spent_$|, })
  local places = terms + 3 + n[terms + 2] + n[terms + 3]
  for at = places + 1, places + n[terms + 2] do
    local list = rows[n[at]]
    @u{list[ROOM + $] = list[ROOM + $] - spent_$|
    }
  end
end

-- Why takes of terms are not decided: 's' or 't'; nothing where they are.
local function stale_of(terms)
  if n[terms + 1] > 0 and ARGV[n[terms + 1]] ~= batch.revision then return 's' end
  for at = terms + 4, terms + 3 + n[terms + 2] + n[terms + 3] do
    local kind = n[at]
    @c{if ENDS_$ < 0 then return 't' end|
    }
  end
end

-- A start as the clock has it: one in the far future becomes later than what was opened when the clock last stood here.
local function anchored(start) return start - now > MAX_AHEAD_MS and now + 1 or start end

-- Whether each cell is open.
local function opens_of(list, kind) return { @{list[$] ~= CLOSED and list[SIZE + $] >= SINCE_$|, } } end

-- Moves windows that a fast clock opened in the far future to the present: the one write that a refusal may make. Closed ones
-- keep their start, which the next opening has to be later than. Earlier takes are charged first: they may have opened some.
local function reanchor(list, costs)
  local kind = list.kind
  fold(list)
  for c = 1, WINDOWS do
    local start = anchored(list[SIZE + c])
    if costs[UNIT_OF[c]] > 0 and list[c] ~= CLOSED and start ~= list[SIZE + c] then
      list[SIZE + c], list.is_moved = start, true
    end
  end
  count(list, kind)
end

-- Why a row refuses costs: 'r', 'b' where it cannot be read, or nothing. Moves what starts too far ahead. A unit that costs
-- nothing never refuses.
local function refusal(list, kind, costs)
  if list.is_damaged then return 'b' end
  if list.kind ~= kind then count(list, kind) end
  if list.is_ahead then reanchor(list, costs) end
  for u = 1, #costs do
    if costs[u] > 0 and costs[u] > list[ROOM + u] then
      -- What was taken under no limit at all is counted again.
      if list[FULL + u] == MAX_USED and list[ROOM + u] < MAX_USED then count(list, kind) end
      if costs[u] > list[ROOM + u] then return 'r' end
    end
  end
end

-- Why rows that everybody shares refuse costs.
local function shared_refusal(terms, costs)
  local letter
  local shared = n[terms + 2]
  for s = 1, shared do
    local list = rows[n[terms + 3 + shared + n[terms + 3] + s]]
    local why = refusal(list, n[terms + 3 + s], costs)
    if letter ~= 'b' then letter = why or letter end
  end
  return letter
end

-- Looks once for keys of another type among rows that are not there: MGET has nothing of them either.
local function look_for_absent()
  local absent, places = {}, {}
  for place = 1, n[ROWS] do
    if not raw[place] and rows[place] == UNTOUCHED then
      absent[#absent + 1], places[#places + 1] = key_of_row(place), place
    end
  end
  batch.has_looked, batch.has_odd = true, true
  if call('EXISTS', unpack(absent)) == 0 then return end
  for i, key in ipairs(absent) do
    if call('EXISTS', key) > 0 then raw[places[i]] = DAMAGED_ROW end
  end
end

-- The bytes of a row that opens with costs, and how long it is kept (ms); false where they do not fit, nothing where some window stays closed.
local function opened_row(kind, costs)
  for c = 1, WINDOWS do
    if costs[UNIT_OF[c]] == 0 then return nil end
    if costs[UNIT_OF[c]] > n[kind + c] then return false end
  end
  return struct.pack('<I5@{i7|}@{I6|}', n[HEAD], @w{costs[%]|, }@s{, CLOSED|}, @w{OPENS_$|, }@s{, 0|}),
    math.max(@w{OPENS_$ + n[LENGTHS + $]|, }) + GRACE_MS - now
end

-- The same, made once for takes of the same kind and costs that follow each other.
local fresh, fresh_lasts, fresh_kind, fresh_costs

-- A row of a subject's own that cannot be charged byte by byte: why it refuses costs, if it does, and its table. One that opens
-- has none.
local function own_row(place, kind, costs, may_open)
  if not raw[place] and rows[place] == UNTOUCHED then
    if not batch.has_looked then look_for_absent() end
    if kind ~= fresh_kind or costs ~= fresh_costs then
      fresh_kind, fresh_costs = kind, costs
      fresh, fresh_lasts = opened_row(kind, costs)
    end
    if fresh ~= nil and not raw[place] then
      if fresh and may_open then rows[place], batch.kept[place] = fresh, fresh_lasts end
      return fresh == false and 'r' or nil
    end
  end
  local list = row_at(place)
  return refusal(list, kind, costs), list
end

-- What the record of an id has of a row after its take: the row's bytes without the head, in two, windows that are not open
-- closed.
local function record_cells(list, costs)
  if list.is_usual @s{and list[FULL + %] == list[ROOM + %]|} then
    list.starts = list.starts or struct.pack('<@{I6|}', @{list[SIZE + $]|, })
    return struct.pack('<@{i7|}', @{list[$] + (list[FULL + %] - list[ROOM + %])|, }), list.starts
  end
  local kind, used, start = list.kind, {}, {}
  local opens = opens_of(fold(list), kind)
  for c = 1, SIZE do
    local open, began = opens[c], list[SIZE + c]
    -- What was charged is shown at the very start that it went to.
    if c <= WINDOWS and costs[UNIT_OF[c]] == 0 then began = anchored(began) end
    used[c], start[c] = open and list[c] or CLOSED, open and began or 0
  end
  count(list, kind)
  return struct.pack('<@{i7|}', unpack(used)), struct.pack('<@{I6|}', unpack(start))
end

-- Makes the record of an id: how it begins, then what it has of all rows of its take. One concatenation, since each makes a text.
local parts, last_ttl, ends = {}, nil, nil
local function keep_take(record, ttl, terms, at, costs)
  local last = 2
  if ttl ~= last_ttl then last_ttl, ends = ttl, 'R' .. struct.pack('<I6', now + ttl) end
  parts[1], parts[2] = ends, ARGV[n[FIRST_TEXT]]
  local shared, own = n[terms + 2], n[terms + 3]
  for r = 1, shared + own do
    local place = n[r > shared and at + r - shared or terms + 3 + own + shared + r]
    local row = rows[place]
    if type(row) == 'table' then parts[last + 1], parts[last + 2] = record_cells(row, costs)
    elseif batch.kept[place] then parts[last + 1], parts[last + 2] = string.sub(row, 6), ''
    else parts[last + 1], parts[last + 2] = row, string.sub(raw[place], 6 + USED_BYTES) end
    last = last + 2
  end
  batch.records[record], batch.record_ttls[record] = table.concat(parts, '', 1, last), ttl
end
