import type { Backend } from './backend.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'

/** Servers by name. */
export const BACKENDS: Readonly<Record<string, Backend>> = { Redis: redis, PostgreSQL: postgres }
