import type * as z from 'zod'
import { faultyDocument } from '../errors/quota-error.ts'
import { toFaults } from './schema.ts'

/**
 * Options under a schema, with defaults filled in.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function parseOptions<T>(what: string, schema: z.ZodType<T>, options: unknown): T {
  const result = schema.safeParse(options)
  if (result.success) return result.data
  throw faultyDocument('invalid_options', `options of ${what}`, toFaults(result.error))
}
