-- The numbers that a script is given.
--
-- ARGV  1       numbers; one text, since each conversion costs as much as deciding. As JSON or, where ARGV[3] is missing or
--               begins with PLAIN, as doubles. Among these `follows` is 1 where ARGV[4] is the revision that the tariff
--               follows, MAX_USED as a limit is unlimited, and spans of layers are left out where there is one alone

local ARGV, KEYS, call, pack, unpack_cells = ARGV, KEYS, redis.call, struct.pack, struct.unpack

local numbers
local is_plain = not ARGV[3] or string.byte(ARGV[3]) == PLAIN
if is_plain then
  numbers = { unpack_cells('<' .. string.rep('d', #ARGV[1] / 8), ARGV[1]) }
else
  numbers = cjson.decode(ARGV[1])
end
