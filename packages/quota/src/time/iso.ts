/** An instant as ISO 8601 UTC with milliseconds, `2026-08-06T15:06:26.000Z`. */
export function isoText(instant: number): string {
  return new Date(instant).toISOString()
}
