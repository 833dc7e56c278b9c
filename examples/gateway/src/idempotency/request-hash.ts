import { createHash } from 'node:crypto'

/**
 * A hash of a request's content: its path, and its parsed body. Members count by their names, not by
 * their order, and fields that are not read do not count.
 */
export function requestHash(method: string, path: string, input: unknown): string {
  const text = JSON.stringify([method, path, input], (_key, value: unknown) =>
    isObject(value) ? sorted(value) : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
