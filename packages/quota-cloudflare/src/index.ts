/**
 * Counters and settings of `@scoregw/quota` in Cloudflare Durable Objects.
 *
 * @module
 */
export type { QuotaNamespace } from './calls.ts'
export { QuotaDurableObject } from './object.ts'
export { type DurableObjectSettings, type DurableObjectSettingsOptions, durableObjectSettings } from './settings.ts'
export { type DurableObjectStoreOptions, durableObjectStore } from './store.ts'
