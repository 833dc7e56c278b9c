-- The records that decide.lua changed.

for place, ttl in pairs(new_records) do
  if not records[place] then
    call('DEL', name_of(place))
  --#if holds
  elseif ttl == ENDLESS then
    call('SET', name_of(place), cmsgpack.pack(records[place]))
  --#end
  else
    call('SET', name_of(place), cmsgpack.pack(records[place]), 'PX', ttl)
  end
end
