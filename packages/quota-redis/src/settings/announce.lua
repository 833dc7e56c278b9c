-- Tells of a change in settings that are kept elsewhere.
-- KEYS[1] the version of the settings  KEYS[2] the counter of changes, also the channel's name
-- ARGV[1] the version now in force  ARGV[2] '1' to write a lower version too  ARGV[3] the change as JSON
-- Reply: nothing.

-- Two announcements may arrive the wrong way round: the higher version is the later one.
local stored = tonumber(redis.call('GET', KEYS[1]) or 0)
local version = tonumber(ARGV[1])
if version > stored or ARGV[2] == '1' then redis.call('SET', KEYS[1], string.format('%d', version)) end
local change = redis.call('INCR', KEYS[2])
redis.call('PUBLISH', KEYS[2], string.format('%d ', change) .. ARGV[3])
