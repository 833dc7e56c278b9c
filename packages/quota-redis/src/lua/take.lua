-- Takes: each is charged in all of its rows or in none. Nearly all of the server's time is spent in `run`, which is why it is
-- one function, with locals for what it reads most.
--
-- A row that everybody shares is counted once (see rows.lua), then takes subtract from what it has left. A row of a subject's
-- own is mostly used once in a batch: it goes from bytes to bytes. Whatever is odd about one (a window is over, another list, a
-- second take) makes it a table as well.

-- What the record of an id has of a row after its take: the row's bytes without the head, in two, windows that are not open
-- closed.
local function record_cells(now, list, costs)
  if list.is_usual @s{and list[FULL + %] == list[ROOM + %]|} then
    list.starts = list.starts or struct.pack('<@{I6|}', @{list[SIZE + $]|, })
    return struct.pack('<@{i7|}', @{list[$] + (list[FULL + %] - list[ROOM + %])|, }), list.starts
  end
  local kind, used, start = list.kind, {}, {}
  fold(now, list)
  for c = 1, SIZE do
    local open, began = is_open(list, kind, c), list[SIZE + c]
    -- What was charged is shown at the very start that it went to.
    if c <= WINDOWS and costs[UNIT_OF[c]] == 0 then began = anchored(now, began) end
    used[c], start[c] = open and list[c] or CLOSED, open and began or 0
  end
  count(now, list, kind)
  return struct.pack('<@{i7|}', unpack(used)), struct.pack('<@{I6|}', unpack(start))
end

-- Looks once for keys of another type among rows that are not there: MGET has nothing of them either.
local function look_for_absent(batch)
  local absent, places = {}, {}
  for place = 1, batch.row_count do
    if not batch.raw[place] and batch.rows[place] == UNTOUCHED then
      absent[#absent + 1], places[#places + 1] = key_of_row(place), place
    end
  end
  batch.has_looked = true
  if call('EXISTS', unpack(absent)) == 0 then return end
  for i, key in ipairs(absent) do
    if call('EXISTS', key) > 0 then batch.raw[places[i]] = DAMAGED_ROW end
  end
end

-- The bytes of a row that opens with costs; false where they do not fit, nothing where some window stays closed.
local function opened_row(n, kind, costs)
  for c = 1, WINDOWS do
    if costs[UNIT_OF[c]] == 0 then return nil end
    if costs[UNIT_OF[c]] > kind[c] then return false end
  end
  if not kind.ends then kind.ends = math.max(@w{kind[2 * SIZE + $] + n[LENGTHS + $]|, }) + GRACE_MS end
  return struct.pack('<I5@{i7|}@{I6|}', n[HEAD], @w{costs[%]|, }@s{, CLOSED|}, @w{kind[2 * SIZE + $]|, }@s{, 0|})
end

-- A row of a subject's own that is a table, counted; and why it refuses costs, if it does.
local function counted_own(batch, place, kind, costs)
  local list, now = row_at(batch, place), batch.now
  if list.kind ~= kind then count(now, list, kind) end
  if list.is_ahead then reanchor(now, list, costs) end
  if @u{list[ROOM + $] < costs[$]| or } then return list, refusal(now, list, kind, costs) end
  return list
end

-- What a take charged to its own rows that are no tables never was: they were as they had been read.
local function leave_own(batch, n, at, own)
  for o = 1, own do
    local place = n[at + o]
    if type(batch.rows[place]) == 'string' then batch.rows[place], batch.opened[place] = UNTOUCHED, nil end
  end
end

-- The record of an id: what `parts` begins with, then what it has of all rows of its take. One concatenation, since each makes a
-- text.
local function record_of_take(batch, parts, terms, n, at, costs)
  local rows, last = batch.rows, 2
  for s = 1, terms.count do
    parts[last + 1], parts[last + 2] = record_cells(batch.now, terms.rows[s], costs)
    last = last + 2
  end
  for o = 1, #terms.own do
    local place = n[at + o]
    local row = rows[place]
    if type(row) == 'table' then parts[last + 1], parts[last + 2] = record_cells(batch.now, row, costs)
    elseif batch.opened[place] then parts[last + 1], parts[last + 2] = string.sub(row, 6), ''
    else parts[last + 1], parts[last + 2] = row, string.sub(batch.raw[place], 6 + USED_BYTES) end
    last = last + 2
  end
  return table.concat(parts, '', 1, last)
end

-- Charges to rows that everybody shares what a run of takes spent of their room.
local function spend(rows, count, spent)
  for s = 1, count do
    local list = rows[s]
    for u = 1, UNITS do list[ROOM + u] = list[ROOM + u] - spent[u] end
  end
end

-- What rows that everybody shares have left of each unit; and whether some window of theirs starts too far ahead.
local function room_of(rows, count)
  local room, is_ahead = {}, false
  for u = 1, UNITS do
    room[u] = MAX_USED
    for s = 1, count do room[u], is_ahead = math.min(room[u], rows[s][ROOM + u]), is_ahead or rows[s].is_ahead end
  end
  return room, is_ahead
end

-- Why rows that everybody shares refuse costs: nothing, 'r' or 'b'. Moves what starts too far ahead.
local function shared_refusal(now, terms, costs)
  local letter
  for s = 1, terms.count do
    local list = terms.rows[s]
    if list.is_ahead then reanchor(now, list, costs) end
    local why = refusal(now, list, terms.kinds[s], costs)
    if letter ~= 'b' then letter = why or letter end
  end
  return letter
end

-- Runs all operations; their letters, or nothing where every one is an admitted take. `rare` makes what does all others. Takes of
-- the same terms that follow each other are a run: `room_$` is what all rows that they share have left.
local function run(batch, n, raw, rows, records, ARGV, unpack_cells, pack, rare)
  local now, head, last, at, taken = batch.now, n[HEAD], #n - 1, batch.first_operation, 0
  local latest, costs, tables, parts, has_tables, letters, ends, last_ttl = now + MAX_AHEAD_MS, {}, {}, {}, false, nil, nil, nil
  local @w{limit_$, since_$|, }
  local @u{cost_$|, }
  while at < last do
    local code, is_under_id, count = n[at + 1], false, 1
    if code == UNDER_ID then is_under_id, at, code = true, at + 1, n[at + 2] end
    local terms = code > 0 and use_terms(batch, code)
    if not terms then
      local letter
      letter, at = rare(batch).other(batch, -code, at + 1)
      if letter ~= 'a' then letters = letters or {}; letters[taken + 1] = letter end
    else
      count, at = n[at + 2], at + 2
      local own, kinds, stale, kind, fresh = #terms.own, terms.own, terms.stale, nil, nil
      local room, is_ahead = room_of(terms.rows, stale and 0 or terms.count)
      local @u{room_$|, } = @u{room[$]|, }
      for take = taken + 1, taken + count do
        local letter, record, ttl = 'a', nil, nil
        if is_under_id then record, ttl, at = n[at + 1], n[at + 2], at + 2 end
        if @u{n[at + $] ~= cost_$| or } then
          @u{cost_$, costs[$], fresh = n[at + $], n[at + $], nil|
          }
        end
        at = at + UNITS
        local known = record and records[record] and rare(batch).known_take(batch, record, ARGV[batch.text])
        if known or stale then
          letter, batch.has_odd = known or stale, true
        else
          if is_ahead or @u{room_$ < cost_$| or } then
            spend(terms.rows, terms.count, { @u{room[$] - room_$|, } })
            letter = shared_refusal(now, terms, costs) or 'a'
            room, is_ahead = room_of(terms.rows, terms.count)
            @u{room_$|, } = @u{room[$]|, }
          end
          for o = 1, own do
            local place, why = n[at + o], nil
            local row, is_odd = raw[place], rows[place] ~= UNTOUCHED
            if kind ~= kinds[o] then
              kind, fresh = kinds[o], nil
              @w{limit_$, since_$ = kind[3 * SIZE + $], kind[SIZE + $]|
              }
            end
            if not row and not is_odd then
              if not batch.has_looked then look_for_absent(batch) end
              if fresh == nil then fresh = opened_row(n, kind, costs) end
              is_odd, why = fresh == nil or raw[place] ~= row, fresh == false and 'r' or nil
              if fresh and letter == 'a' and not is_odd then rows[place], batch.opened[place] = fresh, kind.ends end
            elseif not is_odd and #row == ROW_BYTES then
              local row_head, @w{used_$|, }@s{, used_$|}, @w{start_$|, } = unpack_cells('<I5@w{I7|}@s{i7|}@w{I6|}', row)
              -- Without a sign, CLOSED is more than any limit.
              if row_head ~= head
                @w{or start_$ < since_$ or start_$ > latest|
                }
                @s{or used_$ < CLOSED or used_$ > MAX_USED|
                }
              then
                is_odd = true
              else
                @w{used_$ = used_$ + cost_%|
                }
                if @w{used_$ <= limit_$| and } then
                  if letter == 'a' then rows[place] = pack('<@w{I7|}', @w{used_$|, }) end
                else
                  why, is_odd = 'r', @w{used_$ > MAX_USED or cost_% == 0| or }
                end
              end
            else
              is_odd = true
            end
            if is_odd then
              has_tables = true
              tables[o], why = counted_own(batch, place, kind, costs)
            end
            if why and letter ~= 'b' then letter = why end
          end
          if letter == 'a' then
            @u{room_$ = room_$ - cost_$|
            }
            for o = 1, has_tables and own or 0 do
              local list = tables[o]
              if list then
                @u{list[ROOM + $] = list[ROOM + $] - cost_$|
                }
              end
            end
            if record then
              spend(terms.rows, terms.count, costs)
              @u{room[$] = room_$|
              }
              if ttl ~= last_ttl then last_ttl, ends = ttl, 'R' .. pack('<I6', now + ttl) end
              parts[1], parts[2] = ends, ARGV[batch.text]
              records[record] = record_of_take(batch, parts, terms, n, at, costs)
              batch.record_ttls[record] = ttl
            end
          elseif own > 1 then
            leave_own(batch, n, at, own)
          end
          if has_tables then tables, has_tables = {}, false end
        end
        if record then batch.text = batch.text + 1 end
        at = at + own
        if letter ~= 'a' then
          letters = letters or {}
          letters[take] = letter
        end
      end
      if not stale then spend(terms.rows, terms.count, { @u{room[$] - room_$|, } }) end
    end
    taken = taken + count
  end
  return letters, taken
end
