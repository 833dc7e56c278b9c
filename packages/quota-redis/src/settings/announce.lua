-- Announces the revision of settings that are stored elsewhere, and notifies watchers.
-- KEYS[1] the revision announced  KEYS[2] the last change, also the channel's name
-- ARGV[1] '1' to compare the revision first  ARGV[2] the expected revision; '' for none
-- ARGV[3] the revision now in force  ARGV[4] the change's own revision  ARGV[5] the change as JSON
-- Reply: why nothing was published, if so.

--- @include "../lua/revision"
--- @include "../lua/publish"
if ARGV[1] == '1' and revision_of(redis.call('GETRANGE', KEYS[1], 0, 21)) ~= ARGV[2] then return end
redis.call('SET', KEYS[1], ARGV[3])
local before = redis.call('GET', KEYS[2]) or ''
redis.call('SET', KEYS[2], ARGV[4])
return publish(KEYS[2], before .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
