import { type Fault, QuotaError } from '@scoregw/quota'
import * as z from 'zod'
import type { RedisClient } from './client-types.ts'

/** A client of one server or of a cluster. Duck-typed, as a program may hold two copies of ioredis. */
export const clientOption: z.ZodType<RedisClient> = z.custom<RedisClient>(
  (value) =>
    typeof value === 'object' && value !== null && typeof (value as Partial<RedisClient>).duplicate === 'function',
  { error: 'expected an ioredis client: new Redis(...) or new Cluster(...)' },
)

/** Braces would end the hash tag that keeps a prefix's keys in one slot. */
export const prefixOption: z.ZodType<string> = z
  .string()
  .regex(/^[^{}\p{C}]{1,64}$/u, 'expected 1 to 64 characters without braces or control characters')

/**
 * Options under a schema, with defaults filled in.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function parseOptions<T>(what: string, schema: z.ZodType<T>, options: unknown): T {
  const result = schema.safeParse(options)
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, message }): Fault => ({ path: path.join('.'), message }))
  const lines = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new QuotaError('invalid_options', `options of ${what} refused: ${lines.join('; ')}`, { faults })
}
