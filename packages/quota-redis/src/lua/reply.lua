return { string.format('%.0f', now), table.concat(letters), stored, raw, revision or '' }
