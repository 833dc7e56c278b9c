/** The test files of the specification. They run without extras; in CI and in the deep profile also with all of them. */
export const SPECIFICATION: readonly string[] = [
  ...['adaptive', 'audit', 'charts', 'credentials', 'http', 'idempotency', 'metrics', 'players'],
  ...['quota', 'scores', 'settings-patch', 'sources', 'sync', 'tickets', 'usage'],
]
