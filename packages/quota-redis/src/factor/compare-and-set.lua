-- Writes the adaptive factor if the stored version matches and the minute is another one, and notifies watchers.
-- KEYS[1] the factor: a hash of version, minute and state  KEYS[2] the last change, also the channel's name
-- ARGV[1] the expected version; 0 if nothing is stored
-- ARGV[2] the minute of the tick
-- ARGV[3] the state as JSON
-- ARGV[4] the change's revision  ARGV[5] the change as JSON
-- Reply: { 1 if written, why nothing was published }

--- @include "../lua/publish"

local stored = redis.call('HMGET', KEYS[1], 'version', 'minute')
local version = tonumber(stored[1] or 0)
if version ~= tonumber(ARGV[1]) then return { 0 } end
if stored[2] and tonumber(stored[2]) == tonumber(ARGV[2]) then return { 0 } end

-- A server without memory rejects this first write, and with it the whole script.
redis.call('HSET', KEYS[1], 'version', string.format('%d', version + 1), 'minute', ARGV[2], 'state', ARGV[3])
local before = redis.call('GET', KEYS[2]) or ''
redis.call('SET', KEYS[2], ARGV[4])
return { 1, publish(KEYS[2], before .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]) }
