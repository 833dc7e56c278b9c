-- The revision at the beginning of a key, as text. Bytes that aren't a revision become hexadecimal. It must equal the result
-- of src/settings/keyed-settings.ts.
local function revision_of(value)
  return (string.gsub(value, '[^0-9A-Za-z_-]', function(byte) return string.format('%%%02x', string.byte(byte)) end))
end
