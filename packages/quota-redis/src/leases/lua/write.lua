-- How a batch ends: what changed is written, then the reply is put together. Expiry is garbage collection only: a row goes when
-- all its windows are over, and never earlier than it would have gone before.
--
-- REPLY what the rows held before, one behind the other in the policy's own form (zeros: nothing, 'b' all over: cannot be read),
--       now (a double), one letter an operation (none: all are admitted takes); where there is more, { that, what operations
--       answered in turn, the settings' revision if it was looked at }

local kept = odd and batch.kept
if kept and (next(kept) or next(batch.record_ttls)) then batch.needed[(n[HEAD] - ROW_VERSION) / 256] = ARGV[2] end
for i = 1, #batch.tables do
  local place = batch.tables[i]
  local list = odd.fold(rows[place])
  if list.is_moved or list.is_new or list.others then rows[place], kept[place] = odd.whole_row(place, list)
  else rows[place] = list.is_changed and struct.pack('<@{i7|}', @{list[$]|, }) or UNTOUCHED end
end
if kept then odd.store_lists() end
for place = 1, n[ROWS] do
  local text = rows[place]
  if text ~= UNTOUCHED then
    local key = KEYS[FIRST_ROW - 1 + place]
    if kept and kept[place] then odd.set_for(key, text, kept[place])
    else call('SETRANGE', key, '5', text) end
  end
end
if kept then odd.write_others() end

raw[#raw + 1] = struct.pack('<d', now)
for operation = 1, letters and done or 0 do letters[operation] = letters[operation] or 'a' end
local text = table.concat(raw) .. (letters and table.concat(letters) or '')
if not (kept and batch.answers[1]) and not batch.revision then return text end
return { text, kept and batch.answers or {}, batch.revision or '' }
