-- The book that grant.lua changed, and its reply.

if tokens > 0 then
  leases[ARGV[4]] = { tokens, now }
  call('SET', KEYS[3], cmsgpack.pack({ processes, leases }), 'PX', keep)
end
return {
  string.format('%.0f', now), table.concat(letters), string.format('%.0f', tokens), string.format('%.0f', leased), raw,
  revision or '',
}
