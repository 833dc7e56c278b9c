-- Takes: each is charged in all of its rows or in none. Nearly all of the server's time is spent in `run`, which is why it is
-- one function, with locals for what it reads most.
--
-- A row that everybody shares is counted once (see rows.lua), then takes subtract from what it has left. A row of a subject's
-- own is mostly used once in a batch: it goes from bytes to bytes. Whatever is odd about one (a window is over, another list, a
-- second take) makes it a table as well.

-- What the record of an id has of a row after its take: the row's bytes without the head, windows that are not open closed.
local function record_cells(now, list, costs)
  if list.is_usual @s{and list[FULL + %] == list[ROOM + %]|} then
    list.starts = list.starts or struct.pack('<@{I6|}', @{list[SIZE + $]|, })
    return struct.pack('<@{i7|}', @{list[$] + (list[FULL + %] - list[ROOM + %])|, }) .. list.starts
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
  return struct.pack('<@{i7|}', unpack(used)) .. struct.pack('<@{I6|}', unpack(start))
end

-- Looks once for keys of another type among rows that are not there: MGET has nothing of them either.
local function look_for_absent(batch)
  local absent, places = {}, {}
  for place = 1, batch.row_count do
    if not batch.raw[place] and not batch.rows[place] then
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

-- Runs all operations; their letters, or nothing where every one is an admitted take. `rare` makes what does all others.
local function run(batch, n, raw, rows, records, ARGV, unpack_cells, pack, sub, rare)
  local now, head, last, at, taken = batch.now, n[HEAD], #n - 1, batch.first_operation, 0
  local latest, letters, pending, costs, t, fresh, record, record_ends, ttl = now + MAX_AHEAD_MS, nil, {}, {}, nil, nil, nil, nil, nil
  local terms, own, shared_rows, shared, stale, kind
  local @w{limit_$, since_$|, }
  local @u{cost_$|, }
  while at < last do
    local code, letter = n[at + 1], 'a'
    taken, record = taken + 1, nil
    if code == UNDER_ID then
      record, code = n[at + 2], n[at + 4]
      if n[at + 3] ~= ttl then ttl, record_ends = n[at + 3], pack('<I6', now + n[at + 3]) end
      at = at + 3
    end
    if code < 0 then
      letter, at = rare(batch).other(batch, -code, at + 1)
      t = nil
    else
      if code ~= t then
        t, terms, kind = code, use_terms(batch, code), nil
        own, shared_rows, shared, stale = #terms.own, terms.rows, terms.count, terms.stale
      end
      if @u{n[at + (1 + $)] ~= cost_$| or } then
        @u{cost_$, costs[$], fresh = n[at + (1 + $)], n[at + (1 + $)], nil|
        }
      end
      at = at + (1 + UNITS)
      local known = record and records[record] and rare(batch).known_take(batch, record, ARGV[batch.text])
      if known or stale then
        letter, batch.has_odd = known or stale, true
      else
        for s = 1, shared do
          local list = shared_rows[s]
          if list.is_ahead then reanchor(now, list, costs) end
          if @u{list[ROOM + $] < cost_$| or } then
            local why = refusal(now, list, terms.kinds[s], costs)
            if why and letter ~= 'b' then letter = why end
          end
        end
        for o = 1, own do
          local place, why = n[at + o], nil
          local row, is_odd = raw[place], rows[place]
          if kind ~= terms.own[o] then
            kind, fresh = terms.own[o], nil
            @w{limit_$, since_$ = kind[3 * SIZE + $], kind[SIZE + $]|
            }
          end
          if not row and not batch.has_looked then
            look_for_absent(batch)
            row = raw[place]
          end
          if not row and not is_odd then
            if fresh == nil then fresh = opened_row(n, kind, costs) end
            pending[o], is_odd = fresh, fresh == nil
            if fresh == false then why = 'r' end
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
                pending[o] = pack('<@w{I7|}', @w{used_$|, })
              else
                why, is_odd = 'r', @w{used_$ > MAX_USED or cost_% == 0| or }
              end
            end
          else
            is_odd = true
          end
          if is_odd then pending[o], why = counted_own(batch, place, kind, costs) end
          if why and letter ~= 'b' then letter = why end
        end
        if letter == 'a' then
          local text = record and 'R' .. record_ends .. ARGV[batch.text]
          for s = 1, shared do
            local list = shared_rows[s]
            @u{list[ROOM + $] = list[ROOM + $] - cost_$|
            }
            if record then text = text .. record_cells(now, list, costs) end
          end
          for o = 1, own do
            local place, value = n[at + o], pending[o]
            if type(value) == 'table' then
              @u{value[ROOM + $] = value[ROOM + $] - cost_$|
              }
              if record then text = text .. record_cells(now, value, costs) end
            elseif not raw[place] then
              rows[place], raw[place], batch.opened[place] = value, BLANK_ROW, terms.own[o].ends
              if record then text = text .. sub(value, 6) end
            else
              rows[place] = value
              if record then text = text .. value .. sub(raw[place], 6 + 7 * WINDOWS) end
            end
          end
          if record then records[record], batch.record_ttls[record] = text, ttl end
        end
      end
      if record then batch.text = batch.text + 1 end
      at = at + own
    end
    if letter ~= 'a' then
      letters = letters or {}
      letters[taken] = letter
    end
  end
  return letters, taken
end
