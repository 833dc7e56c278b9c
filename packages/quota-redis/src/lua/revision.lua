-- The revision with which a key begins, as text: where there are other bytes than a revision has, they go in hexadecimal.
-- It is what src/settings/stored-text.ts makes of the same bytes.
local function revision_of(value)
  return (string.gsub(value, '[^0-9A-Za-z_-]', function(byte) return string.format('%%%02x', string.byte(byte)) end))
end
