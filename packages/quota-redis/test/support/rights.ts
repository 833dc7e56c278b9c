import type { RedisServer } from './redis-server.ts'

/** A Redis user with few rights. */
export const login = { username: 'app', password: 'secret' } as const

/** As the guide lists them, for the prefix `quota` and, with leases, the prefixes that begin with it. */
export const RIGHTS: readonly string[] =
  '~{quota* &{quota}* +@read +@write +eval +evalsha +time +info +publish +subscribe'.split(' ')

/** Gives {@link login} these rights and no others. */
export async function grant(redis: RedisServer, rights: readonly string[]): Promise<void> {
  await redis.cli('ACL', 'SETUSER', login.username, 'reset', 'on', `>${login.password}`, ...rights)
}

/** The warnings of a logger, as they are. */
export function warnings(): {
  readonly logger: { warn(message: unknown): void; error(): void }
  readonly seen: unknown[]
} {
  const seen: unknown[] = []
  return { logger: { warn: (message) => void seen.push(message), error: () => undefined }, seen }
}
