const WINDOWS = 'windows are part of the policy, { label, lengthMs } each'
const LIMITS = 'limits are part of the policy, as in defaultPolicy({ base })'
const SUBJECT = 'who asks is the subject of a request, or subject(req) of quotaMiddleware()'
const AWAY = 'what happens without a store is failurePolicy of createQuota(), by category'
const NEEDLESS = 'a refusal costs nothing here, so that it needs no blocking'
const OF_POLICY = 'that is part of the policy: give it to defaultPolicy() or write it in `policy`'
const COUNTED = 'requests that end with a status of 400 or above get their tokens back by themselves'

/** What options of other libraries are called here. */
export const NAMES_ELSEWHERE: Readonly<Record<string, string>> = {
  windowMs: WINDOWS,
  timeWindow: WINDOWS,
  duration: WINDOWS,
  interval: WINDOWS,
  per: 'one limit alone is simpleQuota({ limit, per }); windows are part of the policy',
  max: LIMITS,
  limit: LIMITS,
  points: LIMITS,
  limits: LIMITS,
  tokensPerInterval: LIMITS,
  keyGenerator: SUBJECT,
  key: SUBJECT,
  passOnStoreError: AWAY,
  skipOnError: AWAY,
  insuranceLimiter: AWAY,
  skipFailedRequests: COUNTED,
  requestWasSuccessful: COUNTED,
  skipSuccessfulRequests: 'a request that succeeded stays charged; its handler may call req.quota.cancel()',
  legacyHeaders: 'X-RateLimit headers are not sent; standardHeaders of quotaMiddleware() sends RateLimit',
  blockDuration: NEEDLESS,
  inMemoryBlockOnConsumed: NEEDLESS,
  allowList: 'skip(req) of quotaMiddleware() lets requests pass unmetered',
  statusCode: 'handler of quotaMiddleware() answers in its place',
  message: 'messages of quotaMiddleware() are the texts of a 429, by locale',
  keyPrefix: 'the beginning of every key is `prefix` of redisStore()',
  storeClient: 'a client of Redis is `client` of redisStore()',
  redis: 'a client of Redis is `client` of redisStore()',
  sendCommand: 'a client of Redis is `client` of redisStore()',
  windows: OF_POLICY,
  operations: OF_POLICY,
  base: OF_POLICY,
}
