-- The records that decide.lua changed, and its reply.

for place, ttl in pairs(new_records) do
  if records[place] then
    call('SET', name_of(place), cmsgpack.pack(records[place]), 'PX', ttl)
  else
    call('DEL', name_of(place))
  end
end

return { string.format('%.0f', now), table.concat(letters), stored, raw, revision or '' }
