/**
 * Redis by HTTP, for functions and Workers that have no connection of their own.
 *
 * @module
 */
export { type RedisHttpStore, redisHttpStore } from './http/http-store.ts'
export type { RedisHttpStoreOptions } from './http/options.ts'
