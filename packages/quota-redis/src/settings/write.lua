-- Writes or removes one document if its revision matches, and notifies watchers.
-- KEYS[1] the document  KEYS[2] the last change, also the channel's name
-- ARGV[1] '1' to compare the revision first  ARGV[2] the expected revision; '' if nothing is stored
-- ARGV[3] the new revision  ARGV[4] the document as JSON, or '' to remove it
-- ARGV[5] the change as JSON
-- Reply: { 1 if written, the stored version, its revision, why nothing was published }; 0 and '' if nothing is stored.
--
-- The key contains revision, version and document, separated by spaces. A removed document leaves its version, so that the next
-- one continues the count. The last change is stored as the new revision. A message also contains the change before it.

--- @include "../lua/revision"
--- @include "../lua/publish"
local value = redis.call('GET', KEYS[1]) or ''
local stored, version = revision_of(string.sub(value, 1, 22)), tonumber(string.match(value, '^%S+ (%d+) ')) or 0
local removed = string.match(value, '^(%d+)$')
if removed then stored = '' end
if ARGV[1] == '1' and ARGV[2] ~= stored then return { 0, version, stored } end

version = (tonumber(removed) or version) + 1
local next_value = string.format('%.0f', version)
if ARGV[4] ~= '' then next_value = ARGV[3] .. ' ' .. next_value .. ' ' .. ARGV[4] end
-- The first write is a SET, so a server without memory rejects the whole script.
redis.call('SET', KEYS[1], next_value)
local before = redis.call('GET', KEYS[2]) or ''
redis.call('SET', KEYS[2], ARGV[3])
local unheard = publish(KEYS[2], before .. ' ' .. ARGV[3] .. ' ' .. ARGV[5])
if ARGV[4] == '' then return { 1, 0, '', unheard } end
return { 1, version, ARGV[3], unheard }
