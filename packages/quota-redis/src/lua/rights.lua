-- Tries the commands that the scripts of calls use, on a key that goes by itself. Where a command wants a key of another
-- type, that is no matter: its right was checked before.
-- KEYS[1] the key
-- Reply: each command that the server refused, and its error.

local key = KEYS[1]
local tried = {
  { 'TIME' }, { 'SET', key, '0', 'PX', '1000' }, { 'GET', key }, { 'MGET', key }, { 'EXISTS', key }, { 'PTTL', key },
  { 'GETRANGE', key, '0', '0' }, { 'SETRANGE', key, '0', '0' }, { 'HGET', key, 'f' }, { 'HSET', key, 'f', '0' },
  { 'ZADD', key, '0', 'm' }, { 'ZCARD', key }, { 'ZCOUNT', key, '0', '0' }, { 'ZRANGEBYSCORE', key, '0', '0' },
  { 'ZREM', key, 'm' }, { 'DEL', key },
}
local refused = {}
for _, words in ipairs(tried) do
  local reply = redis.pcall(unpack(words))
  local fault = type(reply) == 'table' and reply.err
  if fault and not string.find(fault, 'WRONGTYPE', 1, true) then
    refused[#refused + 1] = words[1]
    refused[#refused + 1] = fault
  end
end
return refused
