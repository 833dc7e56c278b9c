/** `source_rate_limited` and `upsertMusic` as names of schemas: `SourceRateLimited`, `UpsertMusic`. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}
