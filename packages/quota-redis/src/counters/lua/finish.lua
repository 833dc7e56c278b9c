-- Writes the changed rows, then the other changes, and replies.

local used_list, used_format
for place = 1, n[ROWS] do
  local row, change = rows[place], changes[place]
  if change >= MOVED or change > 0 and row.is_whole then rare().write_row(row, place, change)
  elseif change > 0 then
    local list = list_of[place]
    if list ~= used_list then used_list, used_format = list, '<' .. rep('i7', list.size) end
    call('SETRANGE', KEYS[FIRST_ROW - 1 + place], '5', pack(used_format, unpack(row, 1, list.size)))
  end
  -- The process cannot use a row of another list, or one that was not read.
  if not raw[place] or row == UNREAD then raw[place] = '\0' end
end
if made and made.write_others then made.write_others() end

raw[n[ROWS] + 1] = pack('<d', now)
if statuses then
  for operation = 1, done do statuses[operation] = statuses[operation] or 'a' end
  raw[n[ROWS] + 2] = table.concat(statuses)
end
if revision then answers[#answers + 1], answers[#answers + 2] = 'revision', revision end
if answers[1] then return { table.concat(raw), answers } end
return table.concat(raw)
