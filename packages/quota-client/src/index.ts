export { type OutgoingRequest, type PacingClock, type QuotaFetchOptions, QuotaWaitError } from './options.ts'
export { quotaFetch } from './quota-fetch.ts'
