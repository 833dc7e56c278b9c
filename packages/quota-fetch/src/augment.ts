/**
 * The type of Hono's `c.get('quota')` for a whole program: `import '@scoregw/quota-fetch/augment'`. Without it, use
 * `metered.of(c)`.
 *
 * @module
 */
import type { RequestQuota } from '@scoregw/quota/http'
import type {} from 'hono'

declare module 'hono' {
  interface ContextVariableMap {
    /** The quota of a metered request. */
    quota: RequestQuota | undefined
  }
}
