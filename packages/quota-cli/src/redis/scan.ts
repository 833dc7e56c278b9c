import type { Redis } from 'ioredis'

/** How many keys a server visits in one SCAN. */
const STEP = 1_000

/** Keys that match a pattern on some servers, each once, at most `most`. */
export async function scanKeys(
  servers: readonly Redis[],
  pattern: string,
  most: number,
  signal: AbortSignal,
): Promise<Set<string>> {
  const keys = new Set<string>()
  for (const server of servers) {
    let cursor = '0'
    do {
      const [next, found] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', STEP)
      cursor = next
      for (const key of found) if (keys.size < most) keys.add(key)
    } while (cursor !== '0' && keys.size < most && !signal.aborted)
  }
  return keys
}

/** A pattern that matches only this text. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
