import { QuotaError } from '@scoregw/quota'
import { keyName } from '@scoregw/quota/internal'
import type { StoreSchema } from '@scoregw/quota/store'

/**
 * Checks that counters can be sharded by the keys of a layer.
 *
 * @throws {QuotaError} `store_unsupported`
 */
export function checkShards({ layers }: StoreSchema, shardBy: string): void {
  const own = new Set(layers.filter(({ shared }) => !shared).map(keyName))
  const found = layers.find(({ shared }) => shared)
  const shared = found && keyName(found)
  if (!own.has(shardBy)) throw refused(shardBy, `expected a layer of subjects: ${[...own].join(', ')}`)
  if (shared === undefined) return
  const why = `layer "${shared}" is shared, but no object has all of its counters`
  throw refused(shardBy, `${why}. Leave shardBy out, or define the policy without "${shared}"`)
}

function refused(shardBy: string, why: string): QuotaError {
  return new QuotaError('store_unsupported', `durableObjectStore(): shardBy "${shardBy}": ${why}`)
}
