-- Takes: each is charged in all of its rows or in none. Nearly all of the server's time is spent in this loop, which is why it
-- is one, longer than a screen, with locals for what it reads most: to call a function for each step would cost more than most
-- steps do. It names operations, terms and takes in turn, then a take's rows; a step that few takes need is a function of `odd`.
--
-- A row that everybody shares is counted once (see rows.lua), then takes subtract from what it has left. A row of a subject's
-- own is mostly used once in a batch: it goes from bytes to bytes, and so do all rows of a take that is alone in its batch.
-- Whatever is odd about one (it is not there, a window is over, another list, a second take) is left to odd-takes.lua.

-- Operations so far, and their letters: nothing where every one is an admitted take; the helpers of unusual batches.
local done, letters, odd = 0, nil, nil
do
  local rows, raw, records, ARGV = rows, raw, batch.records, ARGV
  local head, last, at, unpack_cells, pack = n[HEAD], #n - 1, n[OPERATIONS], struct.unpack, struct.pack
  local latest, last_kind, costs, tables = now + MAX_AHEAD_MS, nil, nil, nil
  local @w{limit_$, since_$|, }
  local @u{cost_$|, }
  while at < last do
    -- Takes of the same terms that follow each other are a run: `room_$` is what the rows that they share have left.
    local code, is_under_id, count = n[at + 1], false, 1
    if code == UNDER_ID then is_under_id, at, code = true, at + 1, n[at + 2] end
    if code < 0 then
      local letter
      odd = odd or make_odd()
      letter, at = odd.other(-code, at + 1)
      if letter ~= 'a' then letters = letters or {}; letters[done + 1] = letter end
    else
      local terms = n[TERMS] + code - 1
      local shared, own, kinds, stale = n[terms + 2], n[terms + 3], terms + 3, nil
      local all, shared_places = shared + own, kinds + shared + own
      if is_outside or n[terms + 1] > 0 and ARGV[n[terms + 1]] ~= batch.revision then
        odd = odd or make_odd()
        stale = odd.stale_of(terms)
      end
      count, at = n[at + 2], at + 2
      -- The first of its rows that takes charge byte by byte: all of them where there is no other take.
      local first = shared + 1
      if done == 0 and count == 1 and at + own + UNITS + (is_under_id and 2 or 0) == last then first = 1 end
      local is_counted = first > 1 and not stale
      local @u{full_$|, } = @u{MAX_USED|, }
      if is_counted or is_under_id then odd = odd or make_odd() end
      if is_counted then @u{full_$|, } = odd.room_of(terms) end
      local @u{room_$|, } = @u{full_$|, }
      for take = done + 1, done + count do
        local letter, record, ttl = 'a', nil, nil
        if is_under_id then record, ttl, at = n[at + 1], n[at + 2], at + 2 end
        if @u{n[at + $] ~= cost_$| or } then @u{cost_$|, }, costs = @u{n[at + $]|, }, nil end
        at = at + UNITS
        local known = record and records[record] and odd.known_take(record, ARGV[n[FIRST_TEXT]])
        if known or stale then
          letter, batch.has_odd = known or stale, true
        else
          if @u{room_$ < cost_$| or } then
            costs = costs or { @u{cost_$|, } }
            odd.spend(terms, @u{full_$ - room_$|, })
            letter = odd.shared_refusal(terms, costs) or 'a'
            @u{full_$|, } = odd.room_of(terms)
            @u{room_$|, } = @u{full_$|, }
          end
          for r = first, all do
            local place, why = n[r > shared and at + r - shared or shared_places + r], nil
            local row = rows[place] == UNTOUCHED and raw[place]
            local kind = n[kinds + r]
            if kind ~= last_kind then
              last_kind = kind
              @w{limit_$, since_$ = n[kind + $], SINCE_$
              if limit_$ > MAX_USED then limit_$ = MAX_USED end|
              }
            end
            local is_odd = true
            if row and #row == ROW_BYTES then
              local row_head, @w{used_$|, }@s{, used_$|}, @w{start_$|, } = unpack_cells('<I5@w{I7|}@s{i7|}@w{I6|}', row)
              -- Without a sign, CLOSED is more than any limit.
              if row_head == head
                @w{and start_$ >= since_$ and start_$ <= latest|
                }
                @s{and used_$ >= CLOSED and used_$ <= MAX_USED|
                }
              then
                @w{used_$ = used_$ + cost_%|
                }
                if @w{used_$ <= limit_$| and } then
                  is_odd = false
                  if letter == 'a' then rows[place] = pack('<@w{I7|}', @w{used_$|, }) end
                else
                  why, is_odd = 'r', @w{used_$ > MAX_USED or cost_% == 0| or }
                end
              end
            end
            if is_odd then
              costs, tables = costs or { @u{cost_$|, } }, tables or {}
              odd = odd or make_odd()
              why, tables[r] = odd.own_row(place, kind, costs, letter == 'a')
            end
            if why and letter ~= 'b' then letter = why end
          end
          if letter == 'a' then
            @u{room_$ = room_$ - cost_$|
            }
            if tables then
              for _, list in pairs(tables) do
                @u{list[ROOM + $] = list[ROOM + $] - cost_$|
                }
              end
            end
            if record then
              if is_counted then odd.spend(terms, @u{full_$ - room_$|, }) end
              @u{full_$|, } = @u{room_$|, }
              costs = costs or { @u{cost_$|, } }
              odd.keep_take(record, ttl, terms, at, costs)
            end
          else
            -- What it charged byte by byte never was.
            for r = first, first < all and all or 0 do
              local place = n[r > shared and at + r - shared or shared_places + r]
              if type(rows[place]) == 'string' then
                rows[place] = UNTOUCHED
                if odd then batch.kept[place] = nil end
              end
            end
          end
          tables = nil
        end
        if record then n[FIRST_TEXT] = n[FIRST_TEXT] + 1 end
        at = at + own
        if letter ~= 'a' then
          letters = letters or {}
          letters[take] = letter
        end
      end
      if is_counted then odd.spend(terms, @u{full_$ - room_$|, }) end
    end
    done = done + count
  end
end
