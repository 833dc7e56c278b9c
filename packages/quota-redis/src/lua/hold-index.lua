-- The indexes of holds, behind the records that they name. A key that holds something else stays as it is.

for place, members in pairs(indexed) do
  for member, score in pairs(members) do
    if score then
      redis.pcall('ZADD', name_of(place), string.format('%.0f', score), member)
    else
      redis.pcall('ZREM', name_of(place), member)
    end
  end
end
