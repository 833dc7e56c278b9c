-- Reads rows of the policy's own lists.
--
-- KEYS  1..  the rows
-- ARGV  1    now (epoch ms; below 0: the server's own time)
--       2    per row: how many cells it has (1 byte), and the first five bytes of its list's rows
-- REPLY      as batch.lua replies to a read; or '' if batch.lua has to carry it out

local now, expected, reply = tonumber(ARGV[1]), ARGV[2], ''
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
for r = 1, #expected / 6 do
  local text = redis.pcall('GET', KEYS[r])
  if text then
    local bytes = 5 + 13 * string.byte(expected, 6 * r - 5)
    if #text ~= bytes or string.sub(text, 1, 5) ~= string.sub(expected, 6 * r - 4, 6 * r) then return '' end
  end
  reply = reply .. (text or '\0')
end
return reply .. struct.pack('<d', now)
