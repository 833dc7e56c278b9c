/**
 * Redis by HTTP, for functions and Workers that have no connection of their own.
 *
 * @module
 */

export type { RedisRestStoreOptions } from './rest/options.ts'
export { type RedisRestStore, redisRestStore } from './rest/rest-store.ts'
