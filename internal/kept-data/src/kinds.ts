import { memoryPlace } from './places/memory.ts'
import type { Place } from './places/place.ts'
import { postgresPlace } from './places/postgres.ts'
import { redisPlace } from './places/redis.ts'
import { sqlitePlace } from './places/sqlite.ts'

/** Every kind of store, with a function that creates an empty place for it. */
export const KINDS = {
  memory: memoryPlace,
  redis: () => redisPlace('redis'),
  leases: () => redisPlace('leases'),
  postgres: postgresPlace,
  sqlite: sqlitePlace,
} satisfies Record<string, () => Promise<Place>>

export type Kind = keyof typeof KINDS
