export { type OutgoingRequest, type PacedFetchOptions, type PacingClock, QuotaWaitError } from './options.ts'
export { pacedFetch } from './paced-fetch.ts'
