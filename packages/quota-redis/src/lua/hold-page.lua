-- Reads an index of holds.
--
-- KEYS  1       the index
-- ARGV  1       now (epoch ms; below 0: the server's time)
--       2       'ended' or 'open'
--       3       the most names to return
-- REPLY { now, the records' keys without the prefix, earliest end first, how many holds the index contains }

local now = tonumber(ARGV[1])
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local instant = string.format('%.0f', now)
local from, to = '-inf', instant
if ARGV[2] == 'open' then from, to = '(' .. instant, '+inf' end
return {
  instant, redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, ARGV[3]), redis.call('ZCARD', KEYS[1]),
}
